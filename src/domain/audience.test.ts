import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { audienceStatus, roundMatches } from './audience.ts';

describe('audience status', () => {
  it.each([
    { files: [], status: 2 },
    { files: [0], status: 0 },
    { files: [1], status: 1 },
    { files: [2], status: 2 },
    { files: [3], status: 3 },
    { files: [0, 1], status: 1 },
    { files: [0, 2], status: 1 },
    { files: [0, 3], status: 1 },
    { files: [2, 3], status: 3 },
    { files: [1, 2, 3], status: 1 },
    { files: [0, 2, 3], status: 1 },
  ])('the audience status is $status for files with the statuses $files', ({ files, status }) => {
    const present = { 0: files.includes(0), 1: files.includes(1), 2: files.includes(2), 3: files.includes(3) };
    expect(audienceStatus(present)).toBe(status);
  });
});

describe('the displayed number of matched devices', () => {
  const shown = (uniqueDevices: number, matchedDevices: number, unit = 50): number =>
    roundMatches({ uniqueDevices, matchedDevices }, unit).matchedDevices;

  it('is rounded down for an audience with fewer than 1,000 devices', () => {
    expect([0, 1, 49, 50, 99, 100].map((matched) => shown(999, matched))).toEqual([0, 0, 0, 50, 50, 100]);
  });

  it('is exact for a larger audience', () => {
    expect([0, 1, 999, 1_000].map((matched) => shown(1_000, matched))).toEqual([0, 1, 999, 1_000]);
  });

  it('is a multiple of the unit and changes only when a multiple is reached', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 998 }), fc.integer({ min: 1, max: 100 }), (matched, unit) => {
        const [before, after] = [shown(998, matched, unit), shown(999, matched + 1, unit)];
        expect(before % unit).toBe(0);
        expect(before).toBeLessThanOrEqual(matched);
        expect(after !== before).toBe((matched + 1) % unit === 0);
      }),
    );
  });
});
