import { compareValues } from './counts.ts';
import type { ReportEntry } from './protection.ts';

export type Order = 'devices' | 'index';

/** By what is shown, so that the order tells nothing that the numbers do not; hidden ones last. */
export function topEntries(entries: readonly ReportEntry[], order: Order, limit: number): readonly ReportEntry[] {
  const rank = (entry: ReportEntry): number => entry[order] ?? -1;
  return entries
    .toSorted((a, b) => rank(b) - rank(a) || a.attributeId - b.attributeId || compareValues(a.value, b.value))
    .slice(0, limit);
}
