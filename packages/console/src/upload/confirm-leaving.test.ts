import { describe, expect, it } from 'vitest';
import { opensInPlace } from './confirm-leaving.ts';

describe('a click that leaves the page', () => {
  const origin = 'https://inlet.example';
  const here = { origin, href: `${origin}/console/imports/new` };
  const click = { button: 0, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false };
  const link = { target: '', download: '', origin, href: `${origin}/console/imports` };

  it.each([
    ['another page of the console', {}, {}, true],
    ['another view of the page', {}, { href: `${here.href}?from=path` }, true],
    ['another section of the page', {}, { href: `${here.href}#content` }, false],
    ['a new tab', { ctrlKey: true }, {}, false],
    ['a new window', {}, { target: '_blank' }, false],
    ['a new document', {}, { target: '_top' }, false],
    ['a download', {}, { download: 'file.csv' }, false],
    ['another site', {}, { origin: 'https://elsewhere.example' }, false],
  ] as const)('%s', (_name, clicked, linked, expected) => {
    expect(opensInPlace({ ...click, ...clicked }, { ...link, ...linked }, here)).toBe(expected);
  });
});
