import { commandOnShards, selectOnShards } from '../test/support/below-the-api.ts';
import { waitUntil } from '../test/support/wait-until.ts';
import { deviceSql, type Numbers } from './files.ts';
import type { Running } from './service.ts';

/** In one part on each shard: a warehouse that has settled. */
export async function makeKnownDevices({ stores, engine }: Running, { from, count }: Numbers): Promise<void> {
  await engine.command({
    query: `INSERT INTO known_devices SELECT ${deviceSql('number')} FROM numbers(${from}, ${count})`,
    clickhouse_settings: { distributed_foreground_insert: 1, optimize_on_insert: 0 },
  });
  await commandOnShards(stores, 'OPTIMIZE TABLE known_devices_local FINAL');
}

/** So that no round finds what the round before has left. */
export async function forgetMembers(running: Running): Promise<void> {
  await commandOnShards(running.stores, 'TRUNCATE TABLE audience_devices_local');
  await engineIsQuiet(running);
}

export async function forgetAttributes(running: Running): Promise<void> {
  await commandOnShards(running.stores, 'TRUNCATE TABLE device_attributes_local');
  await commandOnShards(running.stores, 'TRUNCATE TABLE known_devices_local');
  await engineIsQuiet(running);
}

/** Merges that the round before has set off would take the processor from the next. */
export async function engineIsQuiet({ stores }: Running): Promise<void> {
  await waitUntil(
    'no merge runs',
    async () => {
      const merges = `SELECT 1 FROM system.merges WHERE database = '${stores.database}' LIMIT 1`;
      return (await selectOnShards(stores, merges)).length === 0;
    },
    600,
  );
}

/** Rows that anyone can read: those of the active parts. */
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
