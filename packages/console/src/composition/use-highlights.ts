import { api, type Loaded, useApi } from '../api.ts';
import type { Composition, CompositionEntry } from '@inlet/sdk/browser';
import type { ReportQuery } from './use-report.ts';

export type Highlights = { readonly report: Composition; readonly entries: readonly CompositionEntry[] };

const entriesPerEnd = 40;

/**
 * Loads the entries with the highest and the lowest index, without small groups. Waits for `computedAt`, because the
 * report is then computed.
 */
export function useHighlights(
  segmentId: number,
  query: ReportQuery | null,
  computedAt: string | undefined,
): Loaded<Highlights> {
  const { name: _name, ...all } = query ?? { order: 'index' };
  const key = JSON.stringify([segmentId, { ...all, order: null, small: null }, computedAt]);
  return useApi<Highlights>(
    `highlights ${key}`,
    async (signal) => {
      const end = (order: 'index' | 'lowest_index') =>
        api.getComposition(segmentId, { query: { ...all, order, small: 'omit', limit: entriesPerEnd }, signal });
      const [highest, lowest] = await Promise.all([end('index'), end('lowest_index')]);
      if (!highest.ok) return highest;
      if (!lowest.ok) return lowest;
      const keyOf = ({ attribute_id, value }: CompositionEntry): string => `${attribute_id} ${value ?? ''}`;
      const entries = new Map(
        [...highest.value.attributes, ...lowest.value.attributes].map((entry) => [keyOf(entry), entry]),
      );
      return { ...highest, value: { report: highest.value, entries: [...entries.values()] } };
    },
    { isPaused: computedAt === undefined },
  );
}
