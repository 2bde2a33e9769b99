import { ClickHouseError, type ClickHouseSettings } from '@clickhouse/client';
import { randomUUID } from 'node:crypto';
import type { Server } from '../connect.ts';

/**
 * Runs the statements of one report on one shard. The statements share temporary tables, which are dropped with the
 * session. ClickHouse closes an idle session after a minute, so nothing remains after a crash.
 */
export type ReportSession = {
  readonly run: (query: string, parameters?: Readonly<Record<string, unknown>>) => Promise<void>;
  readonly rows: <T>(query: string, parameters?: Readonly<Record<string, unknown>>) => Promise<T[]>;
  /** Sends the row in the request body, because parameters would appear in the query log. */
  readonly insert: (table: string, row: Readonly<Record<string, unknown>>) => Promise<void>;
};

/** Joins merge sorted streams. Sorting and grouping spill to disk before they take much memory. */
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
  shard: Server,
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
    // Free the memory early. A failure has no consequences, because the tables are dropped with the session.
    for (const table of temporaryTables) {
      await shard.command({ query: `DROP TEMPORARY TABLE IF EXISTS ${table}`, ...common }).catch(() => null);
    }
  }
}

/** Removes the message, because ClickHouse may quote the failed expression, which contains the key as a constant. */
function withoutConstants(error: unknown): unknown {
  if (!(error instanceof ClickHouseError)) return error;
  const { code, type } = error;
  return Object.assign(new Error(`report statement failed: ${type ?? 'error'} ${code}`), { code });
}
