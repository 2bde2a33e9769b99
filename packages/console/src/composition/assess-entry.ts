import type { Composition, CompositionEntry } from '@inlet/sdk/browser';

/** An index from 0.8 to 1.2 is typical: the attribute is about as common as in the baseline. */
export const typicalIndex = { low: 0.8, high: 1.2 } as const;

export type Assessment = 'over' | 'under' | 'typical' | 'unclear' | 'hidden';

/**
 * Whether an index of 1 means that the attribute is as common as in the baseline. Known devices have no events, so the
 * report compares the devices with an event with all devices of the baseline, unless the baseline is another audience.
 */
export function isComparable({
  split,
  baseline,
}: {
  readonly split: Composition['split'];
  readonly baseline: { readonly default_warehouse_segment_id?: number | undefined } | null;
}): boolean {
  return split !== 'event' || baseline?.default_warehouse_segment_id !== undefined;
}

/**
 * Compares the range of the exact index with the typical band. A difference counts only if the whole range is outside
 * the band, because otherwise it may be noise.
 */
export function assess({
  index,
  index_range,
  small,
}: Pick<CompositionEntry, 'index' | 'index_range' | 'small'>): Assessment {
  if (index === null) return 'hidden';
  if (index_range === null || small) return 'unclear';
  // The bounds are rounded as on the page, so that an index shown as 120 is never called more than typical.
  const [low, high] = [Math.round(index_range.low * 100), Math.round(index_range.high * 100)];
  if (low > typicalIndex.high * 100) return 'over';
  if (high < typicalIndex.low * 100) return 'under';
  return low >= typicalIndex.low * 100 && high <= typicalIndex.high * 100 ? 'typical' : 'unclear';
}
