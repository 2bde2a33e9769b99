import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { pathInRepository } from './tree-copy.ts';

export const resourceSchema = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({
    name: z.string(),
    labels: z.record(z.string(), z.string()).default({}),
    annotations: z.record(z.string(), z.string()).default({}),
  }),
});
export type Resource = z.infer<typeof resourceSchema>;

/** The packages that define the resources of each operator. All other resources belong to Kubernetes. */
const packagesOfOperators: Readonly<Record<string, string>> = {
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator',
  'keda.sh': '@kubernetes-models/keda',
  'external-secrets.io': '@kubernetes-models/external-secrets',
};
const groupOf = ({ apiVersion }: Resource): string =>
  apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';
/** The module that defines the resource in Kubernetes 1.36. */
const moduleOf = (resource: Resource): string =>
  `${packagesOfOperators[groupOf(resource)] ?? 'kubernetes-models'}/${resource.apiVersion}`;

function currentType(resource: Resource): string {
  return `import('${moduleOf(resource)}').I${resource.kind}`;
}

/** The type in Kubernetes 1.30. */
function oldType({ apiVersion, kind }: Resource): string {
  const [version = '', group = 'core'] = apiVersion.split('/').toReversed();
  return `import('kubernetes-types/${group.split('.')[0]}/${version}').${kind}`;
}

/**
 * Returns type errors in resources, such as unknown fields. The types are generated from the schemas of Kubernetes 1.30 and
 * 1.36, so that the chart uses only fields that both have, and from the schemas of the operators.
 */
export function typeErrors(resources: readonly Resource[]): string[] {
  const declare = (group: readonly Resource[], typeOf: (resource: Resource) => string): string =>
    group.map((one, index) => `export const resource${index}: ${typeOf(one)} = ${JSON.stringify(one)};`).join('\n');
  const folder = mkdtempSync(join(tmpdir(), 'inlet-types-'));
  try {
    symlinkSync(pathInRepository('node_modules'), join(folder, 'node_modules'));
    const native = resources.filter((one) => !(groupOf(one) in packagesOfOperators));
    writeFileSync(join(folder, 'old.cts'), declare(native, oldType));
    writeFileSync(join(folder, 'current.mts'), declare(resources, currentType));
    const files = ['old.cts', 'current.mts'];
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--types', '', ...files];
    const { stdout } = spawnSync(pathInRepository('node_modules/.bin/tsc'), options, { cwd: folder, encoding: 'utf8' });
    return stdout.split('\n').filter((line) => line.includes('error'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

type Model = new (resource: Resource) => { validate(): void };
const isModel = (value: unknown): value is Model => typeof value === 'function';

/** Returns violations of the schemas that types cannot express, such as patterns and missing fields. */
export async function schemaErrors(resources: readonly Resource[]): Promise<string[]> {
  const errors: string[] = [];
  for (const resource of resources) {
    const models: unknown = await import(moduleOf(resource));
    const Model = z.record(z.string(), z.unknown()).parse(models)[resource.kind];
    if (!isModel(Model)) throw new Error(`${moduleOf(resource)} has no ${resource.kind}`);
    try {
      new Model(resource).validate();
    } catch (error) {
      errors.push(`${resource.kind} ${resource.metadata.name}: ${error instanceof Error ? error.message : ''}`);
    }
  }
  return errors;
}
