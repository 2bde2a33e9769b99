import { commandOnShards, selectOnShards } from './shard-tables.ts';
import type { TestStores } from './stores.ts';

/** Makes the engine delete the files of replaced parts after a second, and not after eight minutes. Erasures wait for it. */
export async function deleteReplacedPartsSoon(stores: TestStores): Promise<void> {
  const tables = await selectOnShards(
    stores,
    `SELECT DISTINCT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree'`,
  );
  for (const table of new Set(tables))
    await commandOnShards(stores, `ALTER TABLE ${table} MODIFY SETTING old_parts_lifetime = 1`);
}
