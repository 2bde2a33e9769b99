import { type Engine, closeEngine, connectEngine } from '../../adapters/clickhouse/connect.ts';
import type { Config } from '../config.ts';

/** The shards, in no database of ours: it may not be there yet. */
export async function withServers<T>(config: Config, run: (servers: Engine) => Promise<T>): Promise<T> {
  const servers = connectEngine({
    urls: config.INLET_CLICKHOUSE_URLS,
    database: 'system',
    cluster: config.INLET_CLICKHOUSE_CLUSTER,
    name: 'inlet-backup',
  });
  try {
    return await run(servers);
  } finally {
    await closeEngine(servers);
  }
}
