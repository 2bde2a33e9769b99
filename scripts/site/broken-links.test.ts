import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { findBrokenLinks } from './broken-links.ts';

it('finds links to pages, headings, and files that the built site lacks', () => {
  const folder = mkdtempSync(join(tmpdir(), 'inlet-site-'));
  const files = {
    'index.html': `<a href="/a/">1</a><a href="/a/#there">2</a><img src="/x.svg"><a href="https://example.com/none">3</a>
      <a href="/none/">4</a><a href="/a/#nowhere">5</a><a href="a.md">6</a><img src="/none.svg"><a href="#_top">7</a>`,
    'a/index.html': '<h2 id="there">A</h2><a href="../">up</a>',
    'x.svg': '<svg/>',
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const { links, broken } = findBrokenLinks(folder);
  rmSync(folder, { recursive: true });
  expect(links).toBe(9);
  expect(broken.toSorted()).toEqual(
    ['/a/#nowhere', '/none.svg', '/none/', 'a.md'].map((target) => `/index.html has a broken link: ${target}`),
  );
});
