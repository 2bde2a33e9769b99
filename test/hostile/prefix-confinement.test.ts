import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { connectS3 } from '../../src/adapters/s3/connect.ts';
import { s3ObjectStore } from '../../src/adapters/s3/object-store.ts';
import { partnerObjectStore } from '../../src/adapters/s3/partner-object-store.ts';
import { parsePartnerPath } from '../../src/domain/partner-bucket.ts';
import { Secret } from '../../src/domain/secret.ts';
import { audiencePath, keyInPrefix } from '../../src/domain/source-file.ts';
import type { ObjectStore } from '../../src/ports/object-store.ts';
import { type Storage, listing, loopback, startStorage } from './fake-storage.ts';
import { hostile } from './sources.ts';

const credentials = { accessKeyId: 'KEY', secretAccessKey: new Secret('secret'), region: 'us-east-1' };

describe('prefix confinement', () => {
  let storage: Storage;
  let listed: readonly string[] = [];
  let shared: ObjectStore;
  let own: ObjectStore;

  beforeAll(async () => {
    storage = await startStorage(({ method, query }, _request, response) => {
      if (query.has('list-type')) response.end(listing(...listed));
      else response.writeHead(404).end(method === 'HEAD' ? undefined : '<Error><Code>NoSuchKey</Code></Error>');
    });
    const endpoint = `http://127.0.0.1:${storage.port}`;
    shared = s3ObjectStore(connectS3({ endpoint, ...credentials }), 'shared-bucket');
    own = partnerObjectStore({ bucket: 'own-bucket', credentials, endpoint, networks: loopback });
  });
  afterAll(() => storage.close());
  beforeEach(() => {
    storage.asked.length = 0;
    listed = [];
  });

  /** Requests the key with every operation and returns the buckets, keys, and prefixes that the storage received. */
  async function requestsFor(
    store: ObjectStore,
    key: string,
  ): Promise<{ paths: Set<string>; prefixes: Set<string | null> }> {
    const { signal } = new AbortController();
    await store.find(key);
    await store.list(key, 10);
    const object = { key, etag: '"x"', size: 1 };
    await expect(store.open(object, signal)).rejects.toMatchObject({ code: 'file_changed' });
    await expect(store.read(object, 100, signal)).rejects.toMatchObject({ code: 'file_changed' });
    const isListing = ({ query }: { query: URLSearchParams }): boolean => query.has('list-type');
    expect(storage.asked.filter((one) => !isListing(one)).every(({ query }) => !query.has('versionId'))).toBe(true);
    return {
      paths: new Set(storage.asked.filter((one) => !isListing(one)).map(({ path }) => path)),
      prefixes: new Set(storage.asked.filter(isListing).map(({ path, query }) => path + (query.get('prefix') ?? ''))),
    };
  }

  it.each(hostile('path', 'accepted').map(({ value }) => [JSON.stringify(value), value]))(
    'requests nothing outside the prefix for the path %s in the shared bucket',
    async (_name, path) => {
      expect(audiencePath('acme/', path)).toEqual({ relative: path, literal: null });
      expect(audiencePath('acme/', `acme/${path}`)).toEqual({ relative: path, literal: `acme/${path}` });
      expect(await requestsFor(shared, keyInPrefix('acme/', path))).toEqual({
        paths: new Set([`/shared-bucket/acme/${path}`]),
        prefixes: new Set([`/shared-bucket/acme/${path}`]),
      });
    },
  );

  it.each(hostile('path', 'accepted').map(({ value }) => [JSON.stringify(value), value]))(
    "requests exactly the path %s in a partner's own bucket",
    async (_name, path) => {
      const { bucket, key } = parsePartnerPath(`s3://own-bucket/${path}`);
      expect(bucket).toBe('own-bucket');
      expect(await requestsFor(own, key)).toEqual({
        paths: new Set([`/own-bucket/${path}`]),
        prefixes: new Set([`/own-bucket/${path}`]),
      });
    },
  );

  it.each(['other/a.csv', 'acm', 'acme', 'ACME/in/a.csv', '../other/a.csv', '/acme/in/a.csv', ''])(
    'rejects the whole listing if the storage lists "%s", which is outside the prefix',
    async (key) => {
      listed = ['acme/in/a.csv', key];
      for (const store of [shared, own]) {
        await expect(store.list('acme/in/', 10)).rejects.toThrow('outside the prefix');
      }
    },
  );
});
