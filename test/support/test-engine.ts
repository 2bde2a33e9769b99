import { type Engine, connectEngine } from '../../src/adapters/clickhouse/connect.ts';
import type { TestStores } from './stores.ts';

/** Connects to ClickHouse with the stores of a test, as the service does. */
export function connectTestEngine({ config, database }: TestStores): Engine {
  return connectEngine({
    shards: config.INLET_CLICKHOUSE_URLS,
    database,
    cluster: config.INLET_CLICKHOUSE_CLUSTER,
    name: 'test',
  });
}
