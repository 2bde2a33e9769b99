import { CreateMultipartUploadCommand, ListMultipartUploadsCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { uploadSchema } from '../../src/adapters/http/records/upload.ts';
import { ensureUploadRules, findMissingRules } from '../../src/adapters/s3/bucket-settings.ts';
import { connectSharedStorage } from '../../src/entry/shared-bucket.ts';
import { abortExpiredUploads } from '../../src/usecases/admin/sweep-uploads.ts';
import { createCustomer, createUserToken } from '../../src/usecases/admin/manage-keys.ts';
import { consoleOrigin } from '../../stack/service-environment.ts';
import { rows } from '../support/file-rows.ts';
import { addApiKey } from '../support/add-api-key.ts';
import { rememberSecrets } from '../support/known-secrets.ts';
import { type TestPartner, createPartner } from '../support/partners.ts';
import { type Audiences, joinAudiences } from '../support/start-audiences.ts';
import { withDatabase } from '../support/stores.ts';
import { type Wired, wireUp } from '../support/wired.ts';
import { apiClient } from './api-client.ts';

type Upload = z.output<typeof uploadSchema>;

/** The bucket is shared with other suites, and its rules allow one origin. */
const origin = consoleOrigin;
const partBytes = 8 * 1024 * 1024;

describe('uploads', () => {
  let market: Audiences;
  let deps: Wired;
  let other: TestPartner;

  beforeAll(async () => {
    market = await joinAudiences();
    deps = await wireUp(market.stores);
    other = await createPartner(market.stores.environment);
  });
  afterAll(async () => {
    await deps.close();
    await market.stop();
  });

  const call = (method: string, path: string, body?: object, headers: Record<string, string> = {}) =>
    market.api.request(path, {
      method,
      headers: { ...headers, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
  const start = async (filePath: string, bytes: number): Promise<Upload> => {
    const answer = await call('POST', '/v1/uploads', { file_path: filePath, bytes });
    expect(answer.status).toBe(201);
    const upload = uploadSchema.parse(await answer.json());
    expect(answer.headers.get('location')).toBe(`/v1/uploads/${upload.upload_id}`);
    return upload;
  };
  const get = async ({ upload_id }: Upload): Promise<Upload> =>
    uploadSchema.parse(await (await call('GET', `/v1/uploads/${upload_id}`)).json());
  const complete = ({ upload_id }: Upload) => call('POST', `/v1/uploads/${upload_id}/complete`);
  const put = (url: string, body: Uint8Array | string) =>
    fetch(url, { method: 'PUT', body: typeof body === 'string' ? body : Buffer.from(body), headers: { origin } });
  const urlOf = (upload: Upload, part: number): string => {
    const url = upload.parts.find(({ part_number }) => part_number === part)?.url;
    if (url === undefined) throw new Error(`part ${part} has no URL`);
    return url;
  };

  it('an upload stores a file that an audience then loads', async () => {
    const content = rows(0, 50);
    const upload = await start('uploads/a b+ü(1).csv', content.length);
    expect(upload).toMatchObject({ part_bytes: partBytes, uploaded: [], parts: [{ part_number: 1 }] });
    expect(Date.parse(upload.expires_at) - Date.now()).toBeGreaterThan(23 * 3_600_000);
    const stored = await put(urlOf(upload, 1), content);
    expect([stored.status, stored.headers.get('etag')]).toEqual([200, expect.any(String)]);
    const answer = await complete(upload);
    expect([answer.status, await answer.json()]).toEqual([200, { file_path: 'uploads/a b+ü(1).csv' }]);
    const { audienceId } = await market.audiences.create('Uploaded', upload.file_path);
    expect(await market.audiences.settled(audienceId)).toMatchObject({ status: 2, unique_devices: 50 });
  });

  it('an interrupted upload continues with the missing parts', async () => {
    const bytes = 2 * partBytes + 5;
    const upload = await start('uploads/large.csv', bytes);
    expect(upload.parts.map(({ part_number }) => part_number)).toEqual([1, 2, 3]);
    const content = Buffer.alloc(bytes, 'x');
    for (const part of [3, 1]) {
      const stored = await put(urlOf(upload, part), content.subarray((part - 1) * partBytes, part * partBytes));
      expect(stored.status).toBe(200);
    }
    const incomplete = await complete(upload);
    expect([incomplete.status, await incomplete.json()]).toMatchObject([
      422,
      { code: 'upload_incomplete', detail: 'Part 2 of the upload is not stored.' },
    ]);
    const resumed = await get(upload);
    expect(resumed.uploaded.map((part) => [part.part_number, part.bytes])).toEqual([
      [1, partBytes],
      [3, 5],
    ]);
    expect(resumed.parts.map(({ part_number }) => part_number)).toEqual([2]);
    await put(urlOf(resumed, 2), content.subarray(partBytes, 2 * partBytes));
    expect((await complete(upload)).status).toBe(200);
    // A client that did not receive the response completes the upload again.
    expect((await complete(upload)).status).toBe(200);
    expect((await call('GET', `/v1/uploads/${upload.upload_id}`)).status).toBe(404);
  });

  it('each upload URL accepts only the announced part', async () => {
    const upload = await start('uploads/exact.csv', 5);
    const url = urlOf(upload, 1);
    expect((await put(url, 'longer')).status).toBe(403);
    expect((await put(url.replace('partNumber=1', 'partNumber=2'), '12345')).status).toBe(403);
    expect((await put(url.replace('exact.csv', 'other.csv'), '12345')).status).toBe(403);
    expect((await fetch(url)).status).toBe(403);
    expect((await put(url, '12345')).status).toBe(200);
  });

  it('upload URLs expire after an hour', async () => {
    const url = new URL(urlOf(await start('uploads/expiry.csv', 5), 1));
    expect(url.searchParams.get('X-Amz-Expires')).toBe('3600');
  });

  it('an aborted upload is removed, and can be aborted again', async () => {
    const upload = await start('uploads/aborted.csv', 5);
    await put(urlOf(upload, 1), '12345');
    for (let attempt = 0; attempt < 2; attempt++) {
      expect((await call('DELETE', `/v1/uploads/${upload.upload_id}`)).status).toBe(204);
    }
    for (const answer of [await complete(upload), await call('GET', `/v1/uploads/${upload.upload_id}`)]) {
      expect([answer.status, await answer.json()]).toMatchObject([404, { code: 'not_found' }]);
    }
    expect((await put(urlOf(upload, 1), '12345')).status).toBe(404);
  });

  it('an upload cannot be completed if another file was stored at its path', async () => {
    const upload = await start('uploads/replaced.csv', 5);
    await call('DELETE', `/v1/uploads/${upload.upload_id}`);
    await market.partner.upload('uploads/replaced.csv', '12345');
    expect((await complete(upload)).status).toBe(404);
  });

  it('a partner can have at most 100 unfinished uploads, not counting uploads with storage credentials', async () => {
    const busy = await createPartner(market.stores.environment);
    const client = apiClient(market.service.url, busy.apiKey);
    const send = (path: string, method = 'POST', body?: object) =>
      client.request(path, { method, ...(body ? { body: JSON.stringify(body) } : {}) });
    const startOf = (path: string) => send('/v1/uploads', 'POST', { file_path: path, bytes: 1 });
    const s3 = connectSharedStorage(market.stores.config);
    const unfinished = async () => {
      const command = new ListMultipartUploadsCommand({ Bucket: busy.bucket, Prefix: busy.prefix });
      const { Uploads: uploads = [] } = await s3.send(command);
      return uploads.map(({ Key: key }) => key?.slice(busy.prefix.length));
    };
    await busy.s3.send(new CreateMultipartUploadCommand({ Bucket: busy.bucket, Key: `${busy.prefix}direct.csv` }));
    await withDatabase(market.stores, (db) =>
      db.query(
        `INSERT INTO upload (partner_id, object_key, storage_id, expires_at)
         SELECT $1, $2 || n, n::text, now() + interval '1 hour' FROM generate_series(1, 99) n`,
        [busy.id, `${busy.prefix}open/`],
      ),
    );
    const last = await startOf('one-hundred.csv');
    expect(last.status).toBe(201);
    const refused = await startOf('too-many.csv');
    expect([refused.status, await refused.json()]).toMatchObject([429, { code: 'too_many_uploads' }]);
    expect(await unfinished()).toEqual(['direct.csv', 'one-hundred.csv']);

    // Aborting or completing an upload makes room for another one.
    const { upload_id } = uploadSchema.parse(await last.json());
    expect((await send(`/v1/uploads/${upload_id}`, 'DELETE')).status).toBe(204);
    const small = uploadSchema.parse(await (await startOf('small.csv')).json());
    expect((await startOf('too-many.csv')).status).toBe(429);
    await put(urlOf(small, 1), '1');
    expect((await send(`/v1/uploads/${small.upload_id}/complete`)).status).toBe(200);
    expect((await startOf('next.csv')).status).toBe(201);

    // Expired uploads do not count, and workers remove their parts. They do not remove the parts of uploads that the
    // partner started with storage credentials.
    const expire = (age: string) =>
      withDatabase(market.stores, (db) =>
        db.query('UPDATE upload SET expires_at = now() - $2::interval WHERE partner_id = $1', [busy.id, age]),
      );
    await expire('10 minutes');
    expect((await startOf('after.csv')).status).toBe(201);
    await abortExpiredUploads(deps, new AbortController().signal);
    expect(await unfinished()).toEqual(['after.csv', 'direct.csv', 'next.csv']);
    await expire('2 hours');
    await abortExpiredUploads(deps, new AbortController().signal);
    expect(await unfinished()).toEqual(['direct.csv']);
    await deps.uploadSweep.removeEnded(1_000);
    const { rowCount } = await withDatabase(market.stores, (db) =>
      db.query('SELECT FROM upload WHERE partner_id = $1', [busy.id]),
    );
    expect(rowCount).toBe(0);
    s3.destroy();
  });

  it('an upload is invisible to other partners', async () => {
    const upload = await start('uploads/mine.csv', 5);
    const intruder = apiClient(market.service.url, other.apiKey);
    for (const [method, path] of [
      ['GET', ''],
      ['POST', '/complete'],
      ['DELETE', ''],
    ] as const) {
      const foreign = await intruder.request(`/v1/uploads/${upload.upload_id}${path}`, { method });
      const unknown = await intruder.request(`/v1/uploads/unknown${path}`, { method });
      expect([foreign.status, unknown.status]).toEqual([404, 404]);
      expect(await foreign.json()).toMatchObject({
        detail: 'The upload does not exist, has expired, or was aborted.',
      });
    }
    expect((await get(upload)).uploaded).toEqual([]);
  });

  it.each([
    [{ file_path: '../x.csv', bytes: 1 }, 'invalid_file_path', '/file_path'],
    [{ file_path: '/x.csv', bytes: 1 }, 'invalid_file_path', '/file_path'],
    [{ file_path: 'folder/', bytes: 1 }, 'invalid_file_path', '/file_path'],
    [{ file_path: '', bytes: 1 }, 'invalid_file_path', '/file_path'],
    [{ file_path: 's3://bucket/x.csv', bytes: 1 }, 'invalid_file_path', '/file_path'],
    [{ file_path: 'x.csv', bytes: 0 }, 'invalid_request', '/bytes'],
    [{ file_path: 'x.csv', bytes: 1.5 }, 'invalid_request', '/bytes'],
    [{ file_path: 'x.csv.gz', bytes: 5_000_000_001 }, 'invalid_request', '/bytes'],
    [{ file_path: 'x.csv', bytes: 50_000_000_001 }, 'invalid_request', '/bytes'],
    [{ file_path: 'x.csv' }, 'invalid_request', '/bytes'],
    [{ bytes: 1 }, 'invalid_request', '/file_path'],
  ])('an upload request with the body %j is rejected', async (body, code, pointer) => {
    const answer = await call('POST', '/v1/uploads', body);
    expect([answer.status, await answer.json()]).toMatchObject([400, { code, errors: [{ pointer }] }]);
  });

  it("a customer's uploads are stored separately, and only the customer can continue them", async () => {
    await createCustomer(deps, market.partner.name, 'Retail');
    const { token } = await createUserToken(deps, market.partner.name, 'Retail');
    rememberSecrets(token.reveal());
    const headers = { 'x-user-token': token.reveal() };
    const answer = await call('POST', '/v1/uploads', { file_path: 'mine.csv', bytes: 5 }, headers);
    const upload = uploadSchema.parse(await answer.json());
    expect(upload.file_path).toMatch(/^customers\/\d+\/mine\.csv$/);
    expect((await call('GET', `/v1/uploads/${upload.upload_id}`)).status).toBe(404);
    expect((await call('GET', `/v1/uploads/${upload.upload_id}`, undefined, headers)).status).toBe(200);
    const outside = await call('POST', '/v1/uploads', { file_path: '../../a.csv', bytes: 5 }, headers);
    expect(outside.status).toBe(400);
  });

  it('uploads require one of two scopes', async () => {
    for (const [scope, status] of [
      ['marketplace:write', 201],
      ['audience:write', 201],
      ['marketplace:read', 403],
      ['audience:read', 403],
    ] as const) {
      const { apiKey } = await addApiKey(deps, market.partner, { scopes: [scope] });
      const answer = await apiClient(market.service.url, apiKey).request('/v1/uploads', {
        method: 'POST',
        body: JSON.stringify({ file_path: 'uploads/scope.csv', bytes: 1 }),
      });
      expect(answer.status, scope).toBe(status);
    }
  });

  it('the error names both scopes if the key has neither', async () => {
    const { apiKey } = await addApiKey(deps, market.partner, { scopes: ['audience:read'] });
    const answer = await apiClient(market.service.url, apiKey).request('/v1/uploads', { method: 'POST', body: '{}' });
    expect(await answer.json()).toMatchObject({
      code: 'scope_missing',
      detail: 'The API key lacks the scope "marketplace:write" or "audience:write".',
    });
  });

  it('the bucket allows browser uploads only from the origin of the console', async () => {
    const { config } = market.stores;
    const s3 = connectSharedStorage(config);
    const bucket = config.INLET_S3_BUCKET;
    await ensureUploadRules(s3, bucket, origin);
    expect(await findMissingRules(s3, bucket, origin)).toEqual([]);
    expect(await ensureUploadRules(s3, bucket, origin)).toEqual([]);
    const upload = await start('uploads/browser.csv', 5);
    const preflight = (from: string) =>
      fetch(urlOf(upload, 1), {
        method: 'OPTIONS',
        headers: { origin: from, 'access-control-request-method': 'PUT' },
      });
    const allowed = await preflight(origin);
    expect([allowed.status, allowed.headers.get('access-control-allow-origin')]).toEqual([200, origin]);
    expect((await preflight('https://elsewhere.example.com')).headers.get('access-control-allow-origin')).toBeNull();
    const stored = await put(urlOf(upload, 1), '12345');
    expect(stored.status).toBe(200);
    expect(stored.headers.get('access-control-allow-origin')).toBe(origin);
    expect(stored.headers.get('access-control-expose-headers')?.toLowerCase()).toContain('etag');
    s3.destroy();
  });
});
