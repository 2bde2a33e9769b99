import type { Overlap } from '@inlet/sdk/browser';

/** The API's limits. */
export const maxAudiences = 10;
export const maxForAllIntersections = 5;

/** Reads `1,2,3` from the address. Ignores text that is not an ID. */
export function readAudienceIds(text: string | undefined): readonly number[] {
  const ids = (text ?? '').split(',').filter((id) => /^[1-9]\d{0,14}$/.test(id));
  return [...new Set(ids.map(Number))].slice(0, maxAudiences);
}

/** How much of the privacy budget an overlap uses: one for each number that depends on a device of one audience. */
export function costOf(audiences: number): number {
  return audiences <= maxForAllIntersections ? 2 ** (audiences - 1) : audiences;
}

/** `A` to `J`, the short name of an audience on the page. */
export function letterOf(position: number): string {
  return 'ABCDEFGHIJ'.charAt(position);
}

/** Null if the count is hidden. */
export type PairShare = { readonly share: number; readonly devices: number; readonly small: boolean } | null;

/**
 * For each audience, the share of its devices that are also in each other audience. The diagonal is undefined. Shares
 * are capped at 1, because counts contain noise.
 */
export function pairShares({ audiences, intersections }: Overlap): readonly (readonly (PairShare | undefined)[])[] {
  return audiences.map((row) =>
    audiences.map((column) => {
      if (row === column) return undefined;
      const pair = intersections.find(
        ({ audience_ids: ids }) =>
          ids.length === 2 && ids.includes(row.audience_id) && ids.includes(column.audience_id),
      );
      if (!pair || pair.devices === null || row.devices === 0) return null;
      return { share: Math.min(1, pair.devices / row.devices), devices: pair.devices, small: pair.small };
    }),
  );
}

/** Most overlaps are small, so the lower steps are narrower. */
const heatSteps = [0.02, 0.05, 0.1, 0.25, 0.5];

/** The step of the color scale, from 0 to 5. */
export function heatOf(share: number): number {
  return heatSteps.filter((step) => share >= step).length;
}

/** Intersections, largest first. Hidden ones come last, with fewer audiences first. */
export function sortedIntersections({ intersections }: Overlap): Overlap['intersections'] {
  return intersections.toSorted(
    (one, other) => (other.devices ?? -1) - (one.devices ?? -1) || one.audience_ids.length - other.audience_ids.length,
  );
}
