import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { closeEngine, onEveryShard } from '../../src/adapters/clickhouse/connect.ts';
import { limitsSchema } from '../../src/adapters/http/routes/get-limits.ts';
import { tieForeignKeys } from '../../src/usecases/admin/manage-partners.ts';
import { measureUsage } from '../../src/usecases/admin/maintenance.ts';
import { startBoundApi } from '../support/bound-api.ts';
import { configFor } from '../support/environment.ts';
import { type TestStores, createStores, withDatabase } from '../support/stores.ts';
import { connectTestEngine } from '../support/test-engine.ts';
import { type BarePartner, type Wired, newBarePartner, wireAll } from '../support/wired.ts';

const settings = {
  INLET_MAX_STORED_ROWS: '1000',
  INLET_MAX_STORED_BYTES: '1000000',
  INLET_MAX_AUDIENCES: '3',
  INLET_MAX_ATTRIBUTES: '4',
  INLET_MAX_FOREIGN_KEYS: '5',
  INLET_MAX_IDEMPOTENCY_KEYS: '6',
};

describe("a partner's quotas", () => {
  let stores: TestStores;
  let deps: Wired;
  let api: { url: string; stop: () => Promise<void> };
  let partner: BarePartner;

  beforeAll(async () => {
    stores = await createStores('two');
    const config = configFor({ ...stores.environment, ...settings });
    deps = await wireAll(config);
    api = await startBoundApi(config, 'of the caller');
  });
  afterAll(async () => {
    await api.stop();
    await deps.close();
    await stores.drop();
  });
  beforeEach(async () => {
    partner = await newBarePartner(deps);
  });

  const call = async (method: string, path: string, body?: object, headers: Record<string, string> = {}) => {
    const response = await fetch(api.url + path, {
      method,
      headers: {
        authorization: `Bearer ${partner.apiKey}`,
        ...(body ? { 'content-type': 'application/json' } : {}),
        ...headers,
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const text = await response.text();
    const record: Record<string, unknown> =
      text === '' ? {} : z.record(z.string(), z.unknown()).parse(JSON.parse(text));
    return { status: response.status, record };
  };
  const quotas = async () =>
    limitsSchema.required({ quotas: true }).parse((await call('GET', '/v1/limits')).record).quotas;
  const newAudience = (name = 'a') => call('POST', '/v2/firstparty/audience', { name, file_path: 'a.csv' });
  const newImport = (headers = {}) =>
    call('POST', '/v1/marketplace/import', { file_path: 'a.csv', key_type: 1 }, headers);
  const exceeded = (detail: string) => ({ status: 422, record: { code: 'quota_exceeded', detail } });
  const measure = async (): Promise<void> => {
    await withDatabase(stores, (client) => client.query('DELETE FROM sweep'));
    await measureUsage(deps);
  };

  it('quotas cover the rows and bytes on all shards, as of the last measurement', async () => {
    const { record } = await newAudience();
    const audience = `/v2/firstparty/audience/${String(record['audience_id'])}`;
    const engine = connectTestEngine(stores);
    for (const [table, columns] of [
      ['device_attributes_local', 'partner_id, attribute_id, device, version'],
      ['audience_devices_local', 'partner_id, audience_id, device, file_id'],
    ]) {
      const query = `INSERT INTO ${table} (${columns}) SELECT ${partner.id}, 1, generateUUIDv4(), 1 FROM numbers(300)`;
      await onEveryShard(engine, (shard) => shard.command({ query }));
    }
    expect((await newImport()).status).toBe(202);
    await measure();
    const { stored_rows: rows, stored_bytes: bytes } = await quotas();
    expect(rows).toMatchObject({ limit: 1000, used: 1200, measured_at: expect.any(String) as unknown });
    expect(bytes.used).toBeGreaterThan(1200 * 16);
    const refusal = exceeded('The quota stored_rows is 1000. 1200 are used.');
    expect(await newImport()).toMatchObject(refusal);
    expect(await newAudience()).toMatchObject(refusal);
    expect(await call('PATCH', audience, { file_path: 'b.csv' })).toMatchObject(refusal);
    // Requests that free space are always accepted.
    await deps.attributes.create(partner.id, { name: 'sport', foreignKeys: ['s'] });
    const removal = await call('DELETE', '/v1/marketplace/import', { key_type: 1, keys: ['s'] });
    expect(removal.status).toBe(202);
    expect((await call('PUT', audience)).status).toBe(204);

    await onEveryShard(engine, (shard) =>
      shard.command({ query: `ALTER TABLE audience_devices_local DROP PARTITION ${partner.id}` }),
    );
    await measure();
    expect((await quotas()).stored_rows.used).toBe(600);
    expect((await newImport()).status).toBe(202);
    await closeEngine(engine);
  });

  it('quotas limit the audiences of a partner and all its customers, even if the audiences are created concurrently', async () => {
    const customer = await deps.customers.create(partner.id, 'shop');
    const token = deps.userTokens.issue();
    await deps.customers.addToken(partner.id, customer.id, token.hash);
    const ofCustomer = await call(
      'POST',
      '/v2/firstparty/audience',
      { name: 'of a customer', file_path: 'a.csv' },
      { 'x-user-token': token.key.reveal() },
    );
    expect(ofCustomer.status).toBe(201);
    const statuses = await Promise.all(Array.from({ length: 6 }, async (_, n) => (await newAudience(`a${n}`)).status));
    expect(statuses.toSorted((a, b) => a - b)).toEqual([201, 201, 422, 422, 422, 422]);
    expect((await quotas()).audiences).toMatchObject({ limit: 3, used: 3 });
    expect(await newAudience()).toMatchObject(exceeded('The quota audiences is 3. 3 are used.'));
  });

  it('quotas limit attributes and foreign keys, even if they are created concurrently', async () => {
    const create = (n: number) => deps.attributes.create(partner.id, { name: `n${n}`, foreignKeys: [`k${n}`] });
    const results = await Promise.allSettled(Array.from({ length: 8 }, (_, n) => create(n)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(4);
    const { attributes, foreign_keys } = await quotas();
    expect([attributes.used, foreign_keys.used]).toEqual([4, 4]);
    await expect(create(9)).rejects.toMatchObject({ code: 'quota_exceeded' });

    const [first, second] = await deps.attributes.list(partner.id, { retired: false });
    const tie = (id: number | undefined, ...keys: string[]) => tieForeignKeys(deps, partner.name, id ?? 0, keys);
    await expect(tie(first?.id, 'x', 'y')).rejects.toMatchObject({
      code: 'quota_exceeded',
      detail: 'The quota foreign_keys is 5. 4 are used, and the request adds 2.',
    });
    await tie(first?.id, 'x');
    // A key that moves to another attribute adds nothing.
    await tie(second?.id, 'x');
    expect((await quotas()).foreign_keys.used).toBe(5);
  });

  it('quotas limit the recorded idempotency keys, but recorded requests can still be replayed', async () => {
    for (let n = 0; n < 7; n++) expect((await newImport({ 'idempotency-key': `key-${n}` })).status).toBe(202);
    await measure();
    expect((await quotas()).idempotency_keys).toMatchObject({ limit: 6, used: 7 });
    const refusal = exceeded('The quota idempotency_keys is 6. 7 are used.');
    expect(await newImport({ 'idempotency-key': 'another' })).toMatchObject(refusal);
    expect((await newImport({ 'idempotency-key': 'key-0' })).status).toBe(202);
    const { record } = await newAudience();
    const clear = `/v2/firstparty/audience/${String(record['audience_id'])}`;
    expect((await call('PUT', clear, undefined, { 'idempotency-key': 'clear' })).status).toBe(204);
    expect((await newImport()).status).toBe(202);
    await withDatabase(stores, (client) => client.query('DELETE FROM accepted_request'));
    await measure();
    expect((await newImport({ 'idempotency-key': 'another' })).status).toBe(202);
  });

  it('quotas for idempotency keys cover audience renames and webhook tests, replays, and changes', async () => {
    const { record: audience } = await newAudience();
    const audiencePath = `/v2/firstparty/audience/${String(audience['audience_id'])}`;
    const created = await call('POST', '/v1/webhooks', { url: 'https://receiver.example/' });
    const webhook = `/v1/webhooks/${String(created.record['webhook_id'])}`;
    await withDatabase(stores, (client) =>
      client.query(`INSERT INTO accepted_request (partner_id, key_hash, fingerprint, result)
        SELECT ${partner.id}, int4send(n), '', 'null' FROM generate_series(1, 7) n`),
    );
    await measure();
    const requests: [method: string, path: string, body?: object][] = [
      ['PATCH', audiencePath, { name: 'b' }],
      ['POST', `${webhook}/test`, {}],
      ['POST', `${webhook}/replay`, { after: 0 }],
      ['PATCH', webhook, { description: 'b' }],
    ];
    const refusal = exceeded('The quota idempotency_keys is 6. 7 are used.');
    for (const [index, [method, path, body]] of requests.entries()) {
      expect(await call(method, path, body, { 'idempotency-key': `new-${index}` }), path).toMatchObject(refusal);
      expect((await call(method, path, body)).status, path).toBeLessThan(300);
    }
    // Requests that stop something are always accepted.
    const disable = await call('PATCH', webhook, { enabled: false }, { 'idempotency-key': 'disable' });
    expect(disable.status).toBe(200);
    expect((await call('DELETE', webhook, undefined, { 'idempotency-key': 'remove' })).status).toBe(204);
    expect((await call('DELETE', audiencePath, undefined, { 'idempotency-key': 'delete' })).status).toBe(204);
  });
});
