import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { copyTree, pathInTree, type CopyOfTree } from './copy-of-tree.ts';

// A gate that never fails proves nothing: each is shown the clean tree and a mistake, on a copy of the tree.

const gates = ['check:lint', 'check:unused', 'check:generated'] as const;

// Not written out, because another gate looks for the word.
const looseType = ['a', 'n', 'y'].join('');

type Mistake = { readonly what: string; readonly path: string; readonly text: string; readonly complaint: RegExp };

const importing = (from: string): string => `import { thing } from '${from}';\n\nexport const planted = thing;\n`;

/** An import against the direction of the layers, one for each border. */
const againstTheLayers: readonly Mistake[] = [
  {
    what: 'an import from the domain into an adapter',
    path: 'src/domain/planted.ts',
    text: importing('../adapters/s3/object-head.ts'),
    complaint: /domain imports nothing but itself/,
  },
  {
    what: 'an import from the domain into a package',
    path: 'src/domain/planted.ts',
    text: importing('zod'),
    complaint: /domain imports nothing but itself/,
  },
  {
    what: 'an import from the domain into the one part of the row rule that needs Node',
    path: 'src/domain/planted.ts',
    text: importing('@inlet/row-rule/unpack-head'),
    complaint: /domain imports nothing but itself/,
  },
  {
    what: 'an import from the row rule into a package',
    path: 'packages/row-rule/src/planted.ts',
    text: importing('zod'),
    complaint: /the row rule needs nothing but itself/,
  },
  {
    what: 'an import from the row rule into the service',
    path: 'packages/row-rule/src/planted.ts',
    text: importing('../../../src/domain/limits.ts'),
    complaint: /the row rule needs nothing but itself/,
  },
  {
    what: 'an import from a port into a use case',
    path: 'src/ports/planted.ts',
    text: importing('../usecases/run-lane.ts'),
    complaint: /ports import only domain/,
  },
  {
    what: 'an import from a use case into an adapter',
    path: 'src/usecases/planted.ts',
    text: importing('../adapters/postgres/connect.ts'),
    complaint: /usecases import only domain and ports/,
  },
  {
    what: 'an import from an adapter into the wiring',
    path: 'src/adapters/s3/planted.ts',
    text: importing('../../entry/config.ts'),
    complaint: /adapters do not know how they are wired/,
  },
  {
    what: 'an import from one adapter into another',
    path: 'src/adapters/s3/planted.ts',
    text: importing('../postgres/connect.ts'),
    complaint: /one adapter does not know another/,
  },
  {
    what: 'an import from the source into the tests',
    path: 'src/entry/planted.ts',
    text: importing('../../test/support/wait-until.ts'),
    complaint: /src stands alone/,
  },
  {
    what: 'an import from the SDK into a package that partners do not get',
    path: 'packages/sdk/src/planted.ts',
    text: importing('zod'),
    complaint: /the SDK stands alone/,
  },
  {
    what: 'an import from the SDK into the service',
    path: 'packages/sdk/src/planted.ts',
    text: importing('../../../src/domain/limits.ts'),
    complaint: /the SDK stands alone/,
  },
  {
    what: 'an import from the command line of partners into a package that they do not get',
    path: 'packages/cli/src/terminal/planted.ts',
    text: importing('zod'),
    complaint: /built on the SDK, the row rule and commander only/,
  },
  {
    what: 'an import from the command line of partners into the service',
    path: 'packages/cli/src/commands/planted.ts',
    text: importing('../../../../src/domain/limits.ts'),
    complaint: /the command line of partners stands alone/,
  },
  {
    what: 'an import from the command line of partners past the front of the SDK',
    path: 'packages/cli/src/planted.ts',
    text: importing('../../sdk/src/send.ts'),
    complaint: /the command line of partners stands alone/,
  },
];

const otherLint: readonly Mistake[] = [
  {
    what: 'a loose type',
    path: 'src/domain/planted.ts',
    text: `export function planted(value: ${looseType}): string {\n  return String(value);\n}\n`,
    complaint: /no-explicit-any/,
  },
  {
    what: 'a file of more than 300 lines',
    path: 'src/domain/planted.ts',
    text: Array.from({ length: 301 }, (_, n) => `export const planted${n} = ${n};\n`).join(''),
    complaint: /max-lines/,
  },
  {
    what: 'a second reader of the environment',
    path: 'src/usecases/planted.ts',
    text: `export const planted = process.env['HOME'];\n`,
    complaint: /no-process-env/,
  },
  {
    what: 'a promise that nobody waits for',
    path: 'src/usecases/planted.ts',
    text: `export function planted(work: () => Promise<void>): void {\n  work();\n}\n`,
    complaint: /no-floating-promises/,
  },
];

describe('the gates on a copy of the tree', () => {
  let copy: CopyOfTree;
  let planted: string[] = [];

  beforeAll(() => {
    copy = copyTree();
  });
  afterEach(() => {
    for (const path of planted) copy.remove(path);
    planted = [];
  });
  afterAll(() => {
    copy.drop();
  });

  const plant = (path: string, text: string): void => {
    copy.write(path, text);
    planted.push(path);
  };

  it.each(gates)('pass the clean tree: %s', async (gate) => {
    expect(await copy.run(gate)).toMatchObject({ passed: true });
  });

  it.each([...againstTheLayers, ...otherLint])('fail lint for $what', async ({ path, text, complaint }) => {
    plant(path, text);
    const { passed, output } = await copy.run('check:lint');
    expect(passed).toBe(false);
    expect(output).toMatch(complaint);
    expect(output).toContain(path);
  });

  it('fail for an export that nobody uses', async () => {
    const path = 'src/domain/limits.ts';
    const text = readFileSync(pathInTree(path), 'utf8');
    copy.write(path, `${text}\nexport const plantedLimit = 1;\n`);
    const { passed, output } = await copy.run('check:unused');
    copy.write(path, text);
    expect(passed).toBe(false);
    expect(output).toContain('plantedLimit');
  });

  it('fail for a file that nobody uses', async () => {
    plant('src/domain/planted.ts', 'export const planted = 1;\n');
    const { passed, output } = await copy.run('check:unused');
    expect(passed).toBe(false);
    expect(output).toContain('src/domain/planted.ts');
  });

  it.each([
    'docs/errors.md',
    'docs/configuration.md',
    'docs/packages.md',
    'packages/contract/openapi.json',
    'packages/cli/src/generated/remedies.ts',
    'packages/sdk/src/generated/operations.ts',
  ])('fail for a stale %s', async (page) => {
    const text = readFileSync(pathInTree(page), 'utf8');
    copy.write(page, text.replace('a', 'b'));
    const { passed, output } = await copy.run('check:generated');
    copy.write(page, text);
    expect(passed).toBe(false);
    expect(output).toContain(`${page} is stale`);
  });

  it('fail for an operation without a summary', async () => {
    const path = 'src/adapters/http/marketplace-import/queue-import-documentation.ts';
    const text = readFileSync(pathInTree(path), 'utf8');
    copy.write(path, text.replace("summary: 'Queue an import'", "summary: ''"));
    const { passed, output } = await copy.run('check:generated');
    copy.write(path, text);
    expect(passed).toBe(false);
    expect(output).toContain('POST /v1/marketplace/import has no summary');
  });

  it('fail for a page that was not made again after its source changed', async () => {
    const path = 'src/domain/failure-catalogue.ts';
    const text = readFileSync(pathInTree(path), 'utf8');
    copy.write(path, text.replace("title: 'Not found'", "title: 'Nowhere'"));
    const { passed, output } = await copy.run('check:generated');
    copy.write(path, text);
    expect(passed).toBe(false);
    expect(output).toContain('docs/errors.md is stale');
  });

  it.each([
    { what: 'a package without a reason', from: /^\| `fastify` .*\n/m, to: '', complaint: 'no reason for fastify' },
    {
      what: 'a reason without a package',
      from: '| `fastify` ',
      to: '| `slowify`, `fastify` ',
      complaint: 'has slowify',
    },
  ])('fail for $what', async ({ from, to, complaint }) => {
    const path = 'docs/dependencies.md';
    const text = readFileSync(pathInTree(path), 'utf8');
    copy.write(path, text.replace(from, to));
    const { passed, output } = await copy.run('check:generated');
    copy.write(path, text);
    expect(passed).toBe(false);
    expect(output).toContain(complaint);
  });
});
