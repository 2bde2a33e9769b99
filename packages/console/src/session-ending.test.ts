import { describe, expect, it } from 'vitest';
import { msUntilWarning } from './session-ending.ts';

describe('the warning before a session ends', () => {
  it('comes two minutes before the end', () => {
    expect(msUntilWarning({ at: 1_800_000, notedAt: 0 }, 60_000)).toBe(1_620_000);
  });

  it('comes immediately if less than two minutes are left', () => {
    expect(msUntilWarning({ at: 1_800_000, notedAt: 0 }, 1_790_000)).toBe(0);
  });

  it('comes after half of a short session', () => {
    expect(msUntilWarning({ at: 60_000, notedAt: 0 }, 0)).toBe(30_000);
  });
});
