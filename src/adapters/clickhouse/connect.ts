import { type ClickHouseClient, ClickHouseLogLevel, type ClickHouseSettings, createClient } from '@clickhouse/client';
import type { Secret } from '../../domain/secret.ts';
import { eventLoopTimeout } from '../coalesce.ts';

export type Shard = ClickHouseClient;

/** The engine: one address per shard. A single server is a cluster of one shard. */
export type Engine = {
  readonly shards: readonly [Shard, ...Shard[]];
  readonly database: string;
  readonly cluster: string;
};

/**
 * Settings of every statement. Recent versions collect inserts in the background by default; ours must be there. A question
 * whose asker is gone would be answered all the same.
 */
const settings: ClickHouseSettings = {
  async_insert: 0,
  wait_end_of_query: 1,
  max_execution_time: 3600,
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
        // A load runs as long as its bytes flow; other statements give up earlier by `max_execution_time`, in seconds.
        // A server that does not answer at all is noticed by `endStalled`.
        request_timeout: 6 * 3600 * 1000,
        max_open_connections: connections,
        log: { level: ClickHouseLogLevel.OFF }, // it throws what it logs, and we log what is thrown
        clickhouse_settings: { ...settings, log_comment: options.database },
        keep_alive: { enabled: true, idle_socket_ttl: 1_500 },
      });
    return endStalled(client(64), client(2)); // a second ping is sent while the first may still be waited for
  });
  if (!first) throw new Error('The engine needs the address of at least one shard.');
  return { shards: [first, ...others], database: options.database, cluster: options.cluster };
}

export async function closeEngine(engine: Engine): Promise<void> {
  await Promise.all(engine.shards.map((shard) => shard.close()));
}

/** The shard that takes the bytes of a load; it hands the rows on to the shards of their devices. */
export function shardFor(engine: Engine, number: number): Shard {
  return engine.shards[number % engine.shards.length] ?? engine.shards[0];
}

export async function onEveryShard<T>(engine: Engine, run: (shard: Shard, index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(engine.shards.map((shard, index) => run(shard, index)));
}

/** The one number that a query `SELECT toString(…) AS number` gives. */
export async function selectNumber(
  shard: Shard,
  query: Omit<Parameters<Shard['query']>[0], 'format'>,
): Promise<number> {
  const result = await shard.query({ ...query, format: 'JSONEachRow' });
  const [row] = await result.json<{ number: string }>();
  return Number(row?.number ?? 0);
}

/** Each device is on one shard, so the total is a sum. */
export async function sumOverShards(engine: Engine, count: (shard: Shard) => Promise<number>): Promise<number> {
  return (await onEveryShard(engine, count)).reduce((total, ofShard) => total + ofShard, 0);
}

// Everything that runs for a load, and what runs for a job as a whole, has a query id that begins so: the way to find and
// stop it. Another installation on the same engine has loads and jobs of the same numbers, so each statement also names
// its database in its settings, which go along to the other shards.

export function loadQueryPrefix(loadId: number): string {
  return `inlet-load-${loadId}-`;
}

export function jobQueryPrefix(jobId: number): string {
  return `inlet-job-${jobId}-`;
}

/** In system.processes. A worker of the release before names no database: for one release what it runs is ours too. */
export const isOurStatement = `startsWith(initial_query_id, {prefix: String})
  AND Settings['log_comment'] IN (currentDatabase(), '')`;

/** A number of ours at the end, because the engine refuses a query id that is running. */
let serial = 0;

export function newQueryId(prefix: string, step: 'stage' | 'publish' | 'replace' | 'count'): string {
  serial += 1;
  return `${prefix}${step}-${process.pid}-${serial}`;
}

/** While something runs, the server is asked so often whether it is there. */
const usualTimes = { askEveryMs: 5_000, answerWithinMs: 10_000 };
/** So many times in a row without an answer: it is not just busy. */
const mostMissed = 2;

const waiting: ReadonlySet<string> = new Set(['query', 'command', 'exec', 'insert']);

type Given = { readonly abort_signal?: AbortSignal };

/**
 * A statement may run for hours, so no time limit tells a long one from a server that stands still or is cut off. But a
 * server that works answers a ping, on a connection of its own. One that does not has everything that waits for it ended, as if the connection had
 * broken. A process that hardly gets the processor must not take that for a silent server: what it would begin again is
 * more work for a machine that has too much of it.
 */
export function endStalled(shard: Shard, pinger: Shard, { askEveryMs, answerWithinMs } = usualTimes): Shard {
  const state = { running: 0, missed: 0, gone: new AbortController() };
  let timer: NodeJS.Timeout | undefined;

  const ask = async (): Promise<void> => {
    const patience = eventLoopTimeout(answerWithinMs);
    const { success } = await pinger.ping({ select: false, abort_signal: patience.signal });
    patience.end();
    state.missed = success ? 0 : state.missed + 1;
    if (state.missed >= mostMissed) {
      const { gone } = state;
      Object.assign(state, { missed: 0, gone: new AbortController() });
      gone.abort();
    }
  };
  const begin = (): void => {
    state.running += 1;
    timer ??= setInterval(() => void ask(), askEveryMs).unref();
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
      abort_signal.throwIfAborted(); // the client looks only for what comes later
      return await call({ ...given, abort_signal });
    } catch (error) {
      if (!gone.aborted) throw error;
      throw Object.assign(new Error('the engine does not answer', { cause: error }), { code: 'ETIMEDOUT' });
    } finally {
      end();
    }
  };

  return new Proxy(shard, {
    get: (inner, property) => {
      const value: unknown = Reflect.get(inner, property);
      if (typeof value !== 'function') return value;
      if (property === 'close') return () => Promise.all([shard.close(), pinger.close()]).then(() => undefined);
      if (typeof property !== 'string' || !waiting.has(property)) return value.bind(inner) as unknown;
      return (given: Given) => run(async (more): Promise<unknown> => Reflect.apply(value, inner, [more]), given);
    },
  });
}
