import type { Composition, CompositionEntry } from '@inlet/sdk/browser';
import type { ReportQuery } from './use-report.ts';

/** The entries with the highest or the lowest index. */
export type End = Extract<ReportQuery['order'], 'index' | 'lowest_index'>;

/** What the first page contains: all entries if there are no more pages, or those with the highest index. */
export function endsIn(
  { attributes, totals }: Pick<Composition, 'attributes' | 'totals'>,
  { order, small, name }: ReportQuery,
): Partial<Record<End, Composition['attributes']>> {
  if (small === 'include' || name !== undefined) return {};
  if (attributes.length >= totals.entries - totals.small) return { index: attributes, lowest_index: attributes };
  return order === 'index' ? { index: attributes } : {};
}

export function withoutDuplicates(entries: readonly CompositionEntry[]): readonly CompositionEntry[] {
  const keyOf = ({ attribute_id, value }: CompositionEntry): string => `${attribute_id} ${value ?? ''}`;
  return [...new Map(entries.map((entry) => [keyOf(entry), entry])).values()];
}
