import { problemSchema } from '../../src/adapters/http/records/problem.ts';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { createPartner, type TestPartner } from '../support/partners.ts';
import type { Service } from '../support/running-service.ts';
import { joinMarketplace } from '../support/start-marketplace.ts';
import type { TestStores } from '../support/stores.ts';
import { apiClient, readProblem, type ApiClient } from './api-client.ts';
import { device } from '../support/device-id.ts';

describe('marketplace import over HTTP', () => {
  let stores: TestStores;
  let service: Service;
  let partner: TestPartner;
  let other: TestPartner;
  let api: ApiClient;
  let sport: number;

  beforeAll(async () => {
    ({ stores, service, partner, api } = await joinMarketplace());
    other = await createPartner(stores.environment);
    sport = await partner.createAttribute('sport', 'crm-sport');
  });

  it('loads a single plain file and reports the result', async () => {
    await partner.upload('day.csv', `${device(1)},${sport}\n${device(2)},${sport}\n${device(1)},${sport}\n`);
    const id = await api.queue({ file_path: 'day.csv', key_type: 0 });
    expect(await api.waitForEnd(id)).toMatchObject({
      import_log_id: id,
      file_path: 'day.csv',
      path_type: 0,
      key_type: 0,
      status: 2,
      log_type: 0,
      keys: null,
      total_rows: '3',
      unique_devices: '2',
      errors: null,
    });
  });

  it('recognizes a gzip file by its extension and resolves foreign keys', async () => {
    await partner.upload('day.csv.gz', gzipSync(`id,keys\r\n${device(3)},crm-sport\r\n`));
    const id = await api.queue({ file_path: 'day.csv.gz', key_type: 1 });
    expect(await api.waitForEnd(id)).toMatchObject({ status: 2, total_rows: '1', unique_devices: '1' });
  });

  it('loads every file under a prefix and counts each device once across files', async () => {
    for (const [index, from] of [0, 5, 10].entries()) {
      const lines = Array.from({ length: 10 }, (_, n) => `${device(100 + from + n)},${sport}`);
      await partner.upload(`daily/part-${index}.gz`, gzipSync(lines.join('\n')));
    }
    await partner.upload('daily/folder/', '');
    const id = await api.queue({ file_path: 'daily/', key_type: 0, compressed: true });
    expect(await api.waitForEnd(id)).toMatchObject({ status: 2, total_rows: '30', unique_devices: '20', errors: null });
  });

  it('skips invalid rows and reports each with its reason', async () => {
    await partner.upload('bad.csv', `${device(1)},${sport}\nnonsense,${sport}\n${device(2)},999999\n`);
    const id = await api.queue({ file_path: 'bad.csv', key_type: 0 });
    const log = await api.waitForEnd(id);
    expect(log).toMatchObject({ status: 2, total_rows: '3', unique_devices: '1' });
    expect(log.errors).toEqual([
      expect.objectContaining({ code: 'invalid_id', file: 'bad.csv', row: 2, column: 'id', count: 1 }),
      expect.objectContaining({ code: 'unknown_key', file: 'bad.csv', row: 3, column: 'keys', count: 1 }),
    ]);
    expect(log.errors?.map(({ message }) => message)).toEqual([
      'The advertising ID does not have the form 8-4-4-4-12 hexadecimal digits.',
      'Unknown key "999999". Check key_type if every row fails.',
    ]);
  });

  it("never resolves another partner's attribute", async () => {
    const foreign = await other.createAttribute('other-sport', 'their-key');
    await partner.upload('theirs.csv', `${device(1)},${foreign}\n`);
    const id = await api.queue({ file_path: 'theirs.csv', key_type: 0 });
    const log = await api.waitForEnd(id);
    expect(log.status).toBe(3);
    expect(log.errors?.map(({ code }) => code)).toEqual(['no_good_row', 'unknown_key']);
  });

  it.each([
    { name: 'a missing file', path: 'nowhere.csv', body: null, code: 'no_files' },
    { name: 'an empty file', path: 'empty.csv', body: '', code: 'empty_file' },
    { name: 'only a header', path: 'header.csv', body: 'id,keys\n', code: 'empty_file' },
    { name: 'plain text named .gz', path: 'plain.csv.gz', body: 'x,y\n', code: 'compression_mismatch' },
    {
      name: 'truncated gzip',
      path: 'cut.csv.gz',
      body: gzipSync('x,y\n'.repeat(9999)).subarray(0, 60),
      code: 'corrupt_gzip',
    },
    { name: 'a file without a valid row', path: 'worthless.csv', body: 'x,y\n', code: 'no_good_row' },
  ])('ends $name with status 3 and $code', async ({ path, body, code }) => {
    if (body !== null) await partner.upload(path, body);
    const log = await api.waitForEnd(await api.queue({ file_path: path, key_type: 0 }));
    expect(log.status).toBe(3);
    expect(log.errors?.[0]?.code).toBe(code);
  });

  it('lists the imports newest first', async () => {
    const first = await api.queue({ file_path: 'day.csv', key_type: 0 });
    const second = await api.queue({ file_path: 'day.csv', key_type: 0 });
    const listed = (await api.list()).map(({ import_log_id }) => import_log_id);
    expect(listed.slice(0, 2)).toEqual([second, first]);
    expect(listed).toEqual(listed.toSorted((a, b) => b - a));
    await api.waitForEnd(second);
    expect((await api.get(first)).status).toBe(2);
  });

  it.each([
    { body: {}, pointers: ['/file_path', '/key_type'], code: 'invalid_request' },
    { body: { file_path: 5, key_type: 2 }, pointers: ['/file_path', '/key_type'], code: 'invalid_request' },
    { body: { file_path: 'a', key_type: 0, surprise: 1 }, pointers: ['/surprise'], code: 'invalid_request' },
    { body: { file_path: '../x', key_type: 0 }, pointers: ['/file_path'], code: 'invalid_file_path' },
    { body: { file_path: 's3://b/x', key_type: 0 }, pointers: ['/file_path'], code: 'invalid_file_path' },
    { body: { file_path: 'daily/', key_type: 0 }, pointers: ['/compressed'], code: 'compressed_required' },
    { body: { file_path: '../x/', key_type: 0 }, pointers: ['/file_path', '/compressed'], code: 'invalid_file_path' },
  ])('rejects $body with $code and pointers to the fields', async ({ body, pointers, code }) => {
    const problem = await api.expectProblem(body);
    expect(problem).toMatchObject({ status: 400, code });
    expect(problem.errors?.map(({ pointer }) => pointer)).toEqual(pointers);
  });

  it("returns 404 for another partner's import and for an unknown import", async () => {
    const id = await api.queue({ file_path: 'day.csv', key_type: 0 });
    const stranger = apiClient(service.url, other.apiKey);
    for (const path of [
      `/v1/marketplace/import/${id}`,
      '/v1/marketplace/import/999999999',
      '/v1/marketplace/import/abc',
    ]) {
      const answer = await stranger.request(path);
      expect(answer.status).toBe(404);
      expect(problemSchema.parse(await readProblem(answer)).code).toBe('not_found');
    }
    expect(await stranger.list()).toEqual([]);
    await api.waitForEnd(id);
  });

  it.each([undefined, 'Bearer wrong', 'Basic eDp5'])(
    'returns 401 for the authorization "%s"',
    async (authorization) => {
      const headers = authorization === undefined ? {} : { authorization };
      const answer = await fetch(`${service.url}/v1/marketplace/import`, { headers });
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
      expect(problemSchema.parse(await readProblem(answer)).code).toBe('unauthenticated');
    },
  );

  it.each([
    { name: 'broken JSON', init: { method: 'POST', body: '{' }, status: 400 },
    {
      name: 'another media type',
      init: { method: 'POST', body: 'x', headers: { 'content-type': 'text/csv' } },
      status: 415,
    },
    {
      name: 'a body that is too large',
      init: { method: 'POST', body: JSON.stringify({ file_path: 'x'.repeat(1_100_000) }) },
      status: 413,
    },
    { name: 'a method that the path does not have', init: { method: 'PATCH' }, status: 405 },
  ])('responds to $name with $status and a problem', async ({ init, status }) => {
    const answer = await api.request('/v1/marketplace/import', init);
    expect(answer.status).toBe(status);
    const problem = problemSchema.parse(await readProblem(answer));
    expect(problem.status).toBe(status);
    expect(answer.headers.get('x-request-id')).toBe(problem.request_id);
  });
});
