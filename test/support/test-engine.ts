import { type Engine, connectEngine } from '../../src/adapters/clickhouse/connect.ts';
import type { TestStores } from './stores.ts';

/** The engine with a test's own stores, connected as the service connects. */
export function connectTestEngine({ config, database }: TestStores): Engine {
  return connectEngine({
    urls: config.INLET_CLICKHOUSE_URLS,
    database,
    cluster: config.INLET_CLICKHOUSE_CLUSTER,
    name: 'test',
  });
}
