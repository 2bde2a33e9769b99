import type { JobId, LoadId } from '../../domain/ids.ts';
import { type ClickHouseClient, ClickHouseLogLevel, type ClickHouseSettings, createClient } from '@clickhouse/client';
import type { Secret } from '../../domain/secret.ts';

export type Shard = ClickHouseClient;

/** ClickHouse, with one client per shard. A single server is a cluster of one shard. */
export type Engine = {
  readonly shards: readonly [Shard, ...Shard[]];
  readonly database: string;
  readonly cluster: string;
};

/**
 * The duration of a lane's statement grows with the data. After a shorter limit, the lane would only run the same statement
 * again. `abortStalled` detects a server that does not respond.
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

export function connectEngine(options: {
  urls: readonly Secret[];
  database: string;
  cluster: string;
  name: string;
}): Engine {
  const [first, ...others] = options.urls.map((url) => {
    const client = (connections: number): Shard =>
      createClient({
        url: url.reveal(),
        database: options.database,
        application: options.name,
        // The server ends the statement at the same time, so that none runs on after the client gave up.
        request_timeout: maxStatementSeconds * 1000,
        max_open_connections: connections,
        log: { level: ClickHouseLogLevel.OFF }, // errors are thrown, and the caller logs them
        clickhouse_settings: { ...settings, log_comment: options.database },
        keep_alive: { enabled: true, idle_socket_ttl: 1_500 },
      });
    return abortStalled(client(64), client(2)); // pings can overlap
  });
  if (!first) throw new Error('No ClickHouse shard is configured. Set the URL of at least one shard.');
  return { shards: [first, ...others], database: options.database, cluster: options.cluster };
}

export async function closeEngine(engine: Engine): Promise<void> {
  await Promise.all(engine.shards.map((shard) => shard.close()));
}

/** The shard that receives a load's bytes and forwards the rows to the shards of their devices. */
export function shardFor(engine: Engine, number: number): Shard {
  return engine.shards[number % engine.shards.length] ?? engine.shards[0];
}

export async function onEveryShard<T>(engine: Engine, run: (shard: Shard, index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(engine.shards.map((shard, index) => run(shard, index)));
}

/** Returns all rows of a query. */
export async function selectRows<Row>(
  shard: Shard,
  query: string,
  query_params: Record<string, unknown> = {},
): Promise<Row[]> {
  return (await shard.query({ query, query_params, format: 'JSONEachRow' })).json<Row>();
}

/** Returns the rows of all shards. */
export async function selectFromShards<Row>(
  engine: Engine,
  query: string,
  query_params: Record<string, unknown> = {},
): Promise<Row[]> {
  return (await onEveryShard(engine, (shard) => selectRows<Row>(shard, query, query_params))).flat();
}

/** Runs a query of the form `SELECT toString(…) AS number` that returns one row. */
export async function selectNumber(
  shard: Shard,
  query: Omit<Parameters<Shard['query']>[0], 'format'>,
): Promise<number> {
  const result = await shard.query({ ...query, format: 'JSONEachRow' });
  const [row] = await result.json<{ number: string }>();
  return Number(row?.number ?? 0);
}

/** Runs an INSERT … SELECT and returns the number of rows that it wrote. */
export async function insertSelected(shard: Shard, insert: Parameters<Shard['command']>[0]): Promise<number> {
  const { summary } = await shard.command(insert);
  if (!summary) throw new Error('ClickHouse did not report how many rows were written');
  return Number(summary.written_rows);
}

/** Each device is stored on exactly one shard, so the total is the sum over the shards. */
export async function sumOverShards(engine: Engine, count: (shard: Shard) => Promise<number>): Promise<number> {
  return (await onEveryShard(engine, count)).reduce((total, ofShard) => total + ofShard, 0);
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
 * A condition for system.processes. Workers of the previous release set no `log_comment`, so it also matches statements
 * without one.
 */
export const isOurStatement = `startsWith(initial_query_id, {prefix: String})
  AND Settings['log_comment'] IN (currentDatabase(), '')`;

/** Makes query IDs unique, because ClickHouse rejects the ID of a running query. */
let serial = 0;

export function newQueryId(prefix: string, step: 'stage' | 'publish' | 'replace' | 'count'): string {
  serial += 1;
  return `${prefix}${step}-${process.pid}-${serial}`;
}

/** Interval and timeout of the pings that are sent while statements run. */
const defaultTimes = { pingEveryMs: 5_000, pingTimeoutMs: 10_000 };
/** Number of consecutive missed pings after which the server is considered stalled instead of busy. */
const maxMissedPings = 2;

const statementMethods: ReadonlySet<string> = new Set(['query', 'command', 'exec', 'insert']);

type Given = { readonly abort_signal?: AbortSignal };

/**
 * If a server stops answering pings, aborts all its statements as if the connection had been lost. A statement may run
 * for hours, so a timeout cannot distinguish a long statement from a stalled or disconnected server. Pings use a
 * separate connection. A process that lacks CPU time must not conclude that the server is stalled, because its retries
 * would add load to an overloaded machine.
 */
export function abortStalled(shard: Shard, pinger: Shard, { pingEveryMs, pingTimeoutMs } = defaultTimes): Shard {
  const state = { running: 0, missed: 0, gone: new AbortController() };
  let timer: NodeJS.Timeout | undefined;

  const ping = async (): Promise<void> => {
    const timeout = eventLoopTimeout(pingTimeoutMs);
    const { success } = await pinger.ping({ select: false, abort_signal: timeout.signal });
    timeout.end();
    state.missed = success ? 0 : state.missed + 1;
    if (state.missed >= maxMissedPings) {
      const { gone } = state;
      Object.assign(state, { missed: 0, gone: new AbortController() });
      gone.abort();
    }
  };
  const begin = (): void => {
    state.running += 1;
    timer ??= setInterval(() => void ping(), pingEveryMs).unref();
  };
  const end = (): void => {
    state.running -= 1;
    if (state.running > 0) return;
    clearInterval(timer);
    timer = undefined;
    state.missed = 0;
  };

  const run = async (call: (given: Given) => Promise<unknown>, given: Given): Promise<unknown> => {
    const gone = state.gone.signal;
    begin();
    try {
      const signals = given.abort_signal ? [given.abort_signal, gone] : [gone];
      const abort_signal = AbortSignal.any(signals);
      abort_signal.throwIfAborted(); // the client ignores a signal that is already aborted
      return await call({ ...given, abort_signal });
    } catch (error) {
      if (!gone.aborted) throw error;
      throw Object.assign(new Error('ClickHouse does not respond', { cause: error }), { code: 'ETIMEDOUT' });
    } finally {
      end();
    }
  };

  return new Proxy(shard, {
    get: (inner, property) => {
      const value: unknown = Reflect.get(inner, property);
      if (typeof value !== 'function') return value;
      if (property === 'close') return () => Promise.all([shard.close(), pinger.close()]).then(() => undefined);
      if (typeof property !== 'string' || !statementMethods.has(property)) return value.bind(inner) as unknown;
      return (given: Given) => run(async (more): Promise<unknown> => Reflect.apply(value, inner, [more]), given);
    },
  });
}

const ticks = 20;

/**
 * A timeout that counts ticks of the event loop. If the process is suspended or lacks CPU time, a late tick counts only
 * once. Responses that have arrived in the meantime are therefore read before the timeout expires.
 */
function eventLoopTimeout(ms: number): { readonly signal: AbortSignal; readonly end: () => void } {
  const controller = new AbortController();
  let left = ticks;
  const timer = setInterval(() => {
    left -= 1;
    if (left > 0) return;
    clearInterval(timer);
    controller.abort();
  }, ms / ticks).unref();
  return { signal: controller.signal, end: () => clearInterval(timer) };
}
