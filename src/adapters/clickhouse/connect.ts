import type { JobId, LoadId } from '../../domain/ids.ts';
import {
  type ClickHouseClient,
  ClickHouseError,
  ClickHouseLogLevel,
  type ClickHouseSettings,
  createClient,
} from '@clickhouse/client';
import { Failure } from '../../domain/failure.ts';
import type { Secret } from '../../domain/secret.ts';
import { transientErrorKind } from '../transient-errors.ts';
import { abortStalled } from './abort-stalled.ts';

/** A connection to one ClickHouse server. */
export type Server = ClickHouseClient;

/** The replicas of a shard, which store the same published rows. Without replication, a shard is one server. */
export type Shard = readonly [Server, ...Server[]];

/** ClickHouse. A single server is a cluster of one shard with one replica. */
export type Engine = {
  readonly shards: readonly [Shard, ...Shard[]];
  readonly database: string;
  readonly cluster: string;
  /** The number of replicas of a shard that must have the rows of a load before the load counts as published. */
  readonly replicasRequired: number;
  /**
   * After this time, loads continue without an unavailable replica. Rows that were staged on that replica are loaded
   * again.
   */
  readonly replicaLostAfterMs: number;
};

/**
 * The duration of a lane's statement grows with the amount of data. If a shorter limit stopped the statement, the lane
 * would simply run it again. `abortStalled` detects a server that does not respond.
 */
const maxStatementSeconds = 6 * 3600;

/**
 * Settings for every statement. Asynchronous inserts, which are the default in recent versions, would return before the
 * rows are stored. Queries are canceled when their client disconnects.
 */
const settings: ClickHouseSettings = {
  async_insert: 0,
  wait_end_of_query: 1,
  max_execution_time: maxStatementSeconds,
  cancel_http_readonly_queries_on_client_close: 1,
};

/**
 * Settings for replicated shards. Staged rows are not replicated, so all statements prefer the same replica of a shard.
 * Hedged requests are disabled, because they would read another replica. Deduplication is disabled, because it would
 * skip rows that are inserted again after a delete. While Keeper is unavailable, statements fail after a few seconds
 * instead of occupying a slot.
 */
const replicationSettings: ClickHouseSettings = {
  load_balancing: 'in_order',
  use_hedged_requests: 0,
  deduplicate_insert: 'disable',
  deduplicate_insert_select: 'disable',
  insert_keeper_max_retries: '5',
  insert_keeper_retry_max_backoff_ms: '1000',
};

/** The CA of the servers and, if the user authenticates with it, a client certificate. The names are the client's. */
export type EngineTls =
  | { readonly ca_cert: Buffer }
  | { readonly ca_cert: Buffer; readonly cert: Buffer; readonly key: Buffer };

export type EngineOptions = {
  /** The URLs of each shard's replicas. */
  readonly shards: readonly (readonly Secret[])[];
  readonly database: string;
  readonly cluster: string;
  readonly replicasRequired?: number | undefined;
  readonly replicaLostAfterMs?: number;
  /** Null or missing for the public CAs of Node.js. */
  readonly tls?: EngineTls | null;
  readonly name: string;
};

/** `wrap` can add behavior to the connection to each server. */
export function connectEngine(
  options: EngineOptions,
  wrap: (server: Server, shardIndex: number) => Server = (server) => server,
): Engine {
  const connect = (url: Secret): Server => {
    const client = (connections: number): Server =>
      createClient({
        url: url.reveal(),
        database: options.database,
        application: options.name,
        // The server has the same limit, so that no statement keeps running after the client has given up.
        request_timeout: maxStatementSeconds * 1000,
        max_open_connections: connections,
        log: { level: ClickHouseLogLevel.OFF }, // errors are thrown, and the caller logs them
        clickhouse_settings: {
          ...settings,
          ...(options.shards.some((urls) => urls.length > 1) ? replicationSettings : {}),
          log_comment: options.database,
        },
        keep_alive: { enabled: true, idle_socket_ttl: 1_500 },
        ...(options.tls ? { tls: options.tls } : {}),
      });
    return abortStalled(client(64), client(2)); // pings can overlap
  };
  const connectShard = (urls: readonly Secret[], index: number): Shard => {
    const [first, ...others] = urls.map((url) => wrap(connect(url), index));
    if (!first) throw new Error('A ClickHouse shard has no server. Set the URL of at least one replica.');
    return [first, ...others];
  };
  const [first, ...others] = options.shards.map(connectShard);
  if (!first) throw new Error('No ClickHouse shard is configured. Set the URL of at least one shard.');
  const { database, cluster } = options;
  const replicas = Math.max(...options.shards.map((urls) => urls.length));
  const replicasRequired = options.replicasRequired ?? Math.max(2, Math.floor(replicas / 2) + 1);
  const { replicaLostAfterMs = 20_000 } = options;
  return { shards: [first, ...others], database, cluster, replicasRequired, replicaLostAfterMs };
}

export function isReplicated(engine: Pick<Engine, 'shards'>): boolean {
  return engine.shards.some((shard) => shard.length > 1);
}

export async function closeEngine(engine: Engine): Promise<void> {
  await Promise.all(engine.shards.flat().map((server) => server.close()));
}

/** The time at which each unavailable server stopped answering. */
const unavailableSince = new WeakMap<Server, number>();

/** When a server was last unavailable or behind the other replicas. */
const lastFailures = new WeakMap<Server, number>();

/** A replica that failed is not tried again for this long, unless no other replica is available. */
const avoidForMs = 5_000;

/** Whether the server failed to answer. A ClickHouse error counts as an answer. */
function isUnavailable(error: unknown): boolean {
  return !(error instanceof ClickHouseError || error instanceof Failure) && transientErrorKind(error) !== null;
}

/** Errors from a replica that has lost its connection to Keeper. Other replicas may still be connected. */
const keeperErrors: ReadonlySet<string> = new Set(['TABLE_IS_READ_ONLY', 'KEEPER_EXCEPTION', 'NO_ZOOKEEPER']);

/** Whether another replica may succeed, because this one is behind the others or cannot reach Keeper. */
function isBehind(error: unknown): boolean {
  if (error instanceof Failure) return error.code === 'replicas_behind';
  return error instanceof ClickHouseError && keeperErrors.has(error.type ?? '');
}

/** Failures further apart than this are separate outages. */
const outageGapMs = 60_000;

async function watched<T>(server: Server, run: () => Promise<T>): Promise<T> {
  try {
    const result = await run();
    unavailableSince.delete(server);
    return result;
  } catch (error) {
    const now = performance.now();
    if (isUnavailable(error)) {
      const isSameOutage = now - (lastFailures.get(server) ?? 0) < outageGapMs;
      unavailableSince.set(server, (isSameOutage ? unavailableSince.get(server) : undefined) ?? now);
    } else unavailableSince.delete(server);
    if (isUnavailable(error) || isBehind(error)) lastFailures.set(server, now);
    throw error;
  }
}

function isLost(engine: Engine, server: Server | undefined): boolean {
  const since = server && unavailableSince.get(server);
  return since !== undefined && performance.now() - since >= engine.replicaLostAfterMs;
}

/** The replicas in the order in which they should be tried. Replicas that failed recently come last. */
function inOrderOfHealth(shard: Shard): Shard {
  const failedAt = (server: Server): number => {
    const at = lastFailures.get(server) ?? Number.NEGATIVE_INFINITY;
    return performance.now() - at < avoidForMs ? at : 0;
  };
  const [first = shard[0], ...others] = shard.toSorted((one, other) => failedAt(one) - failedAt(other));
  return [first, ...others];
}

/** The server that receives a load's bytes and forwards the rows to the shards of their devices. */
export function serverFor(engine: Engine, number: number): Server {
  return inOrderOfHealth(engine.shards[number % engine.shards.length] ?? engine.shards[0])[0];
}

/**
 * Waits for all statements even if one fails. Otherwise, a retry could start while a statement of the failed attempt is
 * still running.
 */
async function settleAll<T>(statements: readonly Promise<T>[]): Promise<T[]> {
  return (await Promise.allSettled(statements)).map((result) => {
    if (result.status === 'rejected') throw result.reason;
    return result.value;
  });
}

/** Runs on one replica of each shard. If that replica is unavailable, runs on the next one. */
export async function onEveryShard<T>(engine: Engine, run: (shard: Server, index: number) => Promise<T>): Promise<T[]> {
  return settleAll(
    engine.shards.map((shard, index) => onFirstAvailable(inOrderOfHealth(shard), (server) => run(server, index))),
  );
}

/**
 * Runs on one replica of each shard. If that fails, does not try another replica, because a statement could still be
 * running on the first one. Before `run`, waits until the replica has all published rows of these tables.
 */
export async function onEveryShardOnce<T>(
  engine: Engine,
  tables: readonly string[],
  run: (shard: Server, index: number) => Promise<T>,
): Promise<T[]> {
  return settleAll(
    engine.shards.map((shard, index) => {
      const [server] = inOrderOfHealth(shard);
      return watched(server, async () => {
        await syncServer(engine, server, tables);
        return run(server, index);
      });
    }),
  );
}

async function onFirstAvailable<T>([first, ...others]: Shard, run: (server: Server) => Promise<T>): Promise<T> {
  try {
    return await watched(first, () => run(first));
  } catch (error) {
    const [next, ...rest] = others;
    if (!next || !(isUnavailable(error) || isBehind(error))) throw error;
    return onFirstAvailable([next, ...rest], run);
  }
}

/** How often a lost replica is tried again. A request to a server that drops all packets takes 20 s to fail. */
const probeLostMs = 30_000;

/**
 * Runs on every replica of every shard, and returns the results of each shard. Skips replicas that have been
 * unavailable for `replicaLostAfterMs`, unless that applies to all replicas of the shard.
 */
export async function onEveryServer<T>(
  engine: Engine,
  run: (server: Server, shardIndex: number) => Promise<T>,
): Promise<T[][]> {
  return settleAll(
    engine.shards.map(async (shard, index) => {
      const isAvoided = (server: Server): boolean =>
        isLost(engine, server) && performance.now() - (lastFailures.get(server) ?? 0) < probeLostMs;
      const tried = shard.every(isAvoided) ? shard : shard.filter((server) => !isAvoided(server));
      const results = await Promise.allSettled(tried.map((server) => watched(server, () => run(server, index))));
      const values = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
      for (const [replica, result] of results.entries()) {
        if (result.status === 'rejected' && !(values.length > 0 && isLost(engine, tried[replica]))) throw result.reason;
      }
      return values;
    }),
  );
}

/**
 * Like `onEveryServer`, but skips replicas that are unavailable now, unless that applies to all replicas of the shard.
 */
export async function onAvailableServers<T>(
  engine: Engine,
  run: (server: Server, shardIndex: number) => Promise<T>,
): Promise<T[][]> {
  return onEveryServer({ ...engine, replicaLostAfterMs: 0 }, run);
}

/** Runs on every replica of every shard. All of them must be available. */
export async function onAllServers<T>(
  engine: Engine,
  run: (server: Server, shardIndex: number) => Promise<T>,
): Promise<T[][]> {
  return settleAll(
    engine.shards.map((shard, index) => settleAll(shard.map((server) => watched(server, () => run(server, index))))),
  );
}

/** Like `onEveryServer`, but returns the sum over the replicas of each shard. */
export async function sumPerShard(engine: Engine, count: (server: Server) => Promise<number>): Promise<number[]> {
  return (await onEveryServer(engine, count)).map((ofReplicas) => ofReplicas.reduce((sum, rows) => sum + rows, 0));
}

/** How long a statement waits for a replica to catch up with the other replicas. */
const syncSeconds = 10;

/** If the server is one of several replicas, waits until it has all published rows of these tables. */
export async function syncServer(engine: Engine, server: Server, tables: readonly string[]): Promise<void> {
  const hasReplicas = engine.shards.some((shard) => shard.length > 1 && shard.includes(server));
  if (hasReplicas) await syncReplica(server, tables);
}

/** Waits until the replica has every row that was inserted on another replica of its shard. */
async function syncReplica(server: Server, tables: readonly string[]): Promise<void> {
  for (const table of tables) {
    try {
      await server.command({
        query: `SYSTEM SYNC REPLICA ${table} LIGHTWEIGHT`,
        clickhouse_settings: { receive_timeout: syncSeconds },
      });
    } catch (error) {
      if (!(error instanceof ClickHouseError && error.type === 'TIMEOUT_EXCEEDED')) throw error;
      throw new Failure('replicas_behind', `A replica of ${table} is behind.`, { cause: error });
    }
  }
}

/** Runs on one replica of each shard, after the replica has all published rows of these tables. */
export async function onEveryShardInSync<T>(
  engine: Engine,
  tables: readonly string[],
  run: (shard: Server, index: number) => Promise<T>,
): Promise<T[]> {
  return onEveryShard(engine, async (server, index) => {
    await syncServer(engine, server, tables);
    return run(server, index);
  });
}

/** Waits until all replicas of every shard have the rows of these tables. Fails if a replica is unavailable. */
export async function syncAllReplicas(engine: Engine, tables: readonly string[]): Promise<void> {
  await requireReplicas(engine, tables, Number.POSITIVE_INFINITY);
}

/** Waits until enough replicas of every shard have the rows that were just published to the table. */
export async function requireReplicated(engine: Engine, table: string): Promise<void> {
  await requireReplicas(engine, [table], engine.replicasRequired);
}

async function requireReplicas(engine: Engine, tables: readonly string[], required: number): Promise<void> {
  await Promise.all(
    engine.shards.map(async (shard, index) => {
      if (shard.length === 1 || required <= 1) return;
      const needed = Math.min(required, shard.length);
      const behind = new Map<number, unknown>();
      let inSync = 0;
      const { promise: enough, resolve } = Promise.withResolvers<void>();
      const syncs = shard.map(async (server, replica) => {
        try {
          await watched(server, () => syncReplica(server, tables));
          inSync += 1;
          if (inSync >= needed) resolve();
        } catch (error) {
          behind.set(replica + 1, error);
        }
      });
      // Does not wait for slow replicas once enough of them are in sync.
      await Promise.race([enough, Promise.all(syncs)]);
      if (inSync >= needed) return;
      const detail = `Only ${inSync} of ${shard.length} replicas of shard ${index + 1} have all rows of ${tables.join(', ')}. Waiting for replica ${[...behind.keys()].toSorted((one, other) => one - other).join(', ')}.`;
      throw new Failure('replicas_behind', detail, { cause: [...behind.values()][0] });
    }),
  );
}

/** Returns all rows of a query. */
export async function selectRows<Row>(
  shard: Server,
  query: string,
  query_params: Record<string, unknown> = {},
  abort_signal?: AbortSignal,
): Promise<Row[]> {
  const signal = abort_signal ? { abort_signal } : {};
  return (await shard.query({ query, query_params, format: 'JSONEachRow', ...signal })).json<Row>();
}

/** Returns the rows of all shards. `tables` are the replicated tables that the query reads. */
export async function selectFromShards<Row>(
  engine: Engine,
  tables: readonly string[],
  query: string,
  query_params: Record<string, unknown> = {},
): Promise<Row[]> {
  return (await onEveryShardInSync(engine, tables, (shard) => selectRows<Row>(shard, query, query_params))).flat();
}

/** Runs a query of the form `SELECT toString(…) AS number` that returns one row. */
export async function selectNumber(
  shard: Server,
  query: Omit<Parameters<Server['query']>[0], 'format'>,
): Promise<number> {
  const result = await shard.query({ ...query, format: 'JSONEachRow' });
  const [row] = await result.json<{ number: string }>();
  return Number(row?.number ?? 0);
}

/** Runs an INSERT … SELECT and returns the number of rows that it wrote. */
export async function insertSelected(shard: Server, insert: Parameters<Server['command']>[0]): Promise<number> {
  const { summary } = await shard.command(insert);
  if (!summary) throw new Error('ClickHouse did not report how many rows were written');
  return Number(summary.written_rows);
}

/** Each device is stored on exactly one shard, so the total is the sum over the shards. */
export async function sumOverShards(
  engine: Engine,
  tables: readonly string[],
  count: (shard: Server) => Promise<number>,
): Promise<number> {
  return (await onEveryShardInSync(engine, tables, count)).reduce((total, ofShard) => total + ofShard, 0);
}

// Inlet finds and kills the statements of a load or a job by the prefix of their query ID. Another installation on the
// same ClickHouse server can use the same load and job IDs. Therefore, each statement also has its database name in
// `log_comment`, which ClickHouse forwards to the other shards.

export function loadQueryPrefix(loadId: LoadId): string {
  return `inlet-load-${loadId}-`;
}

export function jobQueryPrefix(jobId: JobId): string {
  return `inlet-job-${jobId}-`;
}

/**
 * A condition for system.processes. It also matches statements without a `log_comment`, because workers of the previous
 * release do not set it.
 */
export const isOurStatement = `startsWith(initial_query_id, {prefix: String})
  AND Settings['log_comment'] IN (currentDatabase(), '')`;

/** Makes query IDs unique, because ClickHouse rejects the ID of a running query. */
let serial = 0;

export function newQueryId(prefix: string, step: 'stage' | 'publish' | 'replace' | 'count'): string {
  serial += 1;
  return `${prefix}${step}-${process.pid}-${serial}`;
}
