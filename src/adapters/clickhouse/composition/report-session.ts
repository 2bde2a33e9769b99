import { ClickHouseError, type ClickHouseSettings } from '@clickhouse/client';
import { randomUUID } from 'node:crypto';
import type { Shard } from '../connect.ts';

/**
 * Statements of one report on one shard. They share tables that only this session sees and that end with it, also when
 * our process does: an idle session is closed after a minute.
 */
export type ReportSession = {
  readonly run: (query: string, parameters?: Readonly<Record<string, unknown>>) => Promise<void>;
  readonly rows: <T>(query: string, parameters?: Readonly<Record<string, unknown>>) => Promise<T[]>;
  /** In the body of the request: parameters would be written into the log of queries. */
  readonly insert: (table: string, row: Readonly<Record<string, unknown>>) => Promise<void>;
};

/** Sorted streams that are merged; what has to be sorted or grouped goes to disk before it takes much memory. */
const settings: ClickHouseSettings = {
  join_algorithm: 'full_sorting_merge',
  optimize_read_in_order: 1,
  optimize_aggregation_in_order: 1,
  max_threads: 2,
  max_memory_usage: '1073741824',
  max_bytes_before_external_sort: '134217728',
  max_bytes_before_external_group_by: '134217728',
};

const temporaryTables = ['report_key', 'report_members'];

export async function inReportSession<T>(
  shard: Shard,
  signal: AbortSignal,
  work: (session: ReportSession) => Promise<T>,
): Promise<T> {
  const common = { session_id: `inlet-report-${randomUUID()}`, clickhouse_settings: settings };
  const cancellable = { ...common, abort_signal: signal };
  const session: ReportSession = {
    run: async (query, parameters = {}) => {
      await shard.command({ query, query_params: { ...parameters }, ...cancellable });
    },
    rows: async <Row>(query: string, parameters: Readonly<Record<string, unknown>> = {}) => {
      const result = await shard.query({
        query,
        query_params: { ...parameters },
        format: 'JSONEachRow',
        ...cancellable,
      });
      return result.json<Row>();
    },
    insert: async (table, row) => {
      await shard.insert({ table, values: [row], format: 'JSONEachRow', ...cancellable });
    },
  };
  try {
    return await work(session);
  } catch (error) {
    throw withoutConstants(error);
  } finally {
    // Soon is better than after a minute, but nothing hangs on it.
    for (const table of temporaryTables) {
      await shard.command({ query: `DROP TEMPORARY TABLE IF EXISTS ${table}`, ...common }).catch(() => null);
    }
  }
}

/** The engine may quote the expression that failed, and the key is a constant of it. The code says enough. */
function withoutConstants(error: unknown): unknown {
  if (!(error instanceof ClickHouseError)) return error;
  const { code, type } = error;
  return Object.assign(new Error(`a statement of a report failed: ${type ?? 'error'} ${code}`), { code });
}
