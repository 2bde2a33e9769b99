import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ImportLogRecord, queuedSchema } from '../../src/adapters/http/records/import-log.ts';
import { readAddresses } from '../../stack/addresses.ts';
import { apiClient } from '../acceptance/api-client.ts';
import { device } from '../support/device-id.ts';
import { type OwnBucket, createOwnBucket } from '../support/own-bucket.ts';
import { createPartner } from '../support/partners.ts';
import { type Proxy, startProxy } from '../support/proxy.ts';
import { type Marketplace, startMarketplace } from '../support/start-marketplace.ts';
import { commandOnShards } from '../support/shard-tables.ts';
import { withDatabase } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';

let market: Marketplace;
let storage: Proxy;
let own: OwnBucket;

beforeAll(async () => {
  storage = await startProxy(readAddresses().s3.endpoint);
  market = await startMarketplace('fair-shares', {
    INLET_PARTNER_S3_ENDPOINT: storage.address,
    INLET_WORKER_FILES: '4',
    INLET_WORKER_LANES: '1',
  });
  own = await createOwnBucket();
});
afterAll(async () => {
  await storage.close(); // ends the hanging loads
  await market.stop();
});

/** Imports a small file for a new partner within 20 s. */
async function importSmallFile(): Promise<ImportLogRecord> {
  const { stores, service } = market;
  const partner = await createPartner(stores.environment);
  await partner.createAttribute('x', 'x');
  await partner.upload('small.csv', `${device(1)},x\n`);
  const client = apiClient(service.url, partner.apiKey);
  return client.waitForEnd(await client.queue({ file_path: 'small.csv', key_type: 1 }), 20);
}

it("imports a small file while another partner's large files load slowly", async () => {
  const { partner, api } = market;
  await partner.createAttribute('x', 'x');
  const large = `${device(1)},x\n`.repeat(220_000);
  for (const name of ['1', '2', '3', '4']) await own.upload(`large/${name}.csv`, large);
  storage.make({ is: 'slow', bytesPerSecond: 50_000 });
  const slow = await api.queue({
    file_path: `s3://${own.bucket}/large/`,
    path_type: 1,
    key_type: 1,
    compressed: false,
    credentials: own.credentials,
  });
  await waitUntil('the large files are loading', async () => (await api.get(slow)).progress.bytes_read > 0);
  expect(await importSmallFile()).toMatchObject({ status: 2 });
  expect(await api.get(slow)).toMatchObject({ status: 1 });
});

it("imports a small file while another partner's small files hang", async () => {
  const { stores, service } = market;
  const hanging = await createPartner(stores.environment);
  await hanging.createAttribute('x', 'x');
  const small = `${device(1)},x\n`.repeat(50_000);
  for (const name of ['1', '2', '3', '4']) await own.upload(`small/${name}.csv`, small);
  storage.make({ is: 'slow', bytesPerSecond: 2_000 });
  await apiClient(service.url, hanging.apiKey).queue({
    file_path: `s3://${own.bucket}/small/`,
    path_type: 1,
    key_type: 1,
    compressed: false,
    credentials: own.credentials,
  });
  await waitUntil('a small file hangs', () =>
    withDatabase(stores, async (client) => {
      const query = 'SELECT FROM job_file WHERE partner_id = $1 AND status = 1';
      return ((await client.query(query, [hanging.id])).rowCount ?? 0) > 0;
    }),
  );
  expect(await importSmallFile()).toMatchObject({ status: 2 });
});

it("imports a file while ClickHouse removes another partner's rows", async () => {
  const { stores, service } = market;
  const deleting = await createPartner(stores.environment);
  await deleting.createAttribute('x', 'x');
  await deleting.upload('old.csv', `${device(1)},x\n`);
  const deletingApi = apiClient(service.url, deleting.apiKey);
  await deletingApi.waitForEnd(await deletingApi.queue({ file_path: 'old.csv', key_type: 1 }), 20);
  // Mutations do not run without merges.
  await commandOnShards(stores, 'SYSTEM STOP MERGES device_attributes_local');
  const body = JSON.stringify({ keys: ['x'], key_type: 1 });
  const answer = await deletingApi.request('/v1/marketplace/import', { method: 'DELETE', body });
  const { import_log_id: deleteId } = queuedSchema.parse(await answer.json());
  await waitUntil('the delete runs', async () => (await deletingApi.get(deleteId)).status === 1);
  expect(await importSmallFile()).toMatchObject({ status: 2 });
  expect(await deletingApi.get(deleteId)).toMatchObject({ status: 1 });
  await commandOnShards(stores, 'SYSTEM START MERGES device_attributes_local');
  expect(await deletingApi.waitForEnd(deleteId, 30)).toMatchObject({ status: 2 });
});
