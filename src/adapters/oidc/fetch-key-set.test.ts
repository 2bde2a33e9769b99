import { type RequestListener, createServer } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { parseNetwork } from '../../domain/network-address.ts';
import { fetchKeySet } from './key-set.ts';

const loopback = [parseNetwork('127.0.0.1/32')].filter((network) => network !== null);
const key = { kty: 'EC', crv: 'P-256', kid: 'one', x: 'x', y: 'y' };

describe('the key set of an issuer', () => {
  const closing: (() => void)[] = [];
  afterEach(() => {
    for (const close of closing.splice(0)) close();
  });

  /** Listens on loopback, and notes the paths that it is asked for. */
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
  /** As it should be, but for what is given. */
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

  it('is where the discovery document says', async () => {
    const { url, paths } = await start(issuing());
    expect((await fetchKeySet({ issuer: url, networks: loopback }, 2_000)).jwks()).toEqual({ keys: [key] });
    expect(paths).toEqual(['/.well-known/openid-configuration', '/keys']);
  });

  it('is found behind a path, with and without a slash at its end', async () => {
    for (const path of ['/realms/one', '/realms/one/']) {
      const { url, paths } = await start((own) => issuing({ issuer: own + path })(own));
      await fetchKeySet({ issuer: url + path, networks: loopback }, 2_000);
      expect(paths).toEqual(['/realms/one/.well-known/openid-configuration', '/keys']);
    }
  });

  it.each<[string, (url: string) => RequestListener, RegExp]>([
    ['another issuer', issuing({ issuer: 'https://other.example' }), /of another issuer$/],
    ['a slash behind the issuer', (url) => issuing({ issuer: `${url}/` })(url), /of another issuer$/],
    ['keys without TLS', issuing({ jwks_uri: 'http://keys.example/' }), /no https address of keys$/],
    ['keys in a file', issuing({ jwks_uri: 'file:///etc/passwd' }), /no https address of keys$/],
    ['no address of keys', issuing({ jwks_uri: undefined }), /no discovery document$/],
    ['keys at the metadata address', issuing({ jwks_uri: 'https://169.254.169.254/' }), /INLET_OIDC_NETWORKS/],
    ['keys at another loopback address', issuing({ jwks_uri: 'https://127.0.0.2/' }), /INLET_OIDC_NETWORKS/],
    ['no key set', issuing({}, []), /no key set$/],
    ['keys that are none', issuing({}, { keys: ['x'] }), /no key set$/],
    ['a huge key set', issuing({}, { keys: Array.from({ length: 10_000 }, () => key) }), /more than 262144 bytes$/],
    ['no JSON', () => (_request, response) => void response.end('secret?'), /is no JSON$/],
    ['an error', () => (_request, response) => void response.writeHead(503).end('{}'), /answered with 503$/],
    [
      'a redirect',
      (url) => (_request, response) => void response.writeHead(302, { location: `${url}/elsewhere` }).end(),
      /answered with 302$/,
    ],
    ['a closed connection', () => (request) => void request.socket.destroy(), /socket hang up/],
  ])('is not taken with %s', async (_what, answer, cause) => {
    const { url, paths } = await start(answer);
    expect(await causeOf(url)).toMatch(cause);
    expect(paths).not.toContain('/elsewhere');
  });

  it.each<[string, RequestListener]>([
    ['does not answer', () => undefined],
    [
      'answers with a byte now and then',
      (_request, response) => {
        const timer = setInterval(() => void response.write(' '), 20);
        response.on('close', () => clearInterval(timer));
      },
    ],
  ])('is not waited for when the issuer %s', async (_what, listener) => {
    const { url } = await start(() => listener);
    const begin = performance.now();
    expect(await causeOf(url, 300)).toBe('no answer within 300 ms');
    expect(performance.now() - begin).toBeLessThan(5_000);
  });

  it('is not asked for at an address that is not public, unless its network is named', async () => {
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
