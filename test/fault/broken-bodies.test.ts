import { PutObjectCommand } from '@aws-sdk/client-s3';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiClient } from '../acceptance/api-client.ts';
import { device } from '../support/device-id.ts';
import { attributesOf } from '../support/shard-tables.ts';
import { withDatabase } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type BarePartner, newBarePartner } from '../support/wired.ts';
import { type TestCluster, startTestCluster } from './test-cluster.ts';

// If a download is cut off or the content changes meanwhile, the file is read again or rejected. It is never loaded
// partially, and old and new content are never mixed.

const rowCount = 40_000;

describe('broken downloads', () => {
  let cluster: TestCluster;
  let partner: BarePartner;
  let attribute: number;
  beforeAll(async () => {
    cluster = await startTestCluster('broken-bodies', { topology: 'one', workers: 1 });
    partner = await newBarePartner(cluster.deps);
    attribute = (await cluster.deps.attributes.create(partner.id, { name: 'a', foreignKeys: [] })).id;
  });
  afterAll(() => cluster.stop());

  const textOf = (first: number): string =>
    Array.from({ length: rowCount }, (_, n) => `${device(first + n)},1,,0,${attribute}\n`).join('');
  const upload = async (path: string, body: string | Uint8Array): Promise<void> => {
    const object = { Bucket: cluster.stores.config.INLET_S3_BUCKET, Key: partner.prefix + path, Body: body };
    await cluster.deps.s3.send(new PutObjectCommand(object));
  };
  const queue = (path: string): Promise<number> =>
    apiClient(cluster.url, partner.apiKey).queue({ file_path: path, key_type: 0 });
  const endOf = (id: number): ReturnType<ReturnType<typeof apiClient>['waitForEnd']> =>
    apiClient(cluster.url, partner.apiKey).waitForEnd(id, 60);
  const attempts = async (jobId: number): Promise<number> =>
    withDatabase(cluster.stores, async (client) => {
      const { rows } = await client.query<{ attempt: number }>('SELECT attempt FROM job_file WHERE job_id = $1', [
        jobId,
      ]);
      return rows[0]?.attempt ?? 0;
    });

  it.each([
    ['plain', 'broken.csv', (text: string) => text],
    ['gzipped', 'broken.csv.gz', (text: string) => gzipSync(text)],
  ])('a file is read again and loaded completely if its %s body is cut off', async (_kind, path, pack) => {
    const body = pack(textOf(0));
    await upload(path, body);
    cluster.proxies.storage.make({ is: 'truncated', afterBytes: body.length / 2 });
    const id = await queue(path);
    await waitUntil('the load is retried', async () => (await attempts(id)) > 1, 60);
    cluster.proxies.storage.make({ is: 'none' });
    expect(await endOf(id)).toMatchObject({
      status: 2,
      total_rows: String(rowCount),
      unique_devices: String(rowCount),
    });
  });

  it('a file is rejected or loaded with its old content if it is overwritten during the download', async () => {
    await upload('changed.csv', textOf(100_000));
    const before = await attributesOf(cluster.stores, partner.id);
    cluster.proxies.storage.make({ is: 'slow', bytesPerSecond: 500_000 });
    const id = await queue('changed.csv');
    await waitUntil('the file is being read', async () => (await attempts(id)) > 0, 30);
    await upload('changed.csv', textOf(200_000));
    cluster.proxies.storage.make({ is: 'none' });
    const { status, errors } = await endOf(id);
    const added = new Set(await attributesOf(cluster.stores, partner.id)).difference(new Set(before));
    const old = new Set(Array.from({ length: rowCount }, (_, n) => `${attribute} ${device(100_000 + n)}`));
    const rejected = { status: 3, codes: ['file_changed'], added: new Set() };
    const codes = errors?.map(({ code }) => code) ?? [];
    expect({ status, codes, added }).toEqual(status === 3 ? rejected : { status: 2, codes: [], added: old });
  });
});
