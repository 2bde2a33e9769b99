import { afterAll, beforeAll, expect, it } from 'vitest';
import { device } from '../support/device-id.ts';
import { createPartner } from '../support/partners.ts';
import { commandOnShard, commandOnShards } from '../support/shard-tables.ts';
import { type Marketplace, startMarketplace } from '../support/start-marketplace.ts';
import { apiClient } from '../acceptance/api-client.ts';

// A large file adds thousands of parts to its partner's partition. ClickHouse's own limit would then reject every
// partner's inserts.

let market: Marketplace;

beforeAll(async () => {
  market = await startMarketplace('many-parts');
});
afterAll(() => market.stop());

it('other partners can publish while one partner waits for merges', async () => {
  const { stores, partner: large, api, service } = market;
  const small = await createPartner(stores.environment);
  const attributes = await Promise.all([large, small].map((partner) => partner.createAttribute('x')));
  await commandOnShards(stores, 'SYSTEM STOP MERGES device_attributes_local');
  await commandOnShard(
    stores,
    0,
    `CREATE TABLE large AS device_attributes_local ENGINE = MergeTree PARTITION BY partner_id
     ORDER BY (partner_id, attribute_id, device) SETTINGS max_bytes_to_merge_at_max_space_in_pool = 1,
       max_bytes_to_merge_at_min_space_in_pool = 1, parts_to_delay_insert = 100000, parts_to_throw_insert = 100000`,
  );
  await commandOnShard(
    stores,
    0,
    `INSERT INTO large SELECT ${large.id}, 1, generateUUIDv4(), 1, '', 3, 0 FROM numbers(1010)
     SETTINGS max_block_size = 1, min_insert_block_size_rows = 1, min_insert_block_size_bytes = 1, max_insert_threads = 1`,
  );
  await commandOnShard(stores, 0, `ALTER TABLE device_attributes_local ATTACH PARTITION ID '${large.id}' FROM large`);
  await Promise.all([large, small].map((partner, n) => partner.upload('1.csv', `${device(1)},${attributes[n]}\n`)));
  const waiting = await api.queue({ file_path: '1.csv', key_type: 0 });
  const other = apiClient(service.url, small.apiKey);
  const published = await other.waitForEnd(await other.queue({ file_path: '1.csv', key_type: 0 }), 20);
  expect(published).toMatchObject({ status: 2 });
  expect(await api.get(waiting)).toMatchObject({ status: 1 });
  await commandOnShards(stores, `ALTER TABLE device_attributes_local DROP PARTITION ID '${large.id}'`);
  expect(await api.waitForEnd(waiting, 60)).toMatchObject({ status: 2 });
});
