import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import type { TestStores } from './stores.ts';

/** Logging is off, because the client throws all errors anyway. */
const log = { level: ClickHouseLogLevel.OFF };

/** Reads the local tables of every shard. Returns one line of text per result row. */
export async function selectOnShards(stores: TestStores, query: string): Promise<string[]> {
  const answers = await onShards(stores, async (client) =>
    (await client.query({ query, format: 'TabSeparated' })).text(),
  );
  return answers
    .flatMap((text) => text.split('\n'))
    .filter((line) => line !== '')
    .toSorted();
}

export async function commandOnShards(stores: TestStores, query: string): Promise<void> {
  await onShards(stores, (client) => client.command({ query }));
}

/** Runs a statement on one shard. `index` counts from 0. */
export async function commandOnShard(stores: TestStores, index: number, query: string): Promise<void> {
  await onShards(stores, (client, shard) => (shard === index ? client.command({ query }) : Promise.resolve(null)));
}

/** Adds known devices as an import would. */
export async function makeKnown(stores: TestStores, devices: ReadonlySet<string>): Promise<void> {
  const values = Array.from(devices, (id) => `('${id}')`).join(', ');
  await commandOnShards(
    stores,
    `INSERT INTO known_devices SETTINGS distributed_foreground_insert = 1 VALUES ${values}`,
  );
}

/** Returns the same stores, with which `selectOnShards` and `commandOnShards` use every replica of every shard. */
export function everyServer(stores: TestStores): TestStores {
  const { INLET_CLICKHOUSE_URLS: shards } = stores.config;
  return { ...stores, config: { ...stores.config, INLET_CLICKHOUSE_URLS: shards.flat().map((url) => [url]) } };
}

async function onShards<T>(
  stores: TestStores,
  run: (client: ClickHouseClient, index: number) => Promise<T>,
): Promise<T[]> {
  return Promise.all(
    stores.config.INLET_CLICKHOUSE_URLS.map(async ([url], index) => {
      const client = createClient({
        url: url?.reveal() ?? '',
        database: stores.database,
        request_timeout: 300_000,
        log,
      });
      try {
        return await run(client, index);
      } finally {
        await client.close();
      }
    }),
  );
}

/** Returns a partner's pairs of attribute and device. */
export async function attributesOf(stores: TestStores, partnerId: number): Promise<string[]> {
  return selectOnShards(
    stores,
    `SELECT concat(toString(attribute_id), ' ', toString(device)) FROM device_attributes_local FINAL WHERE partner_id = ${partnerId}`,
  );
}

/** Returns the IDs of all loads that have staged rows on any server, in either kind of table. */
export async function stagedLoads(stores: TestStores): Promise<string[]> {
  return selectOnShards(
    everyServer(stores),
    `SELECT DISTINCT toString(load_id) FROM staged_members_local
     UNION ALL SELECT DISTINCT toString(load_id) FROM staged_attributes_local
     UNION ALL SELECT name FROM system.tables WHERE database = currentDatabase() AND startsWith(name, 'room_')`,
  );
}
