import { describe, expect, it } from 'vitest';
import { shareScale, widthBetween } from './share-scale.ts';

const rounded = (ticks: readonly number[]): readonly number[] => ticks.map((tick) => Number(tick.toFixed(6)));

describe('the scale of shares', () => {
  it('starts at 0 and ends at the first tick above the largest share', () => {
    expect(rounded(shareScale([0.31, 0.02, null, undefined]).ticks)).toEqual([0, 0.1, 0.2, 0.3, 0.4]);
    expect(rounded(shareScale([0.0042]).ticks)).toEqual([0, 0.001, 0.002, 0.003, 0.004, 0.005]);
    expect(rounded(shareScale([0.4]).ticks)).toEqual([0, 0.1, 0.2, 0.3, 0.4]);
  });

  it('ends at 100%', () => {
    expect(rounded(shareScale([1]).ticks).at(-1)).toBe(1);
    expect(rounded(shareScale([0.97]).ticks).at(-1)).toBe(1);
  });

  it('has a scale for a report without shares', () => {
    expect(shareScale([]).position(0)).toBe('0.00%');
  });

  it('clips shares beyond its ends', () => {
    const scale = shareScale([0.4]);
    expect(scale.position(0.1)).toBe('25.00%');
    expect(scale.position(0.9)).toBe('100.00%');
    expect(widthBetween(scale, 0.1, 0.9)).toBe('75.00%');
  });
});
