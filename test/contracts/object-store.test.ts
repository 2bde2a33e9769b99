import { DeleteObjectCommand, DeleteObjectsCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectS3 } from '../../src/adapters/s3/connect.ts';
import { s3ObjectStore } from '../../src/adapters/s3/object-store.ts';
import { Secret } from '../../src/domain/secret.ts';
import type { FoundObject } from '../../src/ports/object-store.ts';
import { readAddresses } from '../../stack/addresses.ts';
import { testBucket } from '../support/environment.ts';

const { endpoint, region, providerAccessKeyId, providerSecretAccessKey } = readAddresses().s3;
const client = connectS3({
  endpoint,
  region,
  accessKeyId: providerAccessKeyId,
  secretAccessKey: new Secret(providerSecretAccessKey),
});
const store = s3ObjectStore(client, testBucket);
const root = `object-store-${process.pid}-${Date.now().toString(36)}/`;
const { signal } = new AbortController();
const manyKeys = Array.from({ length: 1_005 }, (_, n) => `${root}many/${String(n).padStart(5, '0')}`);

async function put(path: string, body: Uint8Array | string): Promise<string> {
  const key = root + path;
  await client.send(
    new PutObjectCommand({ Bucket: testBucket, Key: key, Body: body, ContentLength: Buffer.byteLength(body) }),
  );
  return key;
}

/** The time that `find` returns has no fractions of a second. */
function inSeconds(object: FoundObject): FoundObject {
  return {
    ...object,
    lastModified: object.lastModified && new Date(Math.floor(object.lastModified.getTime() / 1000) * 1000),
  };
}

async function found(key: string): Promise<FoundObject> {
  const object = await store.find(key);
  if (!object) throw new Error(`no object ${key}`);
  return object;
}

async function paths(path: string, limit = 10_000): Promise<string[]> {
  return (await store.list(root + path, limit)).map(({ key }) => key.slice(root.length));
}

describe('the object store', () => {
  beforeAll(async () => {
    // Uploads a few objects at a time, because waiting for a free connection counts toward the storage timeout.
    const left = [...manyKeys];
    const putSome = async (): Promise<void> => {
      for (let key = left.pop(); key !== undefined; key = left.pop()) await put(key.slice(root.length), 'x');
    };
    await Promise.all(Array.from({ length: 16 }, putSome));
  });

  afterAll(async () => {
    for (;;) {
      const { Contents: left = [] } = await client.send(new ListObjectsV2Command({ Bucket: testBucket, Prefix: root }));
      if (left.length === 0) break;
      const Objects = left.map(({ Key }) => ({ Key }));
      await client.send(new DeleteObjectsCommand({ Bucket: testBucket, Delete: { Objects, Quiet: true } }));
    }
    client.destroy();
  });

  describe('finding one object', () => {
    it('matches the exact key and returns the size and ETag', async () => {
      const key = await put('find/a.csv', 'hello');
      const object = await found(key);
      expect(object).toEqual({
        key,
        size: 5,
        etag: '"5d41402abc4b2a76b9719d911017c592"',
        lastModified: expect.any(Date) as unknown,
      });
      expect(Math.abs(Date.now() - (object.lastModified?.getTime() ?? 0))).toBeLessThan(60_000);
    });

    it.each(['find/a.cs', 'find/a.csv/', 'find/', 'find', 'FIND/a.csv', 'find/A.csv', 'find//a.csv', 'nothing'])(
      'finds nothing for the key %s',
      async (path) => {
        await put('find/a.csv', 'hello');
        expect(await store.find(root + path)).toBeNull();
      },
    );

    it('reports errors other than a missing object', async () => {
      await expect(s3ObjectStore(client, 'there-is-no-such-bucket').list('', 1)).rejects.toMatchObject({
        name: 'NoSuchBucket',
      });
    });
  });

  describe('listing objects', () => {
    it('returns the objects in byte order, with size and ETag', async () => {
      const names = ['a', 'B', 'a.csv', 'a/b', 'é', 'z', '日', 'a b', 'a-b', '10', '9', '😀', '\uFF5E'];
      for (const name of names) await put(`order/${name}`, name);
      const listed = await store.list(`${root}order/`, 100);
      expect(listed.map(({ key }) => key.slice(`${root}order/`.length))).toEqual(
        names.toSorted((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other))),
      );
      for (const object of listed.map(inSeconds)) expect(object).toEqual(await store.find(object.key));
    });

    it('omits "folder" objects, but lists a file whose name ends with a slash', async () => {
      await put('folders/', '');
      await put('folders/sub/', '');
      await put('folders/sub/a.csv', 'a');
      await put('folders/full/', 'has content');
      await put('folders/empty.csv', '');
      expect(await paths('folders/')).toEqual(['folders/empty.csv', 'folders/full/', 'folders/sub/a.csv']);
    });

    it('matches the path as an exact key prefix', async () => {
      for (const name of ['day-1.csv', 'day-10.csv', 'day/1.csv', 'days.csv', 'dax.csv', 'Day.csv']) {
        await put(`begin/${name}`, 'x');
      }
      expect(await paths('begin/day')).toEqual([
        'begin/day-1.csv',
        'begin/day-10.csv',
        'begin/day/1.csv',
        'begin/days.csv',
      ]);
      expect(await paths('begin/day/')).toEqual(['begin/day/1.csv']);
      expect(await paths('begin/day-1.csv')).toEqual(['begin/day-1.csv']);
      for (const pattern of ['begin/d*', 'begin/da?', 'begin/{day,dax}', 'begin/[d]ay', 'begin/.*', 'begin/%64ay']) {
        expect(await paths(pattern)).toEqual([]);
      }
    });

    it('lists nothing for a prefix without objects', async () => {
      expect(await paths('nothing/')).toEqual([]);
    });

    it('lists more objects than one page of the storage can contain', async () => {
      expect((await store.list(`${root}many/`, 10_000)).map(({ key }) => key)).toEqual(manyKeys);
    });

    it.each([1, 999, 1_000, 1_001, 1_005])('stops listing at the limit of %s', async (limit) => {
      expect((await store.list(`${root}many/`, limit)).map(({ key }) => key)).toEqual(manyKeys.slice(0, limit));
    });
  });

  it.each([
    'with space.csv',
    ' leading and trailing ',
    'größe/日本語/😀.csv',
    'e\u0301 is not é',
    '*?{}%+.csv',
    '%2e%2e%2f',
    '%20+%2B',
    'a&b=c;d:e@f$g,h#i',
    `quote'double"back\\slash`,
    '<tag>&amp;',
    'double//slash',
    '...',
    'x'.repeat(1024 - root.length),
  ])('finds, lists, and opens the exact key %j', async (path) => {
    const key = await put(path, path);
    const object = await found(key);
    expect(object.key).toBe(key);
    expect((await store.list(key, 10)).map(inSeconds)).toEqual([object]);
    expect((await buffer((await store.open(object, signal)).body)).toString()).toBe(path);
    expect(Buffer.from((await store.read(object, 2000, signal))?.content ?? '').toString()).toBe(path);
  });

  describe('reading a small object', () => {
    it('decompresses a small gzip object and reports that it was compressed', async () => {
      const object = await found(await put('read/a.csv', gzipSync('id,event\n')));
      const read = await store.read(object, 100, signal);
      expect([read?.isGzip, Buffer.from(read?.content ?? '').toString()]).toEqual([true, 'id,event\n']);
    });

    it.each([
      ['plain', Buffer.alloc(101)],
      ['compressed', gzipSync(Buffer.alloc(101))],
    ])('returns nothing when an object exceeds the size limit: %s', async (name, bytes) => {
      const object = await found(await put(`read/large-${name}`, bytes));
      expect(await store.read(object, 100, signal)).toBeNull();
      expect((await store.read(object, 101, signal))?.content.length).toBe(101);
    });

    it('fails when the object was overwritten or deleted after listing', async () => {
      const object = await found(await put('read/changed.csv', 'before'));
      await put('read/changed.csv', 'after!');
      await expect(store.read(object, 100, signal)).rejects.toMatchObject({ code: 'file_changed' });
      await client.send(new DeleteObjectCommand({ Bucket: testBucket, Key: object.key }));
      await expect(store.read(object, 100, signal)).rejects.toMatchObject({ code: 'file_changed' });
    });

    it("fails with the storage's error message when the storage rejects the request", async () => {
      const missing = s3ObjectStore(client, 'there-is-no-such-bucket').read(
        { key: 'a', etag: '"x"', size: 1 },
        9,
        signal,
      );
      await expect(missing).rejects.toMatchObject({ name: 'NoSuchBucket' });
    });

    it('stops when the signal aborts', async () => {
      const object = await found(await put('read/stop', 'x'));
      await expect(store.read(object, 9, AbortSignal.abort())).rejects.toMatchObject({ name: 'AbortError' });
    });
  });

  describe('opening an object', () => {
    it.each([0, 1, 262_143, 262_144, 262_145, 3_000_000])(
      'returns all %s bytes and the first bytes separately',
      async (size) => {
        const bytes = Buffer.from(Array.from({ length: size }, (_, n) => (n * 31 + (n >> 8)) % 251));
        const opened = await store.open(await found(await put(`open/${size}`, bytes)), signal);
        expect(opened.isGzip).toBe(false);
        expect(Buffer.from(opened.head).equals(bytes.subarray(0, 262_144))).toBe(true);
        expect((await buffer(opened.body)).equals(bytes)).toBe(true);
      },
    );

    it('recognizes gzip by its first bytes, decompresses the head, and leaves the body compressed', async () => {
      const text = Buffer.from(Array.from({ length: 100_000 }, (_, n) => `${(n * 7919) % 99991},sport\n`).join(''));
      const packed = gzipSync(text);
      const opened = await store.open(await found(await put('open/not-named-so.csv', packed)), signal);
      expect(opened.isGzip).toBe(true);
      expect(opened.head.length).toBeGreaterThan(16_384);
      expect(Buffer.from(opened.head).equals(text.subarray(0, opened.head.length))).toBe(true);
      expect((await buffer(opened.body)).equals(packed)).toBe(true);
    });

    it('ignores the file extension and checks the content', async () => {
      const opened = await store.open(await found(await put('open/plain.csv.gz', 'id,keys\n')), signal);
      expect(opened.isGzip).toBe(false);
      expect(Buffer.from(opened.head).toString()).toBe('id,keys\n');
      expect((await buffer(opened.body)).toString()).toBe('id,keys\n');
    });

    it('fails when the object was overwritten after listing, even with the same length', async () => {
      const object = await found(await put('changed/a.csv', 'before'));
      await put('changed/a.csv', 'after!');
      await expect(store.open(object, signal)).rejects.toMatchObject({ code: 'file_changed', isFinal: true });
    });

    it('fails when the object was deleted after listing', async () => {
      const object = await found(await put('changed/b.csv', 'before'));
      await client.send(new DeleteObjectCommand({ Bucket: testBucket, Key: object.key }));
      await expect(store.open(object, signal)).rejects.toMatchObject({ code: 'file_changed', isFinal: true });
    });

    it('opens an object that was rewritten with the same bytes', async () => {
      const object = await found(await put('changed/c.csv', 'same'));
      await put('changed/c.csv', 'same');
      expect((await buffer((await store.open(object, signal)).body)).toString()).toBe('same');
    });

    it('stops when the signal aborts', async () => {
      const object = await found(await put('open/stop', 'x'));
      await expect(store.open(object, AbortSignal.abort())).rejects.toMatchObject({ name: 'AbortError' });
    });
  });
});
