import { describe, expect, it } from 'vitest';
import { isPage, slugOf, toSitePage } from './site-pages.ts';

const files = new Set([
  'docs/errors.md',
  'docs/decisions/README.md',
  'src/domain',
  'README.md',
  'packages/sdk/README.md',
]);
const made = (text: string): ReturnType<typeof toSitePage> =>
  toSitePage('docs/partners/limits.md', `# The \`limits\`\n\n${text}\n`, (path) => files.has(path));

describe('a page of the site', () => {
  it.each([
    ['docs/errors.md', 'errors'],
    ['docs/README.md', ''],
    ['docs/decisions/README.md', 'decisions'],
    ['packages/sdk/README.md', 'sdk'],
    ['src/domain/limits.ts', null],
  ])('has an address: %s', (path, slug) => {
    expect(slugOf(path)).toBe(slug);
  });

  it('is not made from the README, which leads to the same place as the index', () => {
    expect(isPage('README.md')).toBe(false);
    expect(slugOf('README.md')).toBe('');
  });

  it('has its title in front, once', () => {
    expect(made('Text.')).toEqual({
      file: 'partners/limits.md',
      text: '---\ntitle: "The limits"\n---\n\nText.\n',
      faults: [],
    });
  });

  it.each([
    ['[Errors](../errors.md)', '[Errors](/errors/)'],
    ['[`no_files`](../errors.md#no_files), with `x`', '[`no_files`](/errors/#no_files), with `x`'],
    ['[Why](../decisions/README.md)', '[Why](/decisions/)'],
    ['[SDK](../../packages/sdk/README.md)', '[SDK](/sdk/)'],
    ['[Home](../../README.md)', '[Home](/)'],
    ['[the rules](../../src/domain)', 'the rules'],
    ['[here](#below) and [there](https://example.com)', '[here](#below) and [there](https://example.com)'],
    ['`[not](../a-link.md)`', '`[not](../a-link.md)`'],
    ['```sh\n[not](../a-link.md)\n```', '```sh\n[not](../a-link.md)\n```'],
  ])('has links that lead to where they should: %s', (written, shown) => {
    const { text, faults } = made(written);
    expect(text).toContain(`---\n\n${shown}\n`);
    expect(faults).toEqual([]);
  });

  it('tells of a link to nothing, and of a missing title', () => {
    expect(made('[x](../gone.md)').faults).toEqual(['docs/partners/limits.md links to ../gone.md, which is not there']);
    expect(toSitePage('docs/a.md', 'Text.\n', () => true).faults).toEqual(['docs/a.md does not begin with a title']);
  });
});
