import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { installHelm } from './helm.ts';
import { type Resource, resourceSchema } from './resource-schemas.ts';
import { pathInRepository } from './tree-copy.ts';

const chart = pathInRepository('deploy/helm/inlet');

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
    const { status, stdout, stderr } = spawnSync(installHelm(), [...command, chart, '--values', file], {
      env,
      encoding: 'utf8',
    });
    return { passed: status === 0, out: stdout, stderr };
  });
}

export function renderChart(values: object = {}): Resource[] {
  const { passed, out, stderr } = runHelm(['template', 'inlet', '--namespace', 'inlet'], values);
  if (!passed) throw new Error(stderr);
  return parseResources(out);
}

export function parseResources(yaml: string): Resource[] {
  return parseAllDocuments(yaml, { version: '1.1', merge: false })
    .map((document) => {
      if (document.errors.length > 0) throw new Error(`invalid YAML: ${document.errors.join('; ')}`);
      const resource: unknown = document.toJS();
      return resource;
    })
    .filter((resource) => resource !== null)
    .map((resource) => resourceSchema.parse(resource));
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
