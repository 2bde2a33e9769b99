import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { endOfPrefix } from './list-filters.ts';

const bytes = (text: string): Buffer => Buffer.from(text, 'utf8');

describe('the end of a prefix', () => {
  it.each([
    ['daily/', 'daily0'],
    ['a\ud7ff', 'a\ue000'],
    ['a\u{10ffff}', 'b'],
    ['a\u{1f600}', 'a\u{1f601}'],
    ['\u{10ffff}\u{10ffff}', null],
  ])('follows every path that starts with %j', (prefix, end) => {
    expect(endOfPrefix(prefix)).toBe(end);
  });

  it('separates the strings with the prefix from all greater strings, in byte order', () => {
    const text = fc.string({ unit: 'binary', maxLength: 4 });
    fc.assert(
      fc.property(text, text, (prefix, other) => {
        const end = endOfPrefix(prefix);
        const isInRange =
          bytes(other).compare(bytes(prefix)) >= 0 && (end === null || bytes(other).compare(bytes(end)) < 0);
        expect(isInRange).toBe(other.startsWith(prefix));
        const longer = prefix + other;
        expect(end === null || bytes(longer).compare(bytes(end)) < 0).toBe(true);
      }),
    );
  });
});
