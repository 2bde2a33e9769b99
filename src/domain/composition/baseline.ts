import { type Protection, type ReportEntry, indexOf, shareOf } from './protection.ts';
import { type Range, indexRange } from './ranges.ts';

type Totals = {
  readonly matchedDevices: number;
  readonly warehouseDevices: number;
  /** Null without a baseline. */
  readonly baselineDevices: number | null;
};

/** `baselineDevices` is null without a baseline, and if the count in the baseline is hidden or missing. */
export type EntryWithBaseline = ReportEntry & { readonly baselineDevices: number | null };

export type ComparedEntry = EntryWithBaseline & {
  readonly baselineShare: number | null;
  readonly indexRange: Range | null;
};

/**
 * Compares an entry with a baseline, or with the whole warehouse. Uses only published numbers, so a baseline reveals
 * nothing that the two reports do not.
 */
export function compareEntry(
  entry: EntryWithBaseline,
  totals: Totals,
  protection: Pick<Protection, 'noise' | 'roundTo'>,
): ComparedEntry {
  const { baselineDevices } = entry;
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
