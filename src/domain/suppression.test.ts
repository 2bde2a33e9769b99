import { describe, expect, it } from 'vitest';
import {
  entryTextOf,
  isCheckOutdated,
  layoutOfFirstLine,
  readSuppressionEntry,
  shownSuppressed,
  suppressionSample,
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

  it('reads a Base64 hash unchanged', () => {
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

  it('takes the hash from each line and skips items of other lists', () => {
    expect(entryTextOf('aZ09,HASH\r', 'drop')).toBe('HASH');
    expect(entryTextOf('aZ09,HASH,MAID', 'drop')).toBe('HASH');
    expect(entryTextOf('aZ09,HASH,Email', 'drop')).toBeNull();
    expect(entryTextOf('', 'drop')).toBeNull();
    expect(entryTextOf('an-id', 'plain')).toBe('an-id');
    expect(entryTextOf(' \r', 'plain')).toBeNull();
  });
});

describe('the number of suppressed rows that a partner sees', () => {
  const { ofListed, ofOthers, of } = suppressionSample;

  it('is estimated from the sample and rounded down to thousands', () => {
    const sampleOf = (listed: number, others: number): number => (listed * ofListed + others * ofOthers) / of;
    expect(shownSuppressed({ sampled: sampleOf(25_600, 1_024_000) + 1, accepted: 1_049_600 })).toBe(25_000);
    expect(shownSuppressed({ sampled: sampleOf(0, 256_000), accepted: 256_000 })).toBe(0);
  });

  it('is between 0 and the number of accepted rows', () => {
    expect(shownSuppressed({ sampled: 0, accepted: 1_000_000 })).toBe(0);
    expect(shownSuppressed({ sampled: 5_000, accepted: 5_000 })).toBe(5_000);
  });

  it('reveals little about one device, even if its row is repeated', () => {
    // The best guess is right if the device is listed and in the sample, or if it is neither.
    const success = 1 / 2 + (ofListed - ofOthers) / (2 * of);
    expect(success).toBeLessThanOrEqual(0.55);
  });
});

describe('rows that were checked against a list', () => {
  it('are outdated after the list has changed, even if the list is empty again', () => {
    expect(isCheckOutdated(0, { version: 0, hashes: 0 })).toBe(false);
    expect(isCheckOutdated(3, { version: 4, hashes: 0 })).toBe(true);
    expect(isCheckOutdated(3, { version: 3, hashes: 7 })).toBe(false);
  });
});
