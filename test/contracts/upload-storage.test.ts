import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { s3UploadStorage } from '../../src/adapters/s3/upload-storage.ts';
import { connectSharedStorage, publicBucketOf } from '../../src/entry/shared-bucket.ts';
import type { UploadStorage } from '../../src/ports/upload-storage.ts';
import { configFor, environmentFor } from '../support/environment.ts';

describe('upload storage', () => {
  const config = configFor(environmentFor({ database: 'unused', topology: 'one' }));
  const s3 = connectSharedStorage(config);
  let storage: UploadStorage;
  const prefix = `uploads-${randomUUID()}/`;

  beforeAll(() => {
    storage = s3UploadStorage(s3, publicBucketOf(config));
  });
  afterAll(() => s3.destroy());

  const start = async (name: string) => {
    const key = prefix + name;
    return { key, ...(await storage.start(key)) };
  };
  const send = async (upload: { key: string; storageId: string }, partNumber: number, body: string) => {
    const [url = ''] = await storage.urlsOf(upload, [{ partNumber, bytes: body.length }], 60);
    expect((await fetch(url, { method: 'PUT', body })).status).toBe(200);
  };

  it('lists the newest version of each part', async () => {
    const upload = await start('parts');
    await send(upload, 2, 'second');
    await send(upload, 1, 'first');
    await send(upload, 1, 'again!');
    const parts = await storage.listParts(upload);
    expect(parts?.map(({ partNumber, bytes }) => [partNumber, bytes])).toEqual([
      [1, 6],
      [2, 6],
    ]);
    await storage.abort(upload);
    expect(await storage.listParts(upload)).toBeNull();
    await storage.abort(upload);
  });

  it('stores an object with a mark that identifies its upload', async () => {
    const upload = await start('object ü+.csv');
    expect(await storage.isStored(upload)).toBe(false);
    await send(upload, 1, 'content');
    expect(await storage.complete(upload, (await storage.listParts(upload)) ?? [])).toBe(true);
    expect(await storage.isStored(upload)).toBe(true);
    expect(await storage.isStored({ ...upload, mark: 'other' })).toBe(false);
    expect(await storage.listParts(upload)).toBeNull();
  });

  it('rejects a URL that has expired', async () => {
    const upload = await start('late');
    const [url = ''] = await storage.urlsOf(upload, [{ partNumber: 1, bytes: 1 }], 1);
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    expect((await fetch(url, { method: 'PUT', body: 'x' })).status).toBe(403);
    await storage.abort(upload);
  });
});

describe('the upload address', () => {
  const keys = configFor(environmentFor({ database: 'unused', topology: 'one' }));
  const s3 = connectSharedStorage(keys);
  afterAll(() => s3.destroy());
  const urlAt = async (publicEndpoint: string | null, bucket: string): Promise<string> => {
    const settings = { ...publicBucketOf(keys), publicEndpoint, bucket, region: 'eu-central-1' };
    const storage = s3UploadStorage(s3, settings);
    const [url = ''] = await storage.urlsOf({ key: 'acme/a b.csv', storageId: 'x' }, [{ partNumber: 1, bytes: 1 }], 60);
    return url.replace(/\?.*/, '');
  };

  it.each([
    ['https://files.example.com', 'inlet', 'https://files.example.com/inlet/acme/a%20b.csv'],
    ['http://files.example.com:8000/s3/', 'inlet', 'http://files.example.com:8000/s3/inlet/acme/a%20b.csv'],
    [null, 'inlet', 'https://inlet.s3.eu-central-1.amazonaws.com/acme/a%20b.csv'],
    [null, 'in.let', 'https://s3.eu-central-1.amazonaws.com/in.let/acme/a%20b.csv'],
  ])('is derived from the public endpoint %s and the bucket %s', async (endpoint, bucket, expected) => {
    expect(await urlAt(endpoint, bucket)).toBe(expected);
  });
});
