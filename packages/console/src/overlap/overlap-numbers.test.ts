import type { Overlap } from '@inlet/sdk/browser';
import { describe, expect, it } from 'vitest';
import { costOf, heatOf, letterOf, pairShares, readAudienceIds, sortedIntersections } from './overlap-numbers.ts';

const overlap: Overlap = {
  audiences: [
    { audience_id: 7, devices: 1000 },
    { audience_id: 3, devices: 400 },
    { audience_id: 5, devices: 0 },
  ],
  intersections: [
    { audience_ids: [3, 7], devices: 425, small: false },
    { audience_ids: [5, 7], devices: null, small: true },
    { audience_ids: [3, 5], devices: 75, small: true },
    { audience_ids: [3, 5, 7], devices: null, small: true },
  ],
  reach: 1000,
  protected: true,
  computed_at: '2026-11-18T00:00:00.000Z',
};

describe('the audiences in the address', () => {
  it('are read in order, without duplicates and without text that is not an ID', () => {
    expect(readAudienceIds('3,1,3,x,-1,0,2')).toEqual([3, 1, 2]);
    expect(readAudienceIds(undefined)).toEqual([]);
  });

  it('are at most ten', () => {
    expect(readAudienceIds('1,2,3,4,5,6,7,8,9,10,11')).toHaveLength(10);
    expect(letterOf(9)).toBe('J');
  });
});

describe('the cost of an overlap', () => {
  it('is the number of counts that one device of one audience can change', () => {
    expect([2, 3, 4, 5, 6, 10].map(costOf)).toEqual([2, 4, 8, 16, 6, 10]);
  });
});

describe('pairs of audiences', () => {
  it('have a share for each audience, capped at 1', () => {
    const [first, second, third] = pairShares(overlap);
    expect(first).toEqual([undefined, { share: 0.425, devices: 425, small: false }, null]);
    expect(second?.[0]).toEqual({ share: 1, devices: 425, small: false });
    expect(second?.[2]).toEqual({ share: 0.1875, devices: 75, small: true });
    expect(third).toEqual([null, null, undefined]);
  });

  it('have one of six colors', () => {
    expect([0, 0.019, 0.02, 0.07, 0.1, 0.3, 0.5, 1].map(heatOf)).toEqual([0, 0, 1, 2, 3, 4, 5, 5]);
  });
});

describe('intersections', () => {
  it('are sorted by size, with hidden ones last', () => {
    expect(sortedIntersections(overlap).map(({ audience_ids: ids }) => ids.join(' '))).toEqual([
      '3 7',
      '3 5',
      '5 7',
      '3 5 7',
    ]);
  });
});
