import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { queuedSchema } from '../../src/adapters/http/records/import-log.ts';
import { problemSchema } from '../../src/adapters/http/records/problem.ts';
import { device } from '../support/device-id.ts';
import { createPartner } from '../support/partners.ts';
import { selectOnShards } from '../support/shard-tables.ts';
import { type Marketplace, joinMarketplace } from '../support/start-marketplace.ts';
import { readProblem } from './api-client.ts';

const path = '/v1/marketplace/import';

describe('deleting attribute data', () => {
  let market: Marketplace;
  const ids: Record<string, number> = {};

  beforeAll(async () => {
    market = await joinMarketplace();
    for (const name of ['sport', 'news', 'golf']) ids[name] = await market.partner.createAttribute(name, `key-${name}`);
  });
  afterAll(() => market.stop());

  const remove = (body: unknown): Promise<Response> =>
    market.api.request(path, { method: 'DELETE', body: JSON.stringify(body) });
  const removeAndWait = async (body: unknown) => {
    const answer = await remove(body);
    expect(answer.status).toBe(202);
    const { import_log_id } = queuedSchema.parse(await answer.json());
    expect(answer.headers.get('location')).toBe(`${path}/${import_log_id}`);
    return market.api.waitForEnd(import_log_id);
  };
  const load = async (text: string): Promise<void> => {
    await market.partner.upload('data.csv', text);
    const log = await market.api.waitForEnd(await market.api.queue({ file_path: 'data.csv', key_type: 1 }));
    expect(log.status).toBe(2);
  };
  /** Returns the rows in active parts on every shard, including tombstones and duplicates. */
  const rowsOnDisk = (attribute: string): Promise<string[]> =>
    selectOnShards(market.stores, `SELECT device FROM device_attributes_local WHERE attribute_id = ${ids[attribute]}`);

  it('removes the rows for a foreign key from every part on every shard and reports the count', async () => {
    const rows = Array.from({ length: 500 }, (_, n) => `${device(n)},key-sport|key-news\n`).join('');
    await load(rows);
    await load(rows);
    await load(`${device(0)},1,,1,key-sport\n${device(1)},1,,0,key-golf\n`);
    expect((await rowsOnDisk('sport')).length).toBeGreaterThanOrEqual(500);
    const log = await removeAndWait({ key_type: 1, keys: ['key-sport', 'key-golf'] });
    expect(log).toMatchObject({
      status: 2,
      log_type: 1,
      key_type: 1,
      keys: ['key-sport', 'key-golf'],
      total_rows: '500',
      unique_devices: '499',
      errors: null,
      progress: { percent: 100 },
    });
    expect(await rowsOnDisk('sport')).toEqual([]);
    expect(await rowsOnDisk('golf')).toEqual([]);
    expect(new Set(await rowsOnDisk('news')).size).toBe(500);
  });

  it('a delete runs in submission order, so it removes earlier data and keeps later data', async () => {
    await market.partner.upload('before.csv', `${device(7)},key-sport\n`);
    await market.partner.upload('after.csv', `${device(8)},key-sport\n`);
    await market.api.queue({ file_path: 'before.csv', key_type: 1 });
    const deletion = remove({ key_type: 0, keys: [String(ids['sport'])] });
    expect((await deletion).status).toBe(202);
    await market.api.waitForEnd(await market.api.queue({ file_path: 'after.csv', key_type: 1 }));
    expect(await rowsOnDisk('sport')).toEqual([device(8)]);
  });

  it('deletes the data of a retired attribute, which accepts no more imports', async () => {
    const old = await market.partner.createAttribute('old', 'key-old');
    await load(`${device(9)},key-old\n`);
    await market.partner.operate('attribute', 'retire', String(old), '--partner', market.partner.name);
    await market.partner.upload('late.csv', `${device(9)},key-old\n`);
    const late = await market.api.waitForEnd(await market.api.queue({ file_path: 'late.csv', key_type: 1 }));
    expect(late.errors?.map(({ code }) => code)).toEqual(['no_good_row', 'retired_key']);
    expect(await removeAndWait({ key_type: 0, keys: [String(old)] })).toMatchObject({ status: 2, total_rows: '1' });
  });

  it('a delete of an attribute without data completes with zero counts', async () => {
    await market.partner.createAttribute('empty', 'key-empty');
    expect(await removeAndWait({ key_type: 1, keys: ['key-empty'] })).toMatchObject({
      status: 2,
      total_rows: '0',
      unique_devices: '0',
    });
  });

  it("rejects unknown keys and another partner's keys with 422 and a pointer to each", async () => {
    const other = await createPartner(market.stores.environment);
    const foreign = await other.createAttribute('theirs', 'their-key');
    const cases = [
      { body: { key_type: 1, keys: ['key-sport', 'their-key', 'unknown'] }, pointers: ['/keys/1', '/keys/2'] },
      { body: { key_type: 0, keys: [String(foreign)] }, pointers: ['/keys/0'] },
      { body: { key_type: 0, keys: ['key-sport'] }, pointers: ['/keys/0'] },
    ];
    for (const { body, pointers } of cases) {
      const answer = await remove(body);
      expect(answer.status).toBe(422);
      const problem = problemSchema.parse(await readProblem(answer));
      expect(problem.code).toBe('unknown_keys');
      expect(problem.errors?.map(({ pointer }) => pointer)).toEqual(pointers);
    }
  });

  it.each([
    { body: {}, pointers: ['/key_type', '/keys'] },
    { body: { key_type: 2, keys: ['a'] }, pointers: ['/key_type'] },
    { body: { key_type: 0, keys: [] }, pointers: ['/keys'] },
    { body: { key_type: 0, keys: [5] }, pointers: ['/keys/0'] },
    { body: { key_type: 0, keys: 'a' }, pointers: ['/keys'] },
  ])('rejects $body with 400', async ({ body, pointers }) => {
    const answer = await remove(body);
    expect(answer.status).toBe(400);
    const problem = problemSchema.parse(await readProblem(answer));
    expect(problem.errors?.map(({ pointer }) => pointer)).toEqual(pointers);
  });
});
