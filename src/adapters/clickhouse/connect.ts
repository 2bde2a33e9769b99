import { ClickHouseLogLevel, createClient, type ClickHouseClient, type ClickHouseSettings } from '@clickhouse/client';
import { endStalled } from './end-stalled.ts';
import type { Secret } from '../../domain/secret.ts';

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
