import { compareValues } from './counts.ts';
import type { ReportEntry } from './protection.ts';

export type Order = 'devices' | 'index';

/** Sorts by published numbers, so that the order reveals nothing more. Hidden entries come last. */
export function topEntries(entries: readonly ReportEntry[], order: Order, limit: number): readonly ReportEntry[] {
  const rank = (entry: ReportEntry): number => entry[order] ?? -1;
  return entries
    .toSorted((a, b) => rank(b) - rank(a) || a.attributeId - b.attributeId || compareValues(a.value, b.value))
    .slice(0, limit);
}
