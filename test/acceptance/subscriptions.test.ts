import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { importFileListSchema, importLogSchema, queuedSchema } from '../../src/adapters/http/records/import-log.ts';
import { problemSchema } from '../../src/adapters/http/records/problem.ts';
import {
  createdSubscriptionSchema,
  subscriptionListSchema,
  subscriptionObjectListSchema,
  subscriptionSchema,
} from '../../src/adapters/http/records/subscription.ts';
import { device } from '../support/device-id.ts';
import { attributesOf } from '../support/shard-tables.ts';
import { type Marketplace, startMarketplace } from '../support/start-marketplace.ts';
import { waitUntil } from '../support/wait-until.ts';

const path = '/v1/marketplace/subscriptions';
const atOnce = { trigger: { quiet_seconds: 0 } } as const;

describe('subscriptions', () => {
  let market: Marketplace;
  let attribute: number;

  beforeAll(async () => {
    market = await startMarketplace('subscriptions', {
      INLET_SUBSCRIPTION_SECONDS: '1',
      INLET_MAX_SUBSCRIPTIONS: '20',
      INLET_MAX_FILES_PER_PREFIX: '3',
    });
    attribute = await market.partner.createAttribute('sport', 'sport');
  });
  afterAll(() => market.stop());

  const send = async (method: string, target: string, body?: unknown): Promise<Response> =>
    market.api.request(target, { method, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  const read = async (answer: Response, status = 200): Promise<unknown> => {
    const text = await answer.text();
    expect([answer.status, text]).toEqual([status, expect.any(String)]);
    return text === '' ? null : JSON.parse(text);
  };
  const create = async (prefix: string, fields: object = atOnce): Promise<number> => {
    const body = { prefix, key_type: 1, compressed: false, ...fields };
    return createdSubscriptionSchema.strict().parse(await read(await send('POST', path, body), 201)).subscription_id;
  };
  const get = async (id: number) => subscriptionSchema.strict().parse(await read(await send('GET', `${path}/${id}`)));
  const update = async (id: number, body: object) =>
    subscriptionSchema.strict().parse(await read(await send('PATCH', `${path}/${id}`, body)));
  const objects = async (id: number, query = '') =>
    subscriptionObjectListSchema.parse(await read(await send('GET', `${path}/${id}/objects${query}`)));
  /** Returns the paths and states of the objects, oldest first. */
  const states = async (id: number): Promise<string[]> =>
    (await objects(id)).map(({ path: key, state }) => `${key} ${state}`).toReversed();
  const becomes = async (id: number, expected: readonly string[]): Promise<void> => {
    let found: string[] = [];
    await waitUntil(
      `the objects become ${expected.join(', ')}`,
      async () => {
        found = await states(id);
        return found.toSorted().join() === expected.toSorted().join();
      },
      30,
    ).catch(() => expect(found.toSorted()).toEqual(expected.toSorted()));
  };
  const listedAgain = async (id: number): Promise<void> => {
    const before = (await get(id)).last_listed_at;
    await waitUntil('the prefix is listed', async () => (await get(id)).last_listed_at !== before, 30);
  };
  const importsOf = async (id: number) => {
    const logs = z.array(importLogSchema).parse(await read(await send('GET', '/v1/marketplace/import')));
    return logs.filter((log) => log.subscription_id === id);
  };
  const filesOf = async (importLogId: number): Promise<string[]> =>
    importFileListSchema
      .parse(await read(await send('GET', `/v1/marketplace/import/${importLogId}/files`)))
      .map(({ file, status }) => `${file} ${status}`);
  const upload = (name: string, n: number): Promise<void> => market.partner.upload(name, `${device(n)},sport\n`);
  const isVisible = async (n: number): Promise<boolean> =>
    (await attributesOf(market.stores, market.partner.id)).includes(`${attribute} ${device(n)}`);

  it('imports each arriving object exactly once, as an import of the subscription', async () => {
    const id = await create('once/');
    await upload('once/1.csv', 1);
    await becomes(id, ['once/1.csv imported']);
    await upload('once/2.csv', 2);
    await becomes(id, ['once/1.csv imported', 'once/2.csv imported']);
    await listedAgain(id);
    const logs = await importsOf(id);
    expect(logs).toHaveLength(2);
    expect(logs[0]).toMatchObject({ file_path: 'once/', status: 2, total_rows: '1', subscription_id: id });
    expect(await Promise.all(logs.map(({ import_log_id }) => filesOf(import_log_id)))).toEqual([
      ['once/2.csv 2'],
      ['once/1.csv 2'],
    ]);
    expect([await isVisible(1), await isVisible(2)]).toEqual([true, true]);
    expect(await get(id)).toMatchObject({
      waiting_objects: 0,
      waits_for: null,
      last_import_log_id: logs[0]?.import_log_id,
      status: 'active',
    });
  });

  it('imports a new version of an object, but not the same content again', async () => {
    const id = await create('versions/');
    await upload('versions/a.csv', 11);
    await becomes(id, ['versions/a.csv imported']);
    await upload('versions/a.csv', 11);
    await upload('versions/b.csv', 12);
    await becomes(id, ['versions/a.csv imported', 'versions/b.csv imported']);
    await upload('versions/a.csv', 13);
    await becomes(id, ['versions/a.csv imported', 'versions/b.csv imported', 'versions/a.csv imported']);
    expect(await importsOf(id)).toHaveLength(3);
  });

  it('skips or imports objects that already exist, in imports of at most as many files as a job can have', async () => {
    for (const n of [21, 22, 23, 24]) await upload(`old/${n}.csv`, n);
    // The storage returns times in milliseconds, but the comparison is in whole seconds.
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    const skipping = await create('old/', { ...atOnce, existing: 'skip' });
    const importing = await create('old/', { ...atOnce, existing: 'import' });
    const paths = [21, 22, 23, 24].map((n) => `old/${n}.csv`);
    await becomes(
      skipping,
      paths.map((name) => `${name} skipped`),
    );
    await becomes(
      importing,
      paths.map((name) => `${name} imported`),
    );
    expect((await importsOf(importing)).map(({ total_rows: rows }) => rows)).toEqual(['1', '3']);
    await upload('old/25.csv', 25);
    await becomes(skipping, [...paths.map((name) => `${name} skipped`), 'old/25.csv imported']);
    expect(await importsOf(skipping)).toHaveLength(1);
  });

  it('imports a folder when a marker is written after its objects', async () => {
    const id = await create('marked/', { trigger: { marker: '_SUCCESS' } });
    await upload('marked/a/1.csv', 31);
    await upload('marked/b/1.csv', 32);
    await becomes(id, ['marked/a/1.csv waiting', 'marked/b/1.csv waiting']);
    await waitUntil('it waits for a marker', async () => (await get(id)).waits_for === 'marker', 30);
    expect(await get(id)).toMatchObject({ waiting_objects: 2 });
    await market.partner.upload('marked/a/_SUCCESS', '');
    await becomes(id, ['marked/a/1.csv imported', 'marked/b/1.csv waiting', 'marked/a/_SUCCESS marker']);
    // A late object waits for the next marker, although the marker has the same content.
    await upload('marked/a/2.csv', 33);
    await becomes(id, [
      'marked/a/1.csv imported',
      'marked/b/1.csv waiting',
      'marked/a/_SUCCESS marker',
      'marked/a/2.csv waiting',
    ]);
    await listedAgain(id);
    await market.partner.upload('marked/a/_SUCCESS', '');
    await becomes(id, [
      'marked/a/1.csv imported',
      'marked/b/1.csv waiting',
      'marked/a/_SUCCESS marker',
      'marked/a/2.csv imported',
    ]);
    await market.partner.upload('marked/_SUCCESS', '');
    await becomes(id, [
      'marked/a/1.csv imported',
      'marked/b/1.csv imported',
      'marked/a/_SUCCESS marker',
      'marked/a/2.csv imported',
      'marked/_SUCCESS marker',
    ]);
  });

  it('waits for a schedule, and shows when the next import starts', async () => {
    const id = await create('nightly/', { trigger: { every_seconds: 3_600 } });
    await upload('nightly/1.csv', 41);
    await becomes(id, ['nightly/1.csv waiting']);
    await waitUntil('it waits for the schedule', async () => (await get(id)).waits_for === 'schedule', 30);
    const { next_import_at: next } = await get(id);
    expect(Date.parse(next ?? '')).toBeGreaterThan(Date.now());
    const changed = await update(id, { trigger: { daily_at: '02:30' } });
    expect(changed.next_import_at).toMatch(/T02:30:00\.000Z$/);
    await update(id, atOnce);
    await becomes(id, ['nightly/1.csv imported']);
    expect((await get(id)).next_import_at).toBeNull();
  });

  it('records versions that were overwritten or deleted before they were imported', async () => {
    const id = await create('gone/', { trigger: { marker: 'done' } });
    await upload('gone/1.csv', 51);
    await upload('gone/2.csv', 52);
    await becomes(id, ['gone/1.csv waiting', 'gone/2.csv waiting']);
    await upload('gone/1.csv', 53);
    await market.partner.remove('gone/2.csv');
    await becomes(id, ['gone/1.csv overwritten', 'gone/2.csv deleted', 'gone/1.csv waiting']);
    await market.partner.upload('gone/done', '');
    await becomes(id, ['gone/1.csv overwritten', 'gone/2.csv deleted', 'gone/1.csv imported', 'gone/done marker']);
    expect([await isVisible(51), await isVisible(52), await isVisible(53)]).toEqual([false, false, true]);
    expect((await objects(id, '?state=imported')).map(({ path: key }) => key)).toEqual(['gone/1.csv']);
  });

  it('imports a failed version again when its import is retried', async () => {
    const id = await create('failed/');
    await market.partner.upload('failed/1.csv', 'nonsense\n');
    await becomes(id, ['failed/1.csv failed']);
    const [object] = await objects(id);
    expect(object?.error_code).toEqual(expect.any(String));
    await upload('failed/2.csv', 61);
    await becomes(id, ['failed/1.csv failed', 'failed/2.csv imported']);
    const retry = await send('POST', `/v1/marketplace/import/${object?.import_log_id}/retry`, { files: 'failed' });
    const { import_log_id: retried } = queuedSchema.parse(await read(retry, 202));
    const log = await market.api.waitForEnd(retried);
    expect(log).toMatchObject({ status: 3, subscription_id: id, retry_of: object?.import_log_id });
    expect(await filesOf(retried)).toEqual(['failed/1.csv 3']);
    await becomes(id, ['failed/1.csv failed', 'failed/2.csv imported']);
    await upload('failed/1.csv', 62);
    await becomes(id, ['failed/1.csv failed', 'failed/2.csv imported', 'failed/1.csv imported']);
    const again = await market.api.waitForEnd(
      queuedSchema.parse(await read(await send('POST', `/v1/marketplace/import/${retried}/retry`, {}), 202))
        .import_log_id,
    );
    // The failed version no longer exists, so the import has no files.
    expect(again).toMatchObject({ status: 2, total_rows: '0' });
    await becomes(id, ['failed/1.csv overwritten', 'failed/2.csv imported', 'failed/1.csv imported']);
    const refused = problemSchema.parse(
      await read(await send('POST', `/v1/marketplace/import/${retried}/retry`, {}), 422),
    );
    expect(refused.code).toBe('import_not_retryable');
  });

  it('keeps a version as imported if a retry no longer finds it', async () => {
    const id = await create('kept/', { trigger: { marker: 'done' } });
    await upload('kept/1.csv', 66);
    await market.partner.upload('kept/2.csv', 'nonsense\n');
    await market.partner.upload('kept/done', '');
    await becomes(id, ['kept/1.csv imported', 'kept/2.csv failed', 'kept/done marker']);
    const failed = (await objects(id)).find(({ state }) => state === 'failed');
    expect(failed?.import_log_id).toEqual(expect.any(Number));
    await upload('kept/1.csv', 67);
    const answer = await send('POST', `/v1/marketplace/import/${failed?.import_log_id}/retry`, {});
    const again = await market.api.waitForEnd(queuedSchema.parse(await read(answer, 202)).import_log_id);
    expect(again.status).toBe(3);
    await becomes(id, ['kept/1.csv imported', 'kept/2.csv failed', 'kept/done marker', 'kept/1.csv waiting']);
  });

  it('imports nothing while it is paused, and imports what has arrived once it is resumed', async () => {
    const id = await create('paused/');
    const paused = await update(id, { paused: true });
    expect(paused.status).toBe('paused');
    expect(paused.paused_at).not.toBeNull();
    await upload('paused/1.csv', 71);
    const other = await create('paused/');
    await becomes(other, ['paused/1.csv imported']);
    expect(await states(id)).toEqual([]);
    expect(await update(id, { paused: false, key_type: 1 })).toMatchObject({ status: 'active', paused_at: null });
    await becomes(id, ['paused/1.csv imported']);
  });

  it('a subscription is deleted together with its list of objects', async () => {
    const id = await create('deleted/');
    await upload('deleted/1.csv', 81);
    await becomes(id, ['deleted/1.csv imported']);
    expect(await read(await send('DELETE', `${path}/${id}`), 204)).toBeNull();
    for (const [method, target] of [
      ['GET', `${path}/${id}`],
      ['GET', `${path}/${id}/objects`],
      ['DELETE', `${path}/${id}`],
    ] as const)
      expect((await send(method, target)).status).toBe(404);
    expect((await importsOf(id)).length).toBe(1);
  });

  it('rejects invalid prefixes and triggers, and more subscriptions than the quota', async () => {
    const problem = async (fields: object, status = 400) =>
      problemSchema.parse(
        await read(await send('POST', path, { prefix: 'a/', key_type: 1, compressed: true, ...fields }), status),
      );
    for (const prefix of ['', '/a', '../a', 'a/../b', 's3://bucket/a'])
      expect((await problem({ prefix })).errors?.[0]?.pointer).toBe('/prefix');
    // Each import contains only some of the files, so a replacing import would delete the rows of the previous import.
    expect((await problem({ mode: 'replace' })).errors?.[0]?.pointer).toBe('/mode');
    for (const trigger of [
      {},
      { quiet_seconds: 1, marker: 'x' },
      { quiet_seconds: 3_601 },
      { every_seconds: 59 },
      { daily_at: '24:00' },
      { marker: 'a/b' },
      { marker: '' },
    ])
      expect((await problem({ trigger })).errors?.[0]?.pointer).toMatch(/^\/trigger/);
    const list = subscriptionListSchema.parse(await read(await send('GET', `${path}?limit=100`)));
    for (let n = list.length; n < 20; n += 1) await create('many/');
    expect((await problem({}, 422)).code).toBe('quota_exceeded');
    const pages = await market.api.follow(`${path}?limit=7`);
    const ids = (await Promise.all(pages.map(async (page) => subscriptionListSchema.parse(await page.json())))).flat();
    expect(new Set(ids.map(({ subscription_id: id }) => id)).size).toBe(20);
  });
});
