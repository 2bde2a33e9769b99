import { describe, expect, it } from 'vitest';
import { toSeconds } from './duration.ts';

describe('toSeconds', () => {
  it.each([
    ['45s', 45],
    ['30m', 1_800],
    ['12h', 43_200],
    ['90d', 7_776_000],
    ['3650d', 315_360_000],
  ])('converts %s to %i seconds', (text, seconds) => {
    expect(toSeconds(text)).toBe(seconds);
  });

  it.each(['', '0s', '0d', '90', 'd', '-1d', '1.5h', '1w', '1 d', '1D', '3651d', '999999999d', '1e3s', 'toString'])(
    'rejects %j',
    (text) => {
      expect(() => toSeconds(text)).toThrow(/^invalid_request: /);
    },
  );
});
