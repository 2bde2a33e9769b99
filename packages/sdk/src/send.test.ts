import { describe, expect, it } from 'vitest';
import { defaultRetry, delayAfter, readRetryAfter, rest } from './send.ts';

const most = (): number => 1;
const least = (): number => 0;

describe('delayAfter', () => {
  it('doubles the delay up to the maximum', () => {
    const settings = { ...defaultRetry, attempts: 9 };
    const delays = [1, 2, 3, 4, 5, 6, 7, 8].map((attempt) => delayAfter(attempt, null, settings, most));
    expect(delays).toEqual([250, 500, 1000, 2000, 4000, 8000, 10_000, 10_000]);
  });

  it('returns a random delay between zero and the maximum', () => {
    expect(delayAfter(3, null, defaultRetry, least)).toBe(0);
    expect(delayAfter(3, null, defaultRetry, () => 0.5)).toBe(500);
  });

  it('adds jitter to the delay in Retry-After', () => {
    expect(delayAfter(1, 5000, defaultRetry, least)).toBe(5000);
    expect(delayAfter(1, 5000, defaultRetry, most)).toBe(5250);
  });

  it('returns null after the last attempt and for a long Retry-After', () => {
    expect(delayAfter(4, null, defaultRetry)).not.toBeNull();
    expect(delayAfter(5, null, defaultRetry)).toBeNull();
    expect(delayAfter(1, 60_001, defaultRetry)).toBeNull();
  });
});

describe('Retry-After', () => {
  const now = Date.parse('2026-11-16T06:00:00Z');

  it.each([
    ['5', 5000],
    ['0', 0],
    ['Mon, 16 Nov 2026 06:00:07 GMT', 7000],
    ['Mon, 16 Nov 2026 05:00:00 GMT', 0],
    ['soon', null],

    [null, null],
  ])('parses the Retry-After value %j as %j ms', (header, milliseconds) => {
    expect(readRetryAfter(header, now)).toBe(milliseconds);
  });
});

describe('rest', () => {
  it('returns whether the full time has passed', async () => {
    expect(await rest(1, undefined)).toBe(true);
    expect(await rest(60_000, AbortSignal.abort())).toBe(false);
  });
});
