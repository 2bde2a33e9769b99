import { describe, expect, it } from 'vitest';
import { reportKey } from '../../adapters/vault/keys.ts';
import { Secret } from '../secret.ts';
import { cosSquaredNoise } from './noise.ts';
import { type OverlapCounts, drawsOfOverlap, intersectionsOf, protectOverlap } from './overlap.ts';
import { defaultProtection } from './protection.ts';

const noise = cosSquaredNoise(reportKey(new Secret('5a'.repeat(32)), []).draw, defaultProtection.noise);

function counts(contents: readonly string[], intersection: number): OverlapCounts {
  return {
    audiences: contents.map((content, index) => ({ audienceId: index + 1, content, devices: 5_000 })),
    intersections: intersectionsOf(contents.length).map(() => intersection),
    reach: 9_000,
  };
}

describe('an overlap', () => {
  it('reports all intersections of up to five audiences, but only pairs for more than five', () => {
    expect(intersectionsOf(3)).toEqual([
      [0, 1],
      [0, 2],
      [1, 2],
      [0, 1, 2],
    ]);
    expect([2, 3, 4, 5, 6, 10].map((audiences) => intersectionsOf(audiences).length)).toEqual([1, 4, 11, 26, 15, 45]);
  });

  it('costs one draw for each number that depends on whether a device is in an audience', () => {
    expect([2, 3, 4, 5, 6, 10].map(drawsOfOverlap)).toEqual([2, 4, 8, 16, 6, 10]);
  });

  it('differs from the exact counts by at most the noise and the rounding step', () => {
    const { intersections, reach, audiences } = protectOverlap(counts(['a', 'b', 'c'], 400), defaultProtection, noise);
    const published = [
      ...intersections.map(({ devices }) => (devices ?? 0) - 400),
      ...audiences.map(({ devices }) => devices - 5_000),
      reach - 9_000,
    ];
    for (const difference of published) {
      expect(difference).toBeGreaterThanOrEqual(-15 - 24);
      expect(difference).toBeLessThanOrEqual(15);
    }
  });

  it('hides small intersections', () => {
    const [pair] = protectOverlap(counts(['a', 'b'], 20), defaultProtection, noise).intersections;
    expect(pair).toEqual({ audienceIds: [1, 2], devices: null, small: true });
  });

  it('has the same noise for the same devices, regardless of audience order and other audiences in the request', () => {
    const pairOf = (contents: readonly string[], exact: number): number | null | undefined =>
      protectOverlap(counts(contents, exact), { ...defaultProtection, roundTo: 0 }, noise).intersections[0]?.devices;
    expect(pairOf(['a', 'b', 'c'], 400)).toBe(pairOf(['a', 'b'], 400));
    expect(pairOf(['b', 'a'], 400)).toBe(pairOf(['a', 'b'], 400));
    const others = Array.from({ length: 20 }, (_, n) => pairOf(['a', `b${n}`], 400));
    expect(new Set(others).size).toBeGreaterThan(5);
  });
});
