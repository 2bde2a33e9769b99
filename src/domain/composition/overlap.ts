import type { Noise } from './noise.ts';
import { type Protection, isProtecting, roundDown } from './protection.ts';

export const maxOverlapAudiences = 10;

/**
 * With more audiences than this, only pairs are reported, because the number of intersections doubles with each
 * audience.
 */
const maxForAllIntersections = 5;

/**
 * Returns every set of at least two audiences whose intersection is reported. A set contains positions in the list of
 * audiences. Pairs come first.
 */
export function intersectionsOf(audiences: number): readonly (readonly number[])[] {
  const positions = Array.from({ length: audiences }, (_, position) => position);
  let sets = positions.map((position) => [position]);
  const found: number[][] = [];
  const largest = audiences <= maxForAllIntersections ? audiences : 2;
  for (let size = 2; size <= largest; size += 1) {
    sets = sets.flatMap((set) => positions.slice((set.at(-1) ?? 0) + 1).map((position) => [...set, position]));
    found.push(...sets);
  }
  return found;
}

/**
 * Returns how many numbers in an overlap can depend on whether one device is in one audience: all intersections with
 * that audience, and its size. Each of these numbers is an observation for an attacker who has put the device in all
 * other audiences. The reach is not included: it depends on the device only if no other audience contains the device,
 * in which case no intersection depends on the device.
 */
export function drawsOfOverlap(audiences: number): number {
  return intersectionsOf(audiences).filter((positions) => positions.includes(0)).length + 1;
}

/** Exact counts. */
export type OverlapCounts = {
  readonly audiences: readonly {
    readonly audienceId: number;
    /** Identifies the devices of the audience. */
    readonly content: string;
    readonly devices: number;
  }[];
  /** In the order of `intersectionsOf`. */
  readonly intersections: readonly number[];
  readonly reach: number;
};

export type PublishedOverlap = {
  readonly isProtected: boolean;
  readonly audiences: readonly { readonly audienceId: number; readonly devices: number }[];
  readonly intersections: readonly {
    readonly audienceIds: readonly number[];
    /** Null if hidden. */
    readonly devices: number | null;
    readonly small: boolean;
  }[];
  readonly reach: number;
};

/**
 * Converts exact counts to publishable ones, as `protectReport` does. The noise of an intersection depends only on the
 * devices of its audiences, not on the other audiences in the request. A request with more audiences therefore reveals
 * nothing new about the intersection.
 */
export function protectOverlap(counts: OverlapCounts, protection: Protection, noise: Noise): PublishedOverlap {
  const publish = (kind: string, exact: number, positions: readonly number[]): number => {
    const contents = positions.map((position) => counts.audiences[position]?.content ?? '').toSorted();
    return roundDown(exact + noise(['overlap', kind, ...contents]), protection.roundTo);
  };
  const everyone = counts.audiences.map((_, position) => position);
  const sizes = counts.audiences.map(({ audienceId, devices }, position) => ({
    audienceId,
    devices: publish('devices', devices, [position]),
  }));
  return {
    isProtected: isProtecting(protection),
    audiences: sizes,
    intersections: intersectionsOf(counts.audiences.length).map((positions, index) => {
      const devices = publish('both', counts.intersections[index] ?? 0, positions);
      const isHidden = devices < protection.hideUnder;
      return {
        audienceIds: positions.flatMap((position) => counts.audiences[position]?.audienceId ?? []),
        devices: isHidden ? null : devices,
        small: isHidden || devices < protection.flagUnder,
      };
    }),
    reach: publish('reach', counts.reach, everyone),
  };
}
