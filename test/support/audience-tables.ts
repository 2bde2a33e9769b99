import type { Client } from 'pg';
import { commandOnShards } from './below-the-api.ts';
import { withDatabase, type TestStores } from './stores.ts';

// Audiences and warehouses that are written below the API: in the size that a report is to be tried with, loading files
// would take longer than the test.

/** The device of a number, in the engine's words; spread over the shards like any other. */
export const deviceOfNumber = 'reinterpretAsUUID(sipHash128(number))';

/** Through the distributed table, so that every row lands on its shard; each insert makes parts of its own. */
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
