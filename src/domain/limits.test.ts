import { describe, expect, it } from 'vitest';
import { largestPortion, nextPortion } from './limits.ts';

describe('the portion of a window that a process reserves', () => {
  const limit = 300;

  it('starts with a portion of one request and doubles it up to a thirtieth of the limit', () => {
    const portions: number[] = [];
    for (let last = 0; portions.length < 7; last = portions.at(-1) ?? 0) {
      portions.push(nextPortion({ limit, last, remaining: limit, waiting: 1 }));
    }
    expect(portions).toEqual([1, 2, 4, 8, 10, 10, 10]);
  });

  it('reserves smaller portions near the limit', () => {
    expect(nextPortion({ limit, last: 10, remaining: 40, waiting: 0 })).toBe(5);
    expect(nextPortion({ limit, last: 10, remaining: 7, waiting: 0 })).toBe(1);
  });

  it('reserves a portion that covers all waiting requests', () => {
    expect(nextPortion({ limit, last: 0, remaining: limit, waiting: 200 })).toBe(200);
  });

  it('reserves one request at a time for a small limit, so that the limit is exact', () => {
    expect([1, 10, 59, 60, 300].map(largestPortion)).toEqual([1, 1, 1, 2, 10]);
  });
});
