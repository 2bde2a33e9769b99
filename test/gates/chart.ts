import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { pathInRepository } from './tree-copy.ts';

const helm = pathInRepository('node_modules/.bin/helm-v3.5.4-linux-amd64');
const chart = pathInRepository('deploy/helm/inlet');

const resourceSchema = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), annotations: z.record(z.string(), z.string()).default({}) }),
});
export type Resource = z.infer<typeof resourceSchema>;

/** Runs a function with a temporary folder. */
function inFolder<T>(run: (folder: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), 'inlet-chart-'));
  try {
    return run(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Runs helm on the chart with these values. */
export function runHelm(
  command: readonly string[],
  values: object = {},
): { passed: boolean; out: string; stderr: string } {
  return inFolder((folder) => {
    const file = join(folder, 'values.json');
    writeFileSync(file, JSON.stringify(values));
    // Uses a separate home directory, so that Helm does not read the developer's configuration.
    const env = { PATH: '/usr/bin:/bin', HOME: folder };
    const { status, stdout, stderr } = spawnSync(helm, [...command, chart, '--values', file], {
      env,
      encoding: 'utf8',
    });
    return { passed: status === 0, out: stdout, stderr };
  });
}

export function renderChart(values: object = {}): Resource[] {
  const { passed, out, stderr } = runHelm(['template', 'inlet', '--namespace', 'inlet'], values);
  if (!passed) throw new Error(stderr);
  return parseAllDocuments(out, { version: '1.1', merge: false })
    .map((document) => {
      if (document.errors.length > 0) throw new Error(`invalid YAML: ${document.errors.join('; ')}`);
      const resource: unknown = document.toJS();
      return resource;
    })
    .filter((resource) => resource !== null)
    .map((resource) => resourceSchema.parse(resource));
}

/** Returns type errors in resources, such as unknown fields. The types are generated from the Kubernetes schemas. */
export function typeErrors(resources: readonly Resource[]): string[] {
  const lines = resources.map((resource, index) => {
    const [version = '', group = 'core'] = resource.apiVersion.split('/').toReversed();
    const type = `import('kubernetes-types/${group.split('.')[0]}/${version}').${resource.kind}`;
    return `export const resource${index}: ${type} = ${JSON.stringify(resource)};`;
  });
  return inFolder((folder) => {
    symlinkSync(pathInRepository('node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'resources.cts'), lines.join('\n'));
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--types', '', 'resources.cts'];
    const { stdout } = spawnSync(pathInRepository('node_modules/.bin/tsc'), options, { cwd: folder, encoding: 'utf8' });
    return stdout.split('\n').filter((line) => line.includes('error'));
  });
}

/** Returns whether promtool can parse an expression. */
export function isPromql(expression: string): boolean {
  return inFolder((folder) => {
    const file = join(folder, 'rules.json');
    writeFileSync(file, JSON.stringify({ groups: [{ name: 'chart', rules: [{ record: 'a:b', expr: expression }] }] }));
    try {
      execFileSync('/usr/bin/promtool', ['check', 'rules', file], { stdio: 'pipe' });
      return true;
    } catch (error) {
      if (error instanceof Error && 'status' in error && error.status === 1) return false;
      throw error;
    }
  });
}
