import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createOwnBucket, type OwnBucket } from '../support/own-bucket.ts';
import { startProxy, type Proxy } from '../support/proxy.ts';
import { loggedStatementsThatHold, tablesThatHold } from '../support/search-stores.ts';
import { startMarketplace, type Marketplace } from '../support/start-marketplace.ts';
import { withDatabase } from '../support/stores.ts';
import { device } from '../support/device-id.ts';
import { waitUntil } from '../support/wait-until.ts';
import { readAddresses } from '../../stack/addresses.ts';

describe("importing from a partner's own bucket", () => {
  let market: Marketplace;
  let storage: Proxy;
  let own: OwnBucket;
  let stranger: OwnBucket;

  beforeAll(async () => {
    storage = await startProxy(readAddresses().s3.endpoint);
    market = await startMarketplace('partner-bucket', { INLET_PARTNER_S3_ENDPOINT: storage.address });
    await market.partner.createAttribute('sport', 'sport');
    [own, stranger] = await Promise.all([createOwnBucket(), createOwnBucket()]);
    await own.upload('in/day.csv.gz', gzipSync(`${device(1)},sport\n${device(2)},sport\n`));
    await own.upload('in/night.csv.gz', gzipSync(`${device(2)},sport\nnonsense,sport\n`));
    await stranger.upload('in/day.csv', `${device(3)},sport\n`);
  });
  afterAll(async () => {
    await market.stop();
    await storage.close();
  });

  afterEach(() => storage.make({ is: 'none' }));

  const request = (path: string, changes: object = {}): object => ({
    file_path: `s3://${own.bucket}/${path}`,
    path_type: 1,
    key_type: 1,
    credentials: own.credentials,
    ...changes,
  });

  it('loads a single file and a prefix and lists files by their keys', async () => {
    const single = await market.api.waitForEnd(await market.api.queue(request('in/day.csv.gz')));
    expect(single).toMatchObject({
      status: 2,
      path_type: 1,
      file_path: `s3://${own.bucket}/in/day.csv.gz`,
      total_rows: '2',
      unique_devices: '2',
    });
    const prefix = await market.api.waitForEnd(await market.api.queue(request('in/', { compressed: true })));
    expect(prefix).toMatchObject({ status: 2, total_rows: '4', unique_devices: '2' });
    expect(prefix.errors).toEqual([expect.objectContaining({ code: 'invalid_id', file: 'in/night.csv.gz', row: 2 })]);
    const root = await market.api.waitForEnd(await market.api.queue(request('', { compressed: true })));
    expect(root).toMatchObject({ status: 2, file_path: `s3://${own.bucket}/`, total_rows: '4' });
  });

  it.each([
    {
      name: 'a wrong secret',
      change: () => ({ credentials: { ...own.credentials, secretAccessKey: 'wrong-secret' } }),
      code: 'storage_credentials_rejected',
    },
    {
      name: 'a wrong secret for a single file',
      change: () => ({
        file_path: `s3://${own.bucket}/in/day.csv.gz`,
        credentials: { ...own.credentials, secretAccessKey: 'wrong-secret' },
      }),
      code: 'storage_credentials_rejected',
    },
    {
      name: 'an unknown key',
      change: () => ({ credentials: { ...own.credentials, accessKeyId: 'UNKNOWN' } }),
      code: 'storage_credentials_rejected',
    },
    {
      name: 'a missing bucket',
      change: () => ({ file_path: 's3://no-such-bucket-of-ours/in/' }),
      code: 'bucket_not_found',
    },
    {
      name: "another owner's bucket",
      change: () => ({ file_path: `s3://${stranger.bucket}/in/` }),
      code: 'storage_access_denied',
    },
    {
      name: "a file in another owner's bucket",
      change: () => ({ file_path: `s3://${stranger.bucket}/in/day.csv` }),
      code: 'storage_access_denied',
    },
    { name: 'a path without files', change: () => ({ file_path: `s3://${own.bucket}/out/` }), code: 'no_files' },
  ])('ends $name with status 3 and $code', async ({ change, code }) => {
    const log = await market.api.waitForEnd(await market.api.queue(request('in/', { compressed: false, ...change() })));
    expect(log.status).toBe(3);
    expect(log.errors?.map((error) => error.code)).toEqual([code]);
    expect(JSON.stringify(log)).not.toContain(own.credentials.secretAccessKey);
  });

  it.each([
    {
      name: 'no credentials',
      change: { credentials: undefined },
      code: 'credentials_required',
      pointer: '/credentials',
    },
    {
      name: 'credentials for the shared bucket',
      change: { path_type: 0, file_path: 'a.csv' },
      code: 'credentials_not_allowed',
      pointer: '/credentials',
    },
    { name: 'a relative path', change: { file_path: 'in/day.csv' }, code: 'invalid_file_path', pointer: '/file_path' },
    {
      name: 'an IP address as the bucket',
      change: { file_path: 's3://127.0.0.1/x' },
      code: 'invalid_file_path',
      pointer: '/file_path',
    },
    {
      name: 'a bucket with a port',
      change: { file_path: 's3://localhost:8080/x' },
      code: 'invalid_file_path',
      pointer: '/file_path',
    },
    {
      name: 'a bucket without a slash',
      change: { file_path: 's3://bucket' },
      code: 'invalid_file_path',
      pointer: '/file_path',
    },
    {
      name: 'another scheme',
      change: { file_path: 'http://bucket/x' },
      code: 'invalid_file_path',
      pointer: '/file_path',
    },
    {
      name: 'dots in the path',
      change: { file_path: 's3://bucket/../x' },
      code: 'invalid_file_path',
      pointer: '/file_path',
    },
    {
      name: 'a prefix without compressed',
      change: { compressed: undefined },
      code: 'compressed_required',
      pointer: '/compressed',
    },
  ])('rejects $name immediately with $code', async ({ change, code, pointer }) => {
    const problem = await market.api.expectProblem(request('in/', { compressed: false, ...change }));
    expect(problem).toMatchObject({ status: 400, code });
    expect(problem.errors?.map((error) => error.pointer)).toEqual([pointer]);
  });

  it('rejects an unknown region', async () => {
    for (const region of ['moon-1', 'us-east-1.evil.example', 'localhost']) {
      const problem = await market.api.expectProblem(
        request('in/day.csv.gz', { credentials: { ...own.credentials, region } }),
      );
      expect(problem).toMatchObject({ status: 400, code: 'invalid_region' });
    }
  });

  it('reports every invalid field, with the first one in the detail', async () => {
    const credentials = { roleArn: 'inlet', region: 'moon-1' };
    const problem = await market.api.expectProblem(request('in/', { file_path: 'in/', credentials }));
    expect(problem).toMatchObject({ status: 400, code: 'invalid_file_path' });
    const [first, ...others] = problem.errors ?? [];
    expect(first).toEqual({ pointer: '/file_path', detail: problem.detail });
    expect(others.map(({ pointer }) => pointer)).toEqual([
      '/credentials/region',
      '/credentials/roleArn',
      '/compressed',
    ]);
  });

  it('never stores credentials in plain text and deletes them when the job ends', async () => {
    const secret = own.credentials.secretAccessKey;
    // The download would take minutes, but the test stops it after the first check.
    const lines = Array.from({ length: 100_000 }, (_, n) => `${device(n)},sport\n`).join('');
    await own.upload('large.csv.gz', gzipSync(lines, { level: 1 }));
    storage.make({ is: 'slow', bytesPerSecond: 20_000 });
    const id = await market.api.queue(request('large.csv.gz'));
    await waitUntil('its file is known', async () => (await market.api.get(id)).progress.bytes_total > 0);
    const sealed = (): Promise<number | null> =>
      withDatabase(
        market.stores,
        async (client) => (await client.query('SELECT 1 FROM job_credential WHERE job_id = $1', [id])).rowCount,
      );
    expect(await sealed()).toBe(1);
    expect(await tablesThatHold(market.stores, secret)).toEqual([]);
    expect((await market.api.get(id)).status).toBeLessThan(2);
    storage.make({ is: 'none' });
    expect((await market.api.waitForEnd(id)).status).toBe(2);
    expect(await sealed()).toBe(0);
    expect(await tablesThatHold(market.stores, secret)).toEqual([]);
    expect(await loggedStatementsThatHold(market.stores, secret)).toEqual([]);
    expect(await tablesThatHold(market.stores, own.credentials.accessKeyId)).toEqual([]);
    expect(await loggedStatementsThatHold(market.stores, own.credentials.accessKeyId)).toEqual([]);
    // Finding the bucket's name in the record proves that the search works.
    expect(await tablesThatHold(market.stores, own.bucket)).toContain('public.import_log');
  });
});
