import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { copyTree, pathInRepository, type TreeCopy } from './tree-copy.ts';

// Runs `npm run check:generated` in a copy of the repository.

const textOf = (path: string): string => readFileSync(pathInRepository(path), 'utf8');

describe('the check for stale generated files', () => {
  let copy: TreeCopy;

  beforeAll(() => {
    copy = copyTree();
  });
  afterAll(() => copy.drop());

  it('names every stale file', async () => {
    const stale = [
      'docs/configuration.md',
      'docs/packages.md',
      'packages/contract/openapi.json',
      'packages/sdk/src/generated/operations.ts',
    ];
    for (const path of stale) copy.write(path, textOf(path).replace('a', 'b'));
    // Changes the source of docs/errors.md without regenerating the page.
    const source = 'src/domain/failure-catalog.ts';
    copy.write(source, textOf(source).replace("title: 'Not found'", "title: 'Changed'"));
    const { passed, output } = await copy.run('check:generated');
    for (const path of [source, ...stale]) copy.write(path, textOf(path));
    expect(passed).toBe(false);
    for (const path of ['docs/errors.md', ...stale]) expect(output).toContain(`${path} is stale`);
  });

  it('fails if a dependency has no documented reason', async () => {
    const path = 'docs/dependencies.md';
    copy.write(path, textOf(path).replace(/^\| `fastify` .*\n/m, ''));
    const { passed, output } = await copy.run('check:generated');
    copy.write(path, textOf(path));
    expect(passed).toBe(false);
    expect(output).toContain('fastify');
  });
});
