import { GetObjectCommand, ListMultipartUploadsCommand, ListObjectsV2Command, type S3Client } from '@aws-sdk/client-s3';
import { createHash } from 'node:crypto';
import { appendFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Inlet, type UploadFile, type UploadOptions, type UploadProgress } from '../../packages/sdk/src/inlet.ts';
import { connectS3 } from '../../src/adapters/s3/connect.ts';
import { Secret } from '../../src/domain/secret.ts';
import { readAddresses } from '../../stack/addresses.ts';
import { startFaultyProxy } from '../support/faulty-proxy.ts';
import { type TestPartner, createPartner } from '../support/partners.ts';
import { type TestStores, createStores } from '../support/stores.ts';

const mebibyte = 1024 * 1024;
const { endpoint, region, providerAccessKeyId, providerSecretAccessKey } = readAddresses().s3;

describe('an upload with the SDK', () => {
  let stores: TestStores;
  let partner: TestPartner;
  let owner: S3Client;
  let folder: string;

  beforeAll(async () => {
    stores = await createStores('one');
    partner = await createPartner(stores.environment);
    const secretAccessKey = new Secret(providerSecretAccessKey);
    owner = connectS3({ endpoint, region, accessKeyId: providerAccessKeyId, secretAccessKey });
    folder = await mkdtemp(join(tmpdir(), 'inlet-sdk-'));
  });
  afterAll(async () => {
    owner.destroy();
    await stores.drop();
    await rm(folder, { recursive: true });
  });

  const inletAt = (address: string, secretAccessKey = partner.storageKeys.secretAccessKey): Inlet => {
    const { bucket, prefix, storageKeys } = partner;
    const storage = { endpoint: address, region, bucket, prefix, ...storageKeys, secretAccessKey };
    return new Inlet({ url: 'http://127.0.0.1:1', apiKey: 'none', storage });
  };
  const upload = (files: readonly UploadFile[], options?: UploadOptions) => inletAt(endpoint).upload(files, options);

  const sumInBucket = async (path: string): Promise<string> => {
    const { Body } = await partner.s3.send(
      new GetObjectCommand({ Bucket: partner.bucket, Key: partner.prefix + path }),
    );
    return sumOf((await Body?.transformToByteArray()) ?? new Uint8Array(0));
  };
  const objectsBelow = async (path: string): Promise<string[]> => {
    const query = { Bucket: partner.bucket, Prefix: partner.prefix + path };
    const { Contents = [] } = await partner.s3.send(new ListObjectsV2Command(query));
    return Contents.map(({ Key = '' }) => Key.slice(partner.prefix.length));
  };
  const unfinished = async (): Promise<unknown[]> => {
    const query = { Bucket: partner.bucket, Prefix: partner.prefix };
    return (await owner.send(new ListMultipartUploadsCommand(query))).Uploads ?? [];
  };

  it('stores files of every kind and size unchanged under the prefix', async () => {
    const path = join(folder, 'large.csv');
    await writeFile(path, bytesOf(13 * mebibyte, 1));
    await writeFile(join(folder, 'empty.csv'), '');
    const reported: UploadProgress[] = [];
    const files: UploadFile[] = [
      path,
      join(folder, 'empty.csv'),
      { name: 'blob.csv', body: new Blob([bytesOf(6 * mebibyte, 2)]) },
      { name: 'exactly a part.csv', body: bytesOf(5 * mebibyte, 3) },
      { name: "sub/odd name ü+%(1)'*!.csv", body: bytesOf(100, 4) },
    ];
    const uploaded = await upload(files, {
      prefix: 'kinds',
      partSize: 5 * mebibyte,
      onProgress: (progress) => reported.push(progress),
    });
    expect(uploaded).toMatchObject({ ok: true, value: { prefix: 'kinds/', files: { length: 5 } } });
    expect(await sumInBucket('kinds/large.csv')).toBe(sumOf(bytesOf(13 * mebibyte, 1)));
    expect(await sumInBucket('kinds/empty.csv')).toBe(sumOf(new Uint8Array(0)));
    expect(await sumInBucket('kinds/blob.csv')).toBe(sumOf(bytesOf(6 * mebibyte, 2)));
    expect(await sumInBucket('kinds/exactly a part.csv')).toBe(sumOf(bytesOf(5 * mebibyte, 3)));
    expect(await sumInBucket("kinds/sub/odd name ü+%(1)'*!.csv")).toBe(sumOf(bytesOf(100, 4)));
    const total = 24 * mebibyte + 100;
    expect(reported.at(-1)).toEqual({
      bytes_sent: total,
      bytes_there: 0,
      bytes_total: total,
      files_done: 5,
      files_total: 5,
    });
    expect(await unfinished()).toEqual([]);
  });

  it('reads a stream no faster than it can send the parts', async () => {
    const size = 5 * mebibyte;
    let given = 0;
    let sent = 0;
    let mostAhead = 0;
    async function* source(): AsyncGenerator<Uint8Array> {
      for (let n = 0; n < 44; n += 1) {
        given += mebibyte;
        mostAhead = Math.max(mostAhead, given - sent);
        yield bytesOf(mebibyte, n);
      }
    }
    const onProgress = ({ bytes_sent, bytes_total }: UploadProgress): void => {
      sent = bytes_sent;
      expect(bytes_total).toBeNull();
    };
    const files = [{ name: 'stream.csv', body: source() }];
    const uploaded = await upload(files, { prefix: 'stream', partSize: size, parallel: 2, onProgress });
    expect(uploaded).toMatchObject({
      ok: true,
      value: { files: [{ file_path: 'stream/stream.csv', bytes: 44 * mebibyte }] },
    });
    expect(mostAhead).toBeLessThanOrEqual(2 * size);
    const whole = Buffer.concat(Array.from({ length: 44 }, (_, n) => bytesOf(mebibyte, n)));
    expect(await sumInBucket('stream/stream.csv')).toBe(sumOf(whole));
  });

  it('leaves nothing behind after it is aborted', async () => {
    const given = new AbortController();
    async function* source(): AsyncGenerator<Uint8Array> {
      for (let n = 0; n < 12; n += 1) yield bytesOf(mebibyte, n);
      await new Promise(() => {}); // Stalls forever.
    }
    const aborted = await upload([{ name: 'a.csv', body: source() }], {
      prefix: 'aborted',
      partSize: 5 * mebibyte,
      signal: given.signal,
      onProgress: () => given.abort(),
    });
    expect(aborted).toMatchObject({ ok: false, problem: { from: 'sdk', code: 'aborted' } });
    expect(JSON.stringify(aborted)).not.toContain('could not be removed');
    expect(await objectsBelow('aborted/')).toEqual([]);
    expect(await unfinished()).toEqual([]);
  });

  it('leaves nothing behind when a stream breaks or a file changes during the upload', async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      for (let n = 0; n < 7; n += 1) yield bytesOf(mebibyte, n);
      throw new Error('the disk is gone');
    }
    const options = { prefix: 'broken', partSize: 5 * mebibyte };
    expect(await upload([{ name: 'a.csv', body: broken() }], options)).toMatchObject({
      problem: { code: 'unreadable_file', detail: containing(/the disk is gone/) },
    });
    const path = join(folder, 'growing.csv');
    await writeFile(path, bytesOf(9 * mebibyte, 1));
    const onProgress = (): void => void appendFile(path, 'more');
    const changed = await upload([path], { ...options, parallel: 1, onProgress });
    expect(changed).toMatchObject({
      problem: { code: 'unreadable_file', detail: containing(/changed during the upload/) },
    });
    expect(await upload([join(folder, 'none.csv')])).toMatchObject({ problem: { code: 'unreadable_file' } });
    expect(await objectsBelow('broken/')).toEqual([]);
    expect(await unfinished()).toEqual([]);
  });

  it('resends parts that were corrupted in transit or temporarily rejected', async () => {
    let damaged = 0;
    const proxy = await startFaultyProxy(endpoint, (request, count) => {
      if (count === 2 || count === 4) return 'unavailable';
      if (request.method !== 'PUT' || damaged === 2) return 'pass';
      damaged += 1;
      return 'damage';
    });
    const uploaded = await inletAt(proxy.url).upload(
      [
        { name: 'small.csv', body: bytesOf(1000, 5) },
        { name: 'large.csv', body: bytesOf(11 * mebibyte, 6) },
      ],
      { prefix: 'damaged', partSize: 5 * mebibyte, parallel: 1 },
    );
    await proxy.close();
    expect(uploaded).toMatchObject({ ok: true });
    expect(damaged).toBe(2);
    expect(await sumInBucket('damaged/small.csv')).toBe(sumOf(bytesOf(1000, 5)));
    expect(await sumInBucket('damaged/large.csv')).toBe(sumOf(bytesOf(11 * mebibyte, 6)));
  });

  it.each([
    { what: 'is there', completions: ['swallow', 'pass'], ok: true },
    { what: 'is there but the storage no longer knows the upload', completions: ['swallow', 'gone'], ok: true },
    { what: 'is not there', completions: ['unavailable', 'gone'], ok: false },
  ] as const)(
    'reports the correct result if the completion request gets no response and the file $what',
    async ({ completions, ok }) => {
      const prefix = `completions/${completions.join('-')}`;
      let count = 0;
      const proxy = await startFaultyProxy(endpoint, ({ method, url = '' }) => {
        if (method !== 'POST' || !url.includes('uploadId=')) return 'pass';
        count += 1;
        return completions[count - 1] ?? 'pass';
      });
      const files = [{ name: 'a.csv', body: bytesOf(6 * mebibyte, 7) }];
      const uploaded = await inletAt(proxy.url).upload(files, { prefix, partSize: 5 * mebibyte });
      await proxy.close();
      expect(count).toBe(2);
      expect(uploaded.ok).toBe(ok);
      expect(await objectsBelow(prefix)).toEqual(ok ? [`${prefix}/a.csv`] : []);
      expect(await unfinished()).toEqual([]);
    },
  );

  it('fails with the error from the storage', async () => {
    const files = [{ name: 'a.csv', body: bytesOf(10, 1) }];
    const secret = 'wrong-very-secret';
    const refused = await inletAt(endpoint, secret).upload(files);
    expect(refused).toMatchObject({ problem: { code: 'storage_refused', attempts: 1 } });
    expect(JSON.stringify(refused)).toContain('HTTP 403, SignatureDoesNotMatch');
    expect(JSON.stringify(refused)).not.toContain(secret);
    const { bucket, storageKeys } = partner;
    const storage = { endpoint, region, bucket, prefix: 'someone-else/', ...storageKeys };
    const elsewhere = await new Inlet({ url: 'http://127.0.0.1:1', apiKey: 'none', storage }).upload(files);
    expect(JSON.stringify(elsewhere)).toContain('HTTP 403, AccessDenied');
  });

  it.each([
    ['without storage', undefined, {}, /storage/],
    ['with parts that are too small', 'a', { partSize: 1000 }, /partSize/],
    ['without parallel requests', 'a', { parallel: 0 }, /parallel/],
    ['to a path outside the prefix', '../a', {}, /is not a path/],
    ['to an empty path segment', 'a//b', {}, /is not a path/],
    ['to a path with a newline', 'a\nb', {}, /is not a path/],
    ['with two files of the same name', 'twice', {}, /same name/],
  ])('rejects an upload %s before it starts', async (_what, name, options, detail) => {
    const inlet = name === undefined ? new Inlet({ url: 'http://127.0.0.1:1', apiKey: 'none' }) : inletAt(endpoint);
    const file = { name: name ?? 'a', body: bytesOf(1, 1) };
    const refused = await inlet.upload(name === 'twice' ? [file, file] : [file], options);
    expect(refused).toMatchObject({
      ok: false,
      problem: { code: 'invalid_argument', detail: containing(detail) },
    });
  });

  it("throws the caller's own exception and leaves nothing behind", async () => {
    const onProgress = (): void => {
      throw new Error('mine');
    };
    const files = [{ name: 'a.csv', body: bytesOf(11 * mebibyte, 1) }];
    await expect(upload(files, { prefix: 'thrown', partSize: 5 * mebibyte, onProgress })).rejects.toThrow('mine');
    expect(await unfinished()).toEqual([]);
  });
});

/** Returns deterministic bytes for a seed, without short repetitions. */
function bytesOf(length: number, seed: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  const block = createHash('sha512').update(String(seed)).digest();
  for (let n = 0; n < length; n += 1) bytes[n] = (block[n % 64] ?? 0) ^ (n >> 6);
  return bytes;
}

function containing(pattern: RegExp): unknown {
  return expect.stringMatching(pattern);
}

function sumOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
