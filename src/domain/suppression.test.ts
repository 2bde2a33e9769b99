import { describe, expect, it } from 'vitest';
import {
  entryTextOf,
  isCheckOutdated,
  layoutOfFirstLine,
  readSuppressionEntry,
  shownSuppressed,
} from './suppression.ts';

describe('an entry of a suppression file', () => {
  it.each([
    ['a3f1c2d4-5678-90ab-cdef-1234567890ab'],
    ['A3F1C2D4-5678-90AB-CDEF-1234567890AB'],
    [' a3f1c2d4567890abcdef1234567890ab '],
    ['{A3F1C2D4-5678-90ab-cdef-1234567890ab}'],
  ])('reads the ID %s in lower case, without other characters', (text) => {
    expect(readSuppressionEntry(text)).toEqual({ is: 'device', digits: 'a3f1c2d4567890abcdef1234567890ab' });
  });

  it('reads a hash in Base64 as it is', () => {
    const hash = '250KY6lOgzYUB3EHrkbDCE2kMEZQE69SF38muhoDudI=';
    expect(readSuppressionEntry(hash)).toEqual({ is: 'hash', hash });
  });

  it.each([
    [''],
    ['a3f1c2d4-5678-90ab-cdef-1234567890a'],
    ['a3f1c2d4-5678-90ab-cdef-1234567890abc'],
    ['250KY6lOgzYUB3EHrkbDCE2kMEZQE69SF38muhoDudJ='],
    ['not an ID'],
  ])('rejects %j', (text) => {
    expect(readSuppressionEntry(text)).toBeNull();
  });
});

describe('a suppression file', () => {
  it('recognizes the header of a DROP list', () => {
    expect(['ID,Hash', 'id,hash', '\uFEFFID,Hash\r', 'ID,Hash,ListType'].map(layoutOfFirstLine)).toEqual(
      Array.from({ length: 4 }, () => 'drop'),
    );
    expect(layoutOfFirstLine('a3f1c2d4-5678-90ab-cdef-1234567890ab')).toBe('plain');
  });

  it('takes the hash of each line and skips items of other lists', () => {
    expect(entryTextOf('aZ09,HASH\r', 'drop')).toBe('HASH');
    expect(entryTextOf('aZ09,HASH,MAID', 'drop')).toBe('HASH');
    expect(entryTextOf('aZ09,HASH,Email', 'drop')).toBeNull();
    expect(entryTextOf('', 'drop')).toBeNull();
    expect(entryTextOf('an-id', 'plain')).toBe('an-id');
    expect(entryTextOf(' \r', 'plain')).toBeNull();
  });
});

describe('the number of suppressed devices', () => {
  it('is rounded down to thousands for partners', () => {
    expect([0, 1, 999, 1_000, 1_999, 2_000].map(shownSuppressed)).toEqual([0, 0, 0, 1_000, 1_000, 2_000]);
  });
});

describe('rows that were checked against a list', () => {
  it('are outdated after the list has changed, even if the list is empty again', () => {
    expect(isCheckOutdated(0, { version: 0, hashes: 0 })).toBe(false);
    expect(isCheckOutdated(3, { version: 4, hashes: 0 })).toBe(true);
    expect(isCheckOutdated(3, { version: 3, hashes: 7 })).toBe(false);
  });
});
