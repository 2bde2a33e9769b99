import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { followedPages } from '../pages/follow-page.ts';
import { blockFaults } from '../pages/page-blocks.ts';
import { listTrackedFiles, pathInRepository } from './tree-copy.ts';

// Every command on a page is run by a test or marked as not run. docs/decisions/development-stack.md describes the
// marks.

const followed: ReadonlySet<string> = new Set([
  ...Object.values(followedPages).flat(),
  'docs/operators/commands.md', // test/integration/operator-commands-page.test.ts runs every block.
  'packages/sdk/README.md', // test/acceptance/sdk-examples.test.ts runs every block.
]);
const tree = {
  isFollowed: (path: string): boolean => followed.has(path),
  exists: (path: string): boolean => existsSync(pathInRepository(path)),
  read: (path: string): string => readFileSync(pathInRepository(path), 'utf8'),
};
const pages = listTrackedFiles().filter((path) => path.endsWith('.md'));

describe('the commands on a page', () => {
  it('finds all pages', () => {
    expect(pages.length).toBeGreaterThan(45);
    for (const page of followed) expect(pages).toContain(page);
  });

  it.each(pages)('runs every command on %s or marks it as not run', (page) => {
    expect(blockFaults(page, tree.read(page), tree)).toEqual([]);
  });

  const page = (before: string, fence: string, text: string): string =>
    `# T\n\n${before}\n\n${fence}\n${text}\n\`\`\`\n`;
  const planted: [string, string, RegExp][] = [
    ['no mark', page('', '```sh', 'inlet doctor'), /neither run nor marked/],
    ['no reason', page('<!-- not run:  -->', '```sh', 'inlet doctor'), /without a reason/],
    ['a test that does not exist', page('<!-- run by: test/none.test.ts -->', '```sh', 'ls'), /which does not exist/],
    ['a page that no test follows', page('<!-- as in: README.md -->', '```sh', 'npm ci'), /which no test follows/],
    [
      'a line that the other page does not run',
      page('<!-- as in: docs/developers/get-started.md -->', '```sh', 'npm run nothing # really'),
      /does not run in this order: npm run nothing$/,
    ],
    [
      'a different order than on the other page',
      page('<!-- as in: docs/developers/get-started.md -->', '```sh', 'npm run dev\nnpm ci --loglevel=error'),
      /in this order: npm ci --loglevel=error$/,
    ],
    ['commands in a text block', page('', '```text', '$ inlet doctor'), /use the language sh/],
    ['an unknown language', page('', '```zsh', 'ls'), /unknown language: zsh/],
    ['a result on a page that no test follows', page('', '```json result', '{}'), /no test follows this page/],
    ['no mark, in a list', '# T\n\n1. Do\n\n   ```sh\n   ls\n   ```\n', /docs\/planted.md:5: .*neither/],
  ];
  it.each(planted)('reports a command block with %s', (_what, text, fault) => {
    expect(blockFaults('docs/planted.md', text, tree)).toEqual([expect.stringMatching(fault)]);
  });

  it.each([
    page('<!-- not run: takes a day -->', '```sh', 'inlet doctor'),
    page('<!-- run by: test/fault/backup.test.ts -->', '```sh', 'inlet backup /x'),
    page('<!-- as in: docs/developers/get-started.md -->', '```sh', 'npm run dev   # starts all'),
    page('', '```json', '{}'),
  ])('accepts a command block with a valid mark (case %#)', (text) => {
    expect(blockFaults('docs/planted.md', text, tree)).toEqual([]);
  });
});

describe('the pages for developers', () => {
  const howTos = pages.filter((path) => path.startsWith('docs/developers/'));

  it.each(howTos)('the pages for developers mention only existing files: %s', (path) => {
    const named = [
      ...tree.read(path).matchAll(/`((?:src|packages|test|migrations|docs|stack|scripts|site)\/[\w./-]+)`/g),
    ];
    expect(named.map(([, file = '']) => file).filter((file) => !tree.exists(file))).toEqual([]);
  });
});

describe('the pages for operators', () => {
  it('the pages for operators cover every alert', () => {
    const rules = tree.read('deploy/observability/alerts.yml');
    const alerts = Array.from(rules.matchAll(/- alert: (\w+)/g), ([, name = '']) => name);
    const incidents = tree.read('docs/operators/incidents.md');
    expect(alerts.length).toBeGreaterThan(10);
    expect(alerts.filter((name) => !incidents.includes(`\`${name}\``))).toEqual([]);
  });
});
