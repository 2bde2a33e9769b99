import { describe, expect, it } from 'vitest';
import { Rate } from './rate.ts';

describe('a rate', () => {
  it('is that of the last ten seconds', () => {
    let now = 0;
    const rate = new Rate(() => now);
    const at = (seconds: number, amount: number): number | null => {
      now = seconds * 1000;
      rate.note(amount);
      return rate.perSecond;
    };
    expect(at(0, 0)).toBeNull();
    expect(at(1, 100)).toBe(100);
    expect(at(2, 100)).toBe(50);
    // The first second is out of sight; the last look before the ten seconds is kept.
    expect(at(14, 1300)).toBe(100);
    expect(at(15, 1300)).toBe((1200 / 13_000) * 1000);
  });

  it('falls while nothing comes', () => {
    let now = 0;
    const rate = new Rate(() => now);
    rate.note(0);
    now = 1000;
    rate.note(100);
    now = 5000;
    expect(rate.perSecond).toBe(20);
  });
});
