import { describe, expect, it } from 'vitest';
import { homePage, isPage, slugOf, toSitePage } from './site-pages.ts';

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
  ])('maps %s to its address on the site', (path, slug) => {
    expect(slugOf(path)).toBe(slug);
  });

  it('omits the README and points links to it at the home page', () => {
    expect(isPage('README.md')).toBe(false);
    expect(slugOf('README.md')).toBe('');
  });

  it('moves the title into the front matter', () => {
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
  ])('rewrites the link %s for the site', (written, shown) => {
    const { text, faults } = made(written);
    expect(text).toContain(`---\n\n${shown}\n`);
    expect(faults).toEqual([]);
  });

  it('reports a link to a missing file and a missing title', () => {
    expect(made('[x](../gone.md)').faults).toEqual([
      'docs/partners/limits.md links to ../gone.md, which does not exist',
    ]);
    expect(toSitePage('docs/a.md', 'Text.\n', () => true).faults).toEqual(['docs/a.md does not start with a title']);
  });

  it('ranks decision records below other pages in search', () => {
    const { text } = toSitePage('docs/decisions/a.md', '# A\n\nWhy.\n', () => true);
    expect(text).toBe('---\ntitle: "A"\n---\n\n<div data-pagefind-weight="0.2">\n\nWhy.\n\n</div>\n');
    expect(made('Text.').text).not.toContain('pagefind');
  });
});

describe('the home page', () => {
  it('shows the cards, then the list of pages without its introduction', () => {
    const page = homePage('---\ntitle: Inlet\n---\n\nCards.\n', '# Docs\n\nIntroduction.\n\n## Partners\n\nLinks.\n');
    expect(page).toBe('---\ntitle: Inlet\n---\n\nCards.\n\n## Partners\n\nLinks.\n');
  });
});
