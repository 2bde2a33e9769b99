import type { Client } from 'pg';
import { commandOnShards } from './shard-tables.ts';
import { type TestStores, withDatabase } from './stores.ts';

// Writes audiences and warehouses directly to the tables. The reports need so many rows that loading files would take
// longer than the test itself.

/** Returns SQL that derives a device ID from a number. The IDs are distributed over the shards like any other IDs. */
export const deviceOfNumber = 'reinterpretAsUUID(sipHash128(number))';

/** Inserts through the distributed table, so that every row reaches its shard. Each insert creates separate parts. */
export async function insertByNumbers(stores: TestStores, table: string, select: string): Promise<void> {
  const [first] = stores.config.INLET_CLICKHOUSE_URLS;
  if (!first) throw new Error('no shard');
  const oneShard = { ...stores, config: { ...stores.config, INLET_CLICKHOUSE_URLS: [first] } };
  await commandOnShards(oneShard, `INSERT INTO ${table} ${select} SETTINGS distributed_foreground_insert = 1`);
}

export async function insertAudience(
  stores: TestStores,
  partnerId: number,
  name: string,
): Promise<{ audienceId: number; segmentId: number }> {
  return withDatabase(stores, async (client: Client) => {
    const { rows } = await client.query<{ id: string; warehouse_segment_id: string }>(
      'INSERT INTO audience (partner_id, name, last_load_id) VALUES ($1, $2, 1) RETURNING id, warehouse_segment_id',
      [partnerId, name],
    );
    return { audienceId: Number(rows[0]?.id), segmentId: Number(rows[0]?.warehouse_segment_id) };
  });
}
