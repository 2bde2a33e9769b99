import * as fc from 'fast-check';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { importFileListSchema, queuedSchema } from '../../src/adapters/http/records/import-log.ts';
import { campaignSeed, runsOf } from '../support/campaign.ts';
import { device } from '../support/device-id.ts';
import { type Problem, problemSchema } from '../../src/adapters/http/records/problem.ts';
import { createPartner } from '../support/partners.ts';
import { type ServiceProcess, startWorker, stopProcess } from '../support/running-service.ts';
import { attributesOf } from '../support/shard-tables.ts';
import { type Marketplace, joinMarketplace, startMarketplace } from '../support/start-marketplace.ts';
import { apiClient, readProblem as readBody } from './api-client.ts';

const path = '/v1/marketplace/import';

const post = (
  market: Marketplace,
  id: number,
  action: 'cancel' | 'retry',
  headers = {},
  body: object = {},
): Promise<Response> =>
  market.api.request(`${path}/${id}/${action}`, { method: 'POST', headers, body: JSON.stringify(body) });

async function readProblem(answer: Response, status: number): Promise<Problem> {
  expect(answer.status).toBe(status);
  return problemSchema.parse(await readBody(answer));
}

async function retried(market: Marketplace, id: number, body: object = {}): Promise<number> {
  const answer = await post(market, id, 'retry', {}, body);
  expect(answer.status).toBe(202);
  const { import_log_id } = queuedSchema.parse(await answer.json());
  expect(answer.headers.get('location')).toBe(`${path}/${import_log_id}`);
  return import_log_id;
}

describe('canceling and retrying an import while no worker runs', () => {
  let market: Marketplace;
  let worker: ServiceProcess | null = null;

  beforeAll(async () => {
    market = await startMarketplace('cancel-and-retry');
    await stopProcess(market.service.worker);
    await market.partner.createAttribute('sport', 'key-sport');
    await market.partner.upload('a.csv', `${device(1)},key-sport\n`);
  });
  afterAll(async () => {
    if (worker) await stopProcess(worker.child);
    await market.stop();
  });

  it('cancels a waiting import, which ends as failed and can be retried', async () => {
    const id = await market.api.queue({ file_path: 'a.csv', key_type: 1 });
    expect((await readProblem(await post(market, id, 'retry'), 422)).code).toBe('import_not_retryable');
    const headers = { 'idempotency-key': 'cancel-once' };
    expect((await post(market, id, 'cancel', headers)).status).toBe(204);
    const waiting = await market.api.get(id);
    expect(waiting).toMatchObject({ cancel_requested_by: 'partner', retry_of: null });
    for (const name of [waiting.requested_by, waiting.canceled_by]) expect(name).toMatch(/^key \d+$/);
    worker = await startWorker(market.stores.environment, 'cancel-and-retry');
    const canceled = await market.api.waitForEnd(id);
    expect(canceled).toMatchObject({ status: 3, errors: [{ code: 'job_cancelled' }] });
    expect(canceled.cancel_requested_at).not.toBeNull();
    expect((await post(market, id, 'cancel', headers)).status, 'a replay').toBe(204);
    expect((await readProblem(await post(market, id, 'cancel'), 422)).code).toBe('import_not_cancelable');
    const again = await market.api.waitForEnd(await retried(market, id));
    expect(again).toMatchObject({ status: 2, retry_of: id, unique_devices: '1', cancel_requested_at: null });
    expect((await readProblem(await post(market, again.import_log_id, 'retry'), 422)).detail).toContain('is done');
  });

  it('loads only the failed files, even if an earlier retry was canceled before it listed them', async () => {
    const { api, partner } = market;
    await partner.upload('in/1.csv', `${device(1)},key-sport\n`);
    await partner.upload('in/2.csv', 'nonsense\n');
    const first = await api.queue({ file_path: 'in/', key_type: 1, compressed: false });
    expect(await api.waitForEnd(first)).toMatchObject({ status: 3 });
    await partner.upload('in/2.csv', `${device(2)},key-sport\n`);
    await partner.upload('in/3.csv', `${device(3)},key-sport\n`);
    if (worker) await stopProcess(worker.child);
    const canceled = await retried(market, first, { files: 'failed' });
    expect((await post(market, canceled, 'cancel')).status).toBe(204);
    worker = await startWorker(market.stores.environment, 'cancel-and-retry');
    expect(await api.waitForEnd(canceled)).toMatchObject({ status: 3, retry_of: first });
    const last = await retried(market, canceled, { files: 'failed' });
    expect(await api.waitForEnd(last)).toMatchObject({ status: 2, retry_of: canceled });
    const files = importFileListSchema.parse(await (await api.request(`${path}/${last}/files`)).json());
    expect(files.map(({ file }) => file)).toEqual(['in/2.csv']);
  });
});

describe('canceling and retrying imports', () => {
  let market: Marketplace;

  beforeAll(async () => {
    market = await joinMarketplace();
    await market.partner.createAttribute('golf', 'key-golf');
  });

  it("does not find another partner's import", async () => {
    const id = await market.api.queue({ file_path: 'missing.csv', key_type: 1 });
    const other = await createPartner(market.stores.environment);
    const stranger = { ...market, api: apiClient(market.service.url, other.apiKey) };
    for (const action of ['cancel', 'retry'] as const) {
      expect((await readProblem(await post(stranger, id, action), 404)).code).toBe('not_found');
    }
    expect((await market.api.waitForEnd(id)).errors).toMatchObject([{ code: 'no_files' }]);
  });

  it.each([
    ['no body', {}],
    ['a JSON content type without a body', { headers: { 'content-type': 'application/json' } }],
  ])('accepts a cancel and a retry with %s', async (_what, init) => {
    const id = await market.api.queue({ file_path: 'missing.csv', key_type: 1 });
    const send = (action: string): Promise<Response> =>
      market.api.request(`${path}/${id}/${action}`, { method: 'POST', ...init });
    expect([204, 422]).toContain((await send('cancel')).status);
    await market.api.waitForEnd(id);
    expect((await send('retry')).status).toBe(202);
  });

  it('rejects an unknown query parameter, because it could change what the request does', async () => {
    const listed = async (): Promise<number[]> => (await market.api.list()).map(({ import_log_id }) => import_log_id);
    const before = await listed();
    const body = JSON.stringify({ file_path: 'missing.csv', key_type: 1 });
    const answer = await market.api.request(`${path}?dry_run=true`, { method: 'POST', body });
    expect((await readProblem(answer, 400)).errors).toMatchObject([
      { parameter: 'dry_run', detail: 'Unknown query parameter "dry_run".' },
    ]);
    expect(await listed()).toEqual(before);
  });

  it('rejects the retry of a delete', async () => {
    const body = JSON.stringify({ key_type: 1, keys: ['key-golf'] });
    const answer = await market.api.request(path, { method: 'DELETE', body });
    const { import_log_id: id } = queuedSchema.parse(await answer.json());
    await market.api.waitForEnd(id);
    expect((await readProblem(await post(market, id, 'retry'), 422)).detail).toContain('is a delete');
  });

  it('requires the credentials for a partner-owned bucket again when an import is retried', async () => {
    const credentials = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'x'.repeat(40), region: 'us-east-1' };
    const id = await market.api.queue({
      file_path: 's3://no-such-bucket/a.csv',
      path_type: 1,
      key_type: 1,
      credentials,
    });
    await post(market, id, 'cancel');
    expect((await market.api.waitForEnd(id)).status).toBe(3);
    expect((await readProblem(await post(market, id, 'retry'), 400)).code).toBe('credentials_required');
  });

  it('loads every row exactly once when an import is canceled at a random moment and retried', async () => {
    let serial = 0;
    const attempt = async (delayMs: number, files: number): Promise<void> => {
      serial += 1;
      const attribute = await market.partner.createAttribute(`cancel-${serial}`, `key-${serial}`);
      const devices = Array.from({ length: files * 200 }, (_, n) => device(serial * 10_000 + n));
      for (let n = 0; n < files; n += 1) {
        const rows = devices.slice(n * 200, (n + 1) * 200).map((id) => `${id},key-${serial}\n`);
        await market.partner.upload(`${serial}/${n}.csv`, rows.join(''));
      }
      const id = await market.api.queue({ file_path: `${serial}/`, key_type: 1, compressed: false });
      await pause(delayMs);
      const answer = await post(market, id, 'cancel');
      expect([204, 422]).toContain(answer.status);
      const first = await market.api.waitForEnd(id);
      expect(first.status, 'a canceled import fails').toBe(answer.status === 204 ? 3 : 2);
      const last = first.status === 3 ? await market.api.waitForEnd(await retried(market, id)) : first;
      expect(last.status).toBe(2);
      const all = await attributesOf(market.stores, market.partner.id);
      const loaded = all.filter((row) => row.startsWith(`${attribute} `));
      expect(loaded.toSorted()).toEqual(devices.map((of) => `${attribute} ${of}`).toSorted());
    };
    const moments = fc.tuple(fc.integer({ min: 0, max: 700 }), fc.integer({ min: 1, max: 4 }));
    for (const [delayMs, files] of fc.sample(moments, {
      numRuns: runsOf({ short: 8, long: 200 }),
      seed: campaignSeed,
    })) {
      await attempt(delayMs, files);
    }
  });
});
