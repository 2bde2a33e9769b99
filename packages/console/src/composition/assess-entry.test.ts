import { describe, expect, it } from 'vitest';
import { assess, isComparable } from './assess-entry.ts';

const entry = (index: number | null, low: number, high: number, small = false) => ({
  index,
  index_range: { low, high },
  small,
});

describe('a report', () => {
  it('by event can be compared only with another audience, because known devices have no events', () => {
    expect(isComparable({ split: 'event', baseline: null })).toBe(false);
    expect(isComparable({ split: 'event', baseline: {} })).toBe(false);
    expect(isComparable({ split: 'event', baseline: { default_warehouse_segment_id: 7 } })).toBe(true);
  });

  it('without a split or by another field can be compared with any baseline', () => {
    expect(isComparable({ split: null, baseline: null })).toBe(true);
    expect(isComparable({ split: 'country', baseline: null })).toBe(true);
  });
});

describe('the assessment of an index', () => {
  it('is a difference only if the whole range is outside the typical band', () => {
    expect(assess(entry(1.8, 1.21, 2.1))).toBe('over');
    expect(assess(entry(1.8, 1.2, 2.1))).toBe('unclear');
    expect(assess(entry(0.5, 0.4, 0.79))).toBe('under');
    expect(assess(entry(0.5, 0.4, 0.8))).toBe('unclear');
  });

  it('is typical only if the whole range is in the band', () => {
    expect(assess(entry(1, 0.8, 1.2))).toBe('typical');
    expect(assess(entry(1, 0.7, 1.1))).toBe('unclear');
  });

  it('is unclear for small groups and for ranges without an upper limit', () => {
    expect(assess(entry(3, 2, 4, true))).toBe('unclear');
    expect(assess({ index: 3, index_range: null, small: false })).toBe('unclear');
  });

  it('is hidden if the index is hidden', () => {
    expect(assess({ index: null, index_range: null, small: true })).toBe('hidden');
  });
});
