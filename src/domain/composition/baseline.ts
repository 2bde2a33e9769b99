import { type Protection, type PublishedCounts, type ReportEntry, addShares, indexOf, shareOf } from './protection.ts';
import { type Range, indexRange } from './ranges.ts';

type Totals = {
  readonly matchedDevices: number;
  readonly warehouseDevices: number;
  /** Null without a baseline. */
  readonly baselineDevices: number | null;
};

export type ComparedEntry = ReportEntry & {
  readonly baselineDevices: number | null;
  readonly baselineShare: number | null;
  readonly indexRange: Range | null;
};

/**
 * Compares a group with a baseline, or with the whole warehouse. Uses only published numbers.
 */
export function compareEntry(
  counts: PublishedCounts & { readonly baselineDevices: number | null },
  totals: Totals,
  protection: Pick<Protection, 'noise' | 'roundTo'>,
): ComparedEntry {
  const { baselineDevices } = counts;
  const entry = { ...addShares(counts, totals), baselineDevices };
  if (totals.baselineDevices === null)
    return { ...entry, baselineShare: null, indexRange: indexRange(entry, totals, protection) };
  const baselineShare = shareOf(baselineDevices, totals.baselineDevices);
  const ofBaseline = { matchedDevices: totals.matchedDevices, warehouseDevices: totals.baselineDevices };
  return {
    ...entry,
    baselineShare,
    index: indexOf(entry.share, baselineShare),
    indexRange:
      baselineDevices === null
        ? null
        : indexRange({ devices: entry.devices, warehouseDevices: baselineDevices }, ofBaseline, protection),
  };
}
