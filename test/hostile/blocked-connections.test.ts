import { type LookupFunction, connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Resolve } from '../../src/adapters/guarded-agents.ts';
import { assumeRole } from '../../src/adapters/s3/assume-role.ts';
import { type PartnerBucket, partnerObjectStore } from '../../src/adapters/s3/partner-object-store.ts';
import { awsRegions } from '../../src/domain/partner-bucket.ts';
import { Secret } from '../../src/domain/secret.ts';
import type { ObjectStore } from '../../src/ports/object-store.ts';
import { listing, loopback, startStorage, watchConnections } from './fake-storage.ts';
import { hostile } from './sources.ts';

const credentials = { accessKeyId: 'KEY', secretAccessKey: new Secret('secret'), region: 'eu-west-1' };
const production: PartnerBucket = { bucket: 'own-bucket', credentials, endpoint: null, networks: [] };
const object = { key: 'in/a.csv', etag: '"x"', size: 1 };
const publicAddress = '52.216.1.2';
const familyOf = (address: string): number => (address.includes(':') ? 6 : 4);

/** The attacker's resolver. Query n gets answer n, and further queries get the last answer. */
function answering(...answers: readonly (readonly string[])[]): {
  readonly names: string[];
  readonly resolve: Resolve;
} {
  const names: string[] = [];
  const resolve: Resolve = (name, _options, callback) => {
    const addresses = answers[Math.min(names.length, answers.length - 1)] ?? [];
    names.push(name);
    callback(
      null,
      addresses.map((address) => ({ address, family: familyOf(address) })),
    );
  };
  return { names, resolve };
}

const operations: Readonly<Record<string, (store: ObjectStore) => Promise<unknown>>> = {
  list: (store) => store.list('in/', 10),
  find: (store) => store.find(object.key),
  open: (store) => store.open(object, new AbortController().signal),
  read: (store) => store.read(object, 100, new AbortController().signal),
};

/** Returns the result code of every operation. */
async function codesOf(bucket: PartnerBucket): Promise<unknown[]> {
  const store = partnerObjectStore(bucket);
  try {
    return await Promise.all(
      Object.values(operations).map(async (run) => {
        try {
          await run(store);
          return 'done';
        } catch (error) {
          return error instanceof Error && 'code' in error ? error.code : error;
        }
      }),
    );
  } finally {
    store.close();
  }
}

const allRejected = Object.keys(operations).map(() => 'storage_address_refused');

describe('connections to a hostile storage address', () => {
  let connections: ReturnType<typeof watchConnections>;
  beforeEach(() => {
    connections = watchConnections();
  });
  afterEach(() => {
    connections.stop();
    vi.unstubAllEnvs();
  });

  it('records every connection, regardless of the code that opens it', async () => {
    const storage = await startStorage((_asked, _request, response) => void response.end(listing()));
    const lookup: LookupFunction = (_name, _options, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]);
    await new Promise<void>((resolve) => {
      const socket = connect({ port: storage.port, host: 'a-name.example', lookup }, () => resolve());
      socket.unref();
    });
    expect(connections.attempts).toEqual(['127.0.0.1']);
    const endpoint = `http://a-name.example:${storage.port}`;
    const { resolve } = answering(['127.0.0.1']);
    const store = partnerObjectStore({ ...production, endpoint, networks: loopback, resolve });
    expect(await store.list('in/', 10)).toEqual([]);
    expect(connections.attempts).toEqual(['127.0.0.1', '127.0.0.1']);
    store.close();
    storage.close();
  });

  it.each(hostile('address', 'blocked').map(({ value }) => [value]))(
    'blocks connections when the storage host resolves to %s',
    async (address) => {
      for (const answer of [[address], [publicAddress, address], [address, publicAddress]]) {
        const { resolve } = answering(answer);
        expect(await codesOf({ ...production, resolve }), 'AWS').toEqual(allRejected);
        const endpoint = 'http://storage.example:9000';
        expect(await codesOf({ ...production, endpoint, resolve }), 'on premises').toEqual(allRejected);
      }
      expect(connections.attempts).toEqual([]);
    },
  );

  it.each(
    hostile('address', 'blocked')
      .filter(({ value }) => !value.includes('%'))
      .map(({ value }) => [value]),
  )('blocks connections to the endpoint %s unless its network is allowed', async (address) => {
    const host = familyOf(address) === 6 ? `[${address}]` : address;
    for (const scheme of ['http', 'https']) {
      const endpoint = `${scheme}://${host}:9000`;
      expect(await codesOf({ ...production, endpoint }), endpoint).toEqual(allRejected);
    }
    expect(connections.attempts).toEqual([]);
  });

  it('blocks connections when the host has no address', async () => {
    expect(await codesOf({ ...production, resolve: answering([]).resolve })).toEqual(allRejected);
    expect(connections.attempts).toEqual([]);
  });

  it('connects to exactly the validated address, even if the resolver changes its answer', async () => {
    const storage = await startStorage((_asked, _request, response) => void response.end(listing()));
    const endpoint = `http://storage.example:${storage.port}`;
    const { names, resolve } = answering(['127.0.0.1'], ['127.0.0.2'], ['169.254.169.254']);
    const store = partnerObjectStore({ ...production, endpoint, networks: loopback, resolve });
    expect(await store.list('in/', 10)).toEqual([]);
    expect(names).toHaveLength(1);
    await expect(store.list('in/', 10)).rejects.toMatchObject({ code: 'storage_address_refused' });
    await expect(store.list('in/', 10)).rejects.toMatchObject({ code: 'storage_address_refused' });
    expect(connections.attempts).toEqual(['127.0.0.1']);
    store.close();
    storage.close();
  });

  it.each(hostile('bucket', 'accepted').map(({ value }) => [value]))(
    "resolves only the region's hosts for the bucket %s and blocks the connections",
    async (bucket) => {
      const { names, resolve } = answering(['127.0.0.1']);
      expect(await codesOf({ ...production, bucket, resolve })).toEqual(allRejected);
      expect(connections.attempts).toEqual([]);
      const host = 's3.eu-west-1.amazonaws.com';
      expect(new Set(names)).toEqual(new Set([bucket.includes('.') ? host : `${bucket}.${host}`]));
    },
  );

  it('blocks connections outside AWS for every known region', async () => {
    for (const region of awsRegions) {
      const { names, resolve } = answering(['127.0.0.1']);
      expect(await codesOf({ ...production, credentials: { ...credentials, region }, resolve })).toEqual(allRejected);
      expect(new Set(names)).toEqual(new Set([`own-bucket.s3.${region}.amazonaws.com`]));
    }
    expect(connections.attempts).toEqual([]);
  });

  it('blocks assuming a role outside AWS or at a non-public address', async () => {
    for (const region of awsRegions) {
      const { names, resolve } = answering([publicAddress, '169.254.169.254']);
      const identity = async () => ({ accessKeyId: 'KEY', secretAccessKey: 'secret' });
      const settings = { identity, endpoint: null, networks: [] };
      const role = { roleArn: 'arn:aws:iam::123456789012:role/inlet', region, partnerId: 1, externalId: 'x' };
      await expect(assumeRole({ ...settings, resolve }, role)).rejects.toMatchObject({
        code: 'storage_address_refused',
      });
      expect(new Set(names)).toEqual(new Set([`sts.${region}.amazonaws.com`]));
    }
    expect(connections.attempts).toEqual([]);
  });

  it('ignores the endpoint variables of the AWS tools', async () => {
    const storage = await startStorage((_asked, _request, response) => void response.end(listing()));
    const trap = `http://127.0.0.1:${storage.port}`;
    vi.stubEnv('AWS_ENDPOINT_URL', trap);
    vi.stubEnv('AWS_ENDPOINT_URL_S3', trap);
    vi.stubEnv('AWS_USE_DUALSTACK_ENDPOINT', 'true');
    vi.stubEnv('AWS_USE_FIPS_ENDPOINT', 'true');
    vi.stubEnv('AWS_DEFAULTS_MODE', 'auto');
    vi.stubEnv('HTTPS_PROXY', trap);
    vi.stubEnv('NODE_USE_ENV_PROXY', '1');
    const { names, resolve } = answering(['127.0.0.1']);
    expect(await codesOf({ ...production, resolve })).toEqual(allRejected);
    expect(new Set(names)).toEqual(new Set(['own-bucket.s3.eu-west-1.amazonaws.com']));
    expect(connections.attempts).toEqual([]);
    expect(storage.asked).toEqual([]);
    storage.close();
  });

  it.each(hostile('redirect', 'ignored').map(({ value }) => [value]))(
    'does not follow a redirect to %s',
    async (location) => {
      let status = 0;
      const storage = await startStorage((_asked, _request, response) => {
        response.writeHead(status, { location }).end();
      });
      const endpoint = `http://127.0.0.1:${storage.port}`;
      const elsewhere = Object.keys(operations).map(() => 'bucket_in_other_region');
      for (status of [301, 302, 303, 307, 308]) {
        expect(await codesOf({ ...production, endpoint, networks: loopback }), String(status)).toEqual(elsewhere);
      }
      expect(connections.attempts).toHaveLength(storage.asked.length);
      for (const { path } of storage.asked) expect(path).toMatch(/^\/own-bucket(\/|\/in\/a\.csv)?$/);
      storage.close();
    },
  );
});
