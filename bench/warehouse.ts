import { commandOnShards, selectOnShards } from '../test/support/shard-tables.ts';
import { withDatabase } from '../test/support/stores.ts';
import { waitUntil } from '../test/support/wait-until.ts';
import { type Numbers, deviceSql } from './files.ts';
import type { Running } from './service.ts';

/** Merges the known devices into one part per shard, as in a warehouse with no pending merges. */
export async function createKnownDevices({ stores, engine }: Running, { from, count }: Numbers): Promise<void> {
  await engine.command({
    query: `INSERT INTO known_devices SELECT ${deviceSql('number')} FROM numbers(${from}, ${count})`,
    clickhouse_settings: { distributed_foreground_insert: 1, optimize_on_insert: 0 },
  });
  await commandOnShards(stores, 'OPTIMIZE TABLE known_devices_local FINAL');
}

/** Each round starts with an empty table. */
export async function deleteMembers(running: Running): Promise<void> {
  await waitUntilIdle(running);
  await commandOnShards(running.stores, 'TRUNCATE TABLE audience_devices_local');
}

export async function deleteAttributes(running: Running): Promise<void> {
  await waitUntilIdle(running);
  await commandOnShards(running.stores, 'TRUNCATE TABLE device_attributes_local');
  await commandOnShards(running.stores, 'TRUNCATE TABLE known_devices_local');
}

export async function waitUntilFolded({ stores }: Running): Promise<void> {
  const isIndexed = (): Promise<boolean> =>
    withDatabase(stores, async (client) => (await client.query('SELECT FROM index_change LIMIT 1')).rowCount === 0);
  await waitUntil('the device index is up to date', isIndexed, 3_600);
}

/** Waits for the previous round's merges and folds, which would take CPU time from the next round. */
export async function waitUntilIdle(running: Running): Promise<void> {
  const { stores } = running;
  await waitUntilFolded(running);
  await waitUntil(
    'no merge runs',
    async () => {
      const merges = `SELECT 1 FROM system.merges WHERE database = '${stores.database}' LIMIT 1`;
      return (await selectOnShards(stores, merges)).length === 0;
    },
    600,
  );
}

/** Returns the number of published rows, which are the rows in active parts. */
export async function publishedRows(
  { stores }: Running,
  table: 'audience_devices_local' | 'device_attributes_local',
): Promise<number> {
  const rows = await selectOnShards(
    stores,
    `SELECT sum(rows) FROM system.parts
     WHERE active AND database = '${stores.database}' AND table = '${table}'`,
  );
  return rows.reduce((sum, some) => sum + Number(some), 0);
}
