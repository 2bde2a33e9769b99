import { describe, expect, it } from 'vitest';
import { rateMeter } from './rate.ts';

describe('a rate', () => {
  it('is that of the last ten seconds', () => {
    let now = 0;
    const rate = rateMeter(() => now);
    const at = (seconds: number, amount: number): number | null => {
      now = seconds * 1000;
      return rate(amount);
    };
    expect(at(0, 0)).toBeNull();
    expect(at(1, 100)).toBe(100);
    expect(at(2, 100)).toBe(50);
    // The first second is out of sight; the last look before the ten seconds is kept.
    expect(at(14, 1300)).toBe(100);
    expect(at(15, 1300)).toBe(1200 / 13);
  });

  it('is not known while nothing has come', () => {
    let now = 0;
    const rate = rateMeter(() => (now += 1000));
    expect([rate(0), rate(0)]).toEqual([null, null]);
  });
});
