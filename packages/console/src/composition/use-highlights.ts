import type { Answered, Composition, CompositionEntry } from '@inlet/sdk/browser';
import { type Loaded, api, useApi } from '../api.ts';
import { type End, endsIn, withoutDuplicates } from './ends.ts';
import type { ReportQuery } from './use-report.ts';

export type Highlights = { readonly report: Composition; readonly entries: readonly CompositionEntry[] };

const entriesPerEnd = 40;

/**
 * The entries with the highest and the lowest index, without small groups. Loads the entries that are not on the first
 * page of the report. Waits for `report`, because the report has been computed by then.
 */
export function useHighlights(
  segmentId: number,
  query: ReportQuery | null,
  report: Composition | undefined,
): Pick<Loaded<Highlights>, 'value' | 'problem' | 'reload'> {
  const known = query && report ? endsIn(report, query) : {};
  const isComplete = known.index !== undefined && known.lowest_index !== undefined;
  const { name: _name, ...all } = query ?? { order: 'index' };
  const key = JSON.stringify([segmentId, { ...all, order: null, small: null }, report?.computed_at]);
  const loaded = useApi<Highlights>(
    `highlights ${key}`,
    async (signal) => {
      const load = async (order: End): Promise<Answered<Composition>> =>
        api.getComposition(segmentId, { query: { ...all, order, small: 'omit', limit: entriesPerEnd }, signal });
      const [lowest, highest] = await Promise.all([load('lowest_index'), known.index ? null : load('index')]);
      if (!lowest.ok) return lowest;
      if (highest && !highest.ok) return highest;
      const entries = [...(known.index ?? highest?.value.attributes ?? []), ...lowest.value.attributes];
      return { ...lowest, value: { report: lowest.value, entries: withoutDuplicates(entries) } };
    },
    { isPaused: report === undefined || isComplete },
  );
  if (!isComplete || !report) return loaded;
  return { value: { report, entries: known.index ?? [] }, problem: undefined, reload: loaded.reload };
}
