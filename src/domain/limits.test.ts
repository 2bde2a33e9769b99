import { describe, expect, it } from 'vitest';
import { largestPortion, nextPortion } from './limits.ts';

describe('the portion of a window that a process takes', () => {
  const limit = 300;

  it('begins with one request and doubles up to a thirtieth of the limit', () => {
    const portions: number[] = [];
    for (let last = 0; portions.length < 7; last = portions.at(-1) ?? 0) {
      portions.push(nextPortion({ limit, last, remaining: limit, waiting: 1 }));
    }
    expect(portions).toEqual([1, 2, 4, 8, 10, 10, 10]);
  });

  it('gets small again where little remains', () => {
    expect(nextPortion({ limit, last: 10, remaining: 40, waiting: 0 })).toBe(5);
    expect(nextPortion({ limit, last: 10, remaining: 7, waiting: 0 })).toBe(1);
  });

  it('is as large as what waits for it', () => {
    expect(nextPortion({ limit, last: 0, remaining: limit, waiting: 200 })).toBe(200);
  });

  it('of a small limit is one request, so that the limit is exact', () => {
    expect([1, 10, 59, 60, 300].map(largestPortion)).toEqual([1, 1, 1, 2, 10]);
  });
});
