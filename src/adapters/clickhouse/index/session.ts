import type { ClickHouseSettings } from '@clickhouse/client';
import { randomUUID } from 'node:crypto';
import { type Engine, type Server, onAvailableServers } from '../connect.ts';

/** Runs statements on one shard one after another. They share temporary tables, which are dropped when the session ends. */
export type Session = {
  /** Returns the number of rows written. */
  readonly run: (query: string, options?: Statement) => Promise<number>;
  readonly rows: <Row>(query: string, options?: Statement) => Promise<Row[]>;
};

export type Statement = {
  readonly parameters?: Readonly<Record<string, unknown>>;
  readonly settings?: ClickHouseSettings;
};

/** Folds run alongside loads, so they use little memory: sorting and grouping spill to disk early. */
const settings: ClickHouseSettings = {
  max_threads: 2,
  max_memory_usage: '2147483648',
  max_bytes_before_external_sort: '268435456',
  max_bytes_before_external_group_by: '268435456',
  optimize_read_in_order: 1,
  // Otherwise, ClickHouse turns a join with a condition into an anti join, which it cannot run as a merge join.
  query_plan_convert_any_join_to_semi_or_anti_join: 0,
};

// The query IDs of fold statements start with this prefix, so that a worker can stop the statements of an earlier
// worker.
const foldPrefix = 'inlet-fold-';

/** A statement with this ID is stopped when another worker takes the lease. */
export function newFoldQueryId(): string {
  return `${foldPrefix}${randomUUID()}`;
}

export async function inFoldSession<T>(
  shard: Server,
  work: (session: Session) => Promise<T>,
  queryPrefix = foldPrefix,
): Promise<T> {
  const id = `${queryPrefix}${randomUUID()}`;
  let serial = 0;
  const common = ({ parameters = {}, settings: own = {} }: Statement) => {
    serial += 1;
    return {
      session_id: id,
      query_id: `${id}-${serial}`,
      query_params: { ...parameters },
      clickhouse_settings: { ...settings, ...own },
    };
  };
  const session: Session = {
    run: async (query, options = {}) => {
      const { summary } = await shard.command({ query, ...common(options) });
      return Number(summary?.written_rows ?? 0);
    },
    rows: async <Row>(query: string, options: Statement = {}) =>
      (await shard.query({ query, format: 'JSONEachRow', ...common(options) })).json<Row>(),
  };
  try {
    return await work(session);
  } finally {
    // Frees the memory early. If this fails, ClickHouse drops the tables when the idle session ends.
    await session
      .run('DROP TEMPORARY TABLE IF EXISTS changed_cells, changed_devices, joined_devices, removed_devices')
      .catch(() => null);
  }
}

/** Folds of other databases on the same server must not be stopped. */
const isFoldStatement = `startsWith(initial_query_id, '${foldPrefix}') AND Settings['log_comment'] = currentDatabase()`;

/**
 * Stops the running statements of earlier folds. Statements that those folds start later insert no rows, because they
 * have an earlier lease.
 */
export async function stopFolds(engine: Engine): Promise<void> {
  await onAvailableServers(engine, (server) => server.command({ query: `KILL QUERY WHERE ${isFoldStatement} SYNC` }));
}
