import { type Server, createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { partnerObjectStore } from '../../src/adapters/s3/partner-object-store.ts';
import { Secret } from '../../src/domain/secret.ts';
import { loopback, startStorage } from '../hostile/fake-storage.ts';

// Ceph has no regions, so a small server imitates the AWS response to a request in the wrong region, which is a
// redirect with the documented body. Other tests cover all other behavior of partner buckets with real storage.

const redirect = `<?xml version="1.0" encoding="UTF-8"?>
<Error><Code>PermanentRedirect</Code><Message>The bucket you are attempting to access must be addressed using the
specified endpoint.</Message><Endpoint>elsewhere.s3.eu-west-1.amazonaws.com</Endpoint><Bucket>elsewhere</Bucket></Error>`;

describe('a bucket in another region', () => {
  let server: Server;
  let endpoint: string;
  let requests = 0;

  beforeAll(async () => {
    server = createServer((request, response) => {
      requests += 1;
      response.writeHead(301, { 'content-type': 'application/xml', location: 'http://127.0.0.1:9/stolen' });
      response.end(request.method === 'HEAD' ? undefined : redirect);
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('the server has no port');
    endpoint = `http://127.0.0.1:${address.port}`;
  });
  afterAll(() => {
    server.close();
  });

  const store = () =>
    partnerObjectStore({
      bucket: 'elsewhere',
      endpoint,
      networks: loopback,
      credentials: { accessKeyId: 'KEY', secretAccessKey: new Secret('secret'), region: 'us-east-1' },
    });

  it.each([
    { name: 'listing', requestCount: 1, run: () => store().list('in/', 10) },
    { name: 'finding', requestCount: 2, run: () => store().find('in/a.csv') },
    {
      name: 'reading',
      requestCount: 1,
      run: () => store().open({ key: 'in/a.csv', etag: '"x"', size: 1 }, new AbortController().signal),
    },
  ])(
    'reports a bucket in another region when $name and does not follow the redirect',
    async ({ run, requestCount }) => {
      const before = requests;
      await expect(run()).rejects.toMatchObject({ code: 'bucket_in_other_region' });
      // Finding an object takes a second request, because the first response has no body that states the reason.
      expect(requests).toBe(before + requestCount);
    },
  );
});

describe('expired credentials', () => {
  const listed = async (more: { sessionToken?: Secret; isOfRole?: boolean }): Promise<unknown> => {
    const storage = await startStorage((_asked, _request, response) => {
      response.writeHead(400, { 'content-type': 'application/xml' });
      response.end('<Error><Code>ExpiredToken</Code><Message>The provided token has expired.</Message></Error>');
    });
    const store = partnerObjectStore({
      bucket: 'own-bucket',
      endpoint: `http://127.0.0.1:${storage.port}`,
      networks: loopback,
      credentials: {
        accessKeyId: 'KEY',
        secretAccessKey: new Secret('secret'),
        region: 'us-east-1',
        ...(more.sessionToken && { sessionToken: more.sessionToken }),
      },
      isOfRole: more.isOfRole ?? false,
    });
    const error: unknown = await store.list('in/', 10).catch((reason: unknown) => reason);
    store.close();
    storage.close();
    return error;
  };

  it("fails the job if the partner's own credentials have expired", async () => {
    for (const given of [{}, { sessionToken: new Secret('token') }])
      expect(await listed(given)).toMatchObject({ code: 'storage_credentials_rejected', isFinal: true });
  });

  it('retries if the credentials from an assumed role have expired', async () => {
    expect(await listed({ sessionToken: new Secret('token'), isOfRole: true })).toMatchObject({ name: 'ExpiredToken' });
  });
});
