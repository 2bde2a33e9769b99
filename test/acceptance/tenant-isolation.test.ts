import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { attributeListSchema } from '../../src/adapters/http/routes/list-attributes.ts';
import { createOwnBucket } from '../support/own-bucket.ts';
import { type TestPartner, createPartner } from '../support/partners.ts';
import { attributesOf } from '../support/shard-tables.ts';
import { type Marketplace, joinMarketplace } from '../support/start-marketplace.ts';
import { type ApiClient, apiClient } from './api-client.ts';

// One partner has data. Another partner tries to read or change the data with every operation.

const device = '6d92078a-8246-4ba4-ae5b-76104861e7dc';

describe('tenant isolation', () => {
  let market: Marketplace;
  let attribute: number;
  let importLogId: number;
  let intruder: TestPartner;
  let api: ApiClient;
  let before: string[];

  beforeAll(async () => {
    market = await joinMarketplace();
    attribute = await market.partner.createAttribute('sport', 'secret-key');
    await market.partner.upload('mine.csv', `${device},secret-key\nnonsense,secret-key\n`);
    importLogId = await market.api.queue({ file_path: 'mine.csv', key_type: 1 });
    await market.api.waitForEnd(importLogId);
    before = await attributesOf(market.stores, market.partner.id);
    intruder = await createPartner(market.stores.environment);
    api = apiClient(market.service.url, intruder.apiKey);
  });
  afterAll(() => market.stop());

  it.each(['', '/errors', '/files', '/events'])(
    "another partner gets 404 from GET /v1/marketplace/import/<id>%s for the first partner's import",
    async (sub) => {
      const foreign = await api.request(`/v1/marketplace/import/${importLogId}${sub}`);
      const missing = await api.request(`/v1/marketplace/import/999999${sub}`);
      expect([foreign.status, missing.status]).toEqual([404, 404]);
      // The two responses differ only in the requested IDs.
      const [one, other] = [await foreign.text(), await missing.text()].map((text) =>
        text.replaceAll(/"request_id":"[^"]*"/g, '').replaceAll(/\d{1,6}/g, 'N'),
      );
      expect(one).toBe(other);
    },
  );

  it('another partner gets only its own data from GET /v1/marketplace/import', async () => {
    expect(await api.list()).toEqual([]);
  });

  it('another partner gets only its own data from GET /v1/marketplace/attributes', async () => {
    const answer = await api.request('/v1/marketplace/attributes');
    expect(attributeListSchema.parse(await answer.json())).toEqual([]);
  });

  it.each(['mine.csv', ''])(
    "another partner cannot import from the first partner's prefix with any path (%s)",
    async (name) => {
      for (const path of [`../${market.partner.name}/${name}`, `/${market.partner.name}/${name}`]) {
        expect(await api.expectProblem({ file_path: path, key_type: 1, compressed: false })).toMatchObject({
          status: 400,
        });
      }
      const id = await api.queue({ file_path: `${market.partner.name}/mine.csv`, key_type: 1 });
      expect((await api.waitForEnd(id)).errors?.map(({ code }) => code)).toEqual(['no_files']);
    },
  );

  it("another partner cannot import with the first partner's attribute IDs and foreign keys", async () => {
    await intruder.createAttribute('own', 'own-key');
    for (const [key_type, key] of [
      [0, attribute],
      [1, 'secret-key'],
    ] as const) {
      await intruder.upload('try.csv', `${device},${key}\n`);
      const log = await api.waitForEnd(await api.queue({ file_path: 'try.csv', key_type }));
      expect(log.errors?.map(({ code }) => code)).toEqual(['no_good_row', 'unknown_key']);
    }
  });

  it('another partner cannot import from another bucket or the shared bucket with its own credentials', async () => {
    const own = await createOwnBucket();
    for (const bucket of [market.partner.bucket, (await createOwnBucket()).bucket]) {
      const log = await api.waitForEnd(
        await api.queue({
          file_path: `s3://${bucket}/${market.partner.prefix}mine.csv`,
          path_type: 1,
          key_type: 1,
          credentials: own.credentials,
        }),
      );
      expect(log.errors?.map(({ code }) => code)).toEqual(['storage_access_denied']);
    }
  });

  it("another partner cannot delete the first partner's attribute data", async () => {
    for (const body of [
      { key_type: 0, keys: [String(attribute)] },
      { key_type: 1, keys: ['secret-key'] },
    ]) {
      const answer = await api.request('/v1/marketplace/import', { method: 'DELETE', body: JSON.stringify(body) });
      expect(answer.status).toBe(422);
    }
  });

  it("another partner cannot read or change the first partner's attributes, keys, customers, and user tokens", async () => {
    const key = await market.partner.createKey('mine');
    const customer = await market.partner.createCustomer('mine');
    const paths = ['/v1/marketplace/attributes', '/v1/keys', '/v1/customers', `/v1/customers/${customer.id}/tokens`];
    const read = () =>
      Promise.all(
        paths.map(async (path) =>
          (await (await market.api.request(path)).text()).replaceAll(/"last_used_at":("[^"]*"|null)/g, ''),
        ),
      );
    const owned = await read();
    const keys = { foreign_keys: ['secret-key'] };
    const calls: [string, string, object?][] = [
      ['PATCH', `/v1/marketplace/attributes/${attribute}`, { name: 'theirs' }],
      ['POST', `/v1/marketplace/attributes/${attribute}/retire`, {}],
      ['PUT', `/v1/marketplace/attributes/${attribute}/foreign-keys`, keys],
      ['DELETE', `/v1/marketplace/attributes/${attribute}/foreign-keys`, keys],
      ['POST', `/v1/keys/${key.id}/rotate`, { overlap_hours: 0 }],
      ['DELETE', `/v1/keys/${key.id}?force=true`],
      ['PATCH', `/v1/customers/${customer.id}`, { name: 'theirs' }],
      ['DELETE', `/v1/customers/${customer.id}`],
      ['GET', `/v1/customers/${customer.id}/tokens`],
      ['POST', `/v1/customers/${customer.id}/tokens`, {}],
      ['DELETE', `/v1/customers/${customer.id}/tokens/${customer.tokenId}`],
    ];
    for (const [method, path, body] of calls) {
      const init = body === undefined ? { method } : { method, body: JSON.stringify(body) };
      expect((await api.request(path, init)).status, `${method} ${path}`).toBe(404);
    }
    expect(await read()).toEqual(owned);
  });

  it("the first partner's data is unchanged after all of the other partner's attempts", async () => {
    expect(before).toEqual([`${attribute} ${device}`]);
    expect(await attributesOf(market.stores, market.partner.id)).toEqual(before);
  });
});
