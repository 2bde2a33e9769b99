import { commandOnShards, everyServer, selectOnShards } from './shard-tables.ts';
import type { TestStores } from './stores.ts';

/** Otherwise, the background task of a replicated table pauses for up to five minutes. */
const ofReplicated = 'cleanup_delay_period = 1, max_cleanup_delay_period = 1, cleanup_delay_period_random_add = 0';

/**
 * Makes the engine delete the files of replaced parts after one second instead of eight minutes, because erasures wait
 * for it.
 */
export async function deleteReplacedPartsSoon(stores: TestStores): Promise<void> {
  const servers = everyServer(stores);
  const tables = await selectOnShards(
    servers,
    `SELECT DISTINCT name, startsWith(engine, 'Replicated') FROM system.tables
     WHERE database = currentDatabase() AND engine LIKE '%MergeTree'`,
  );
  for (const [name, isReplicated] of new Set(tables).values().map((line) => line.split('\t'))) {
    const settings = isReplicated === '1' ? `old_parts_lifetime = 1, ${ofReplicated}` : 'old_parts_lifetime = 1';
    await commandOnShards(servers, `ALTER TABLE ${name} MODIFY SETTING ${settings}`);
    // Ends the task's current pause.
    if (isReplicated === '1') await commandOnShards(servers, `SYSTEM RESTART REPLICA ${name}`);
  }
}
