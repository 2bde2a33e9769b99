import { type RequestListener, createServer } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { parseNetwork } from '../../domain/network-address.ts';
import { fetchKeySet } from './key-set.ts';

const loopback = [parseNetwork('127.0.0.1/32')].filter((network) => network !== null);
const key = { kty: 'EC', crv: 'P-256', kid: 'one', x: 'x', y: 'y' };

describe('fetchKeySet', () => {
  const closing: (() => void)[] = [];
  afterEach(() => {
    for (const close of closing.splice(0)) close();
  });

  /** Listens on loopback and records the requested paths. */
  async function start(answer: (url: string) => RequestListener): Promise<{ url: string; paths: string[] }> {
    const paths: string[] = [];
    let url = '';
    const server = createServer((request, response) => {
      paths.push(request.url ?? '');
      answer(url)(request, response);
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('no port');
    url = `http://127.0.0.1:${address.port}`;
    closing.push(() => {
      server.close();
      server.closeAllConnections();
    });
    return { url, paths };
  }
  /** A valid issuer whose discovery document has the given overrides. */
  const issuing =
    (document: object = {}, keySet: unknown = { keys: [key] }) =>
    (url: string): RequestListener =>
    (request, response) => {
      const isDiscovery = request.url?.endsWith('/openid-configuration') ?? false;
      response.end(JSON.stringify(isDiscovery ? { issuer: url, jwks_uri: `${url}/keys`, ...document } : keySet));
    };
  const causeOf = async (issuer: string, milliseconds = 2_000): Promise<unknown> => {
    const error: unknown = await fetchKeySet({ issuer, networks: loopback }, milliseconds).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ code: 'issuer_away' });
    return error instanceof Error && error.cause instanceof Error ? error.cause.message : null;
  };

  it('reads the key set that the discovery document names', async () => {
    const { url, paths } = await start(issuing());
    expect((await fetchKeySet({ issuer: url, networks: loopback }, 2_000)).jwks()).toEqual({ keys: [key] });
    expect(paths).toEqual(['/.well-known/openid-configuration', '/keys']);
  });

  it('supports an issuer with a path, with and without a trailing slash', async () => {
    for (const path of ['/realms/one', '/realms/one/']) {
      const { url, paths } = await start((own) => issuing({ issuer: own + path })(own));
      await fetchKeySet({ issuer: url + path, networks: loopback }, 2_000);
      expect(paths).toEqual(['/realms/one/.well-known/openid-configuration', '/keys']);
    }
  });

  it.each<[string, (url: string) => RequestListener, RegExp]>([
    ['another issuer', issuing({ issuer: 'https://other.example' }), /names another issuer$/],
    ['a trailing slash after the issuer', (url) => issuing({ issuer: `${url}/` })(url), /names another issuer$/],
    ['keys without TLS', issuing({ jwks_uri: 'http://keys.example/' }), /has no HTTPS jwks_uri$/],
    ['keys in a file', issuing({ jwks_uri: 'file:///etc/passwd' }), /has no HTTPS jwks_uri$/],
    ['no jwks_uri', issuing({ jwks_uri: undefined }), /is not a discovery document$/],
    ['keys at the metadata address', issuing({ jwks_uri: 'https://169.254.169.254/' }), /INLET_OIDC_NETWORKS/],
    ['keys at another loopback address', issuing({ jwks_uri: 'https://127.0.0.2/' }), /INLET_OIDC_NETWORKS/],
    ['an invalid key set', issuing({}, []), /is not a key set$/],
    ['invalid keys', issuing({}, { keys: ['x'] }), /is not a key set$/],
    ['a huge key set', issuing({}, { keys: Array.from({ length: 10_000 }, () => key) }), /more than 262144 bytes$/],
    ['a response that is not JSON', () => (_request, response) => void response.end('secret?'), /is not JSON$/],
    ['an HTTP error', () => (_request, response) => void response.writeHead(503).end('{}'), /returned HTTP 503$/],
    [
      'a redirect',
      (url) => (_request, response) => void response.writeHead(302, { location: `${url}/elsewhere` }).end(),
      /returned HTTP 302$/,
    ],
    ['a closed connection', () => (request) => void request.socket.destroy(), /socket hang up/],
  ])('rejects an issuer with %s', async (_what, answer, cause) => {
    const { url, paths } = await start(answer);
    expect(await causeOf(url)).toMatch(cause);
    expect(paths).not.toContain('/elsewhere');
  });

  it.each<[string, RequestListener]>([
    ['does not respond', () => undefined],
    [
      'sends one byte at a time',
      (_request, response) => {
        const timer = setInterval(() => void response.write(' '), 20);
        response.on('close', () => clearInterval(timer));
      },
    ],
  ])('times out when the issuer %s', async (_what, listener) => {
    const { url } = await start(() => listener);
    const begin = performance.now();
    expect(await causeOf(url, 300)).toBe('no response within 300 ms');
    expect(performance.now() - begin).toBeLessThan(5_000);
  });

  it('does not connect to a private address unless its network is configured', async () => {
    const { url, paths } = await start(issuing());
    const named = url.replace('127.0.0.1', 'issuer.example');
    const resolve: Parameters<typeof fetchKeySet>[0]['resolve'] = (_name, _options, callback) =>
      callback(null, [{ address: '127.0.0.1', family: 4 }]);
    await expect(fetchKeySet({ issuer: url, networks: [] }, 2_000)).rejects.toMatchObject({ code: 'issuer_away' });
    await expect(fetchKeySet({ issuer: named, networks: [], resolve }, 2_000)).rejects.toMatchObject({
      code: 'issuer_away',
    });
    expect(paths).toEqual([]);
  });
});
