import { describe, expect, it } from 'vitest';
import { shareSlots } from './tokens.ts';

describe('the file slots of a worker', () => {
  it.each([
    [1, { small: 0, large: 0, any: 1 }],
    [2, { small: 1, large: 1, any: 0 }],
    [3, { small: 1, large: 1, any: 1 }],
    [4, { small: 1, large: 1, any: 2 }],
    [16, { small: 4, large: 4, any: 8 }],
  ])('of %i, reserves some for small and some for large loads', (slots, shares) => {
    expect(shareSlots(slots)).toEqual(shares);
  });
});
