import { createServer, type RequestListener } from 'node:http';
import { importJWK, SignJWT } from 'jose';
import OpenIdProvider from 'oidc-provider';
import { z } from 'zod';
import { type SigningKey, newSigningKey } from '../../dev/signing-key.ts';
import { rememberSecrets } from './known-secrets.ts';

// A real OpenID provider on loopback. Tests change its keys and make it unavailable, slow, or faulty.

export type TestIssuer = {
  readonly issuer: string;
  /** API settings that accept the provider's tokens. */
  readonly settings: Readonly<Record<string, string>>;
  readonly key: () => SigningKey;
  /** Requests a JWT access token with the client_credentials grant. The claims contain the two names. */
  readonly token: (partner: string, customer: string) => Promise<string>;
  /** Replaces the published keys and signs with the first one. */
  readonly useKeys: (...keys: readonly [SigningKey, ...SigningKey[]]) => void;
  /** Overrides the response to every request. Null restores normal responses. */
  readonly answerWith: (listener: RequestListener | null) => void;
  /** The number of requests for the provider's keys. */
  readonly keyRequests: () => number;
  readonly close: () => Promise<void>;
  readonly reopen: () => Promise<void>;
};

export const audience = 'https://inlet.test';
export const claims = { partner: 'inlet_partner', customer: 'https://inlet.test/customer' };
const secondsOfToken = 600;
const client = { client_id: 'test', client_secret: 'the-secret-of-the-test-client' };

type Fields = Readonly<Record<string, unknown>>;

/** Signs tokens that the provider would not issue. Undefined claims are omitted. */
export async function signToken(
  key: Omit<SigningKey, 'kid'> & { readonly kid?: string | undefined },
  payload: Fields,
  header: Fields = {},
): Promise<string> {
  const { alg, kid, ...rest } = key;
  const token = await new SignJWT(defined(payload))
    .setProtectedHeader({ alg, ...defined({ typ: 'at+jwt', kid, ...header }) })
    .sign(await importJWK({ ...rest, alg }, alg));
  rememberSecrets(token);
  return token;
}

function defined(fields: Fields): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

export async function startIssuer(alg = 'ES256'): Promise<TestIssuer> {
  let signing = await newSigningKey(alg);
  let instead: RequestListener | null = null;
  let keyRequests = 0;
  let listener: RequestListener = () => undefined;
  const server = createServer((request, response) => {
    if (request.url === '/jwks') keyRequests += 1;
    (instead ?? listener)(request, response);
  });
  const listen = (port: number): Promise<void> =>
    new Promise((resolve) => {
      server.listen(port, '127.0.0.1', resolve);
    });
  await listen(0);
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the issuer has no port');
  const issuer = `http://127.0.0.1:${address.port}`;
  const useKeys = (...keys: readonly [SigningKey, ...SigningKey[]]): void => {
    [signing] = keys;
    const answer = providerOf(issuer, keys).callback();
    listener = (request, response) => void answer(request, response);
  };
  useKeys(signing);
  return {
    issuer,
    settings: {
      INLET_OIDC_ISSUER: issuer,
      INLET_OIDC_AUDIENCE: audience,
      INLET_OIDC_CUSTOMER_CLAIM: claims.customer,
      INLET_OIDC_PARTNER_CLAIM: claims.partner,
      INLET_OIDC_ALGORITHMS: alg,
      INLET_OIDC_NETWORKS: '127.0.0.1/32',
    },
    key: () => signing,
    token: (partner, customer) => askForToken(issuer, partner, customer),
    useKeys,
    answerWith: (other) => {
      instead = other;
    },
    keyRequests: () => keyRequests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
    reopen: () => listen(address.port),
  };
}

/**
 * The resource that the client requests (RFC 8707) contains the partner and the customer:
 * `https://inlet.test/<partner>/<customer>`.
 */
function providerOf(issuer: string, keys: readonly SigningKey[]): OpenIdProvider {
  const [{ kid, alg } = { kid: '', alg: '' }] = keys;
  return new OpenIdProvider(issuer, {
    jwks: { keys: keys.map((key) => ({ ...key })) },
    clients: [{ ...client, grant_types: ['client_credentials'], response_types: [], redirect_uris: [] }],
    clientDefaults: { id_token_signed_response_alg: z.enum(['ES256', 'RS256']).parse(alg) },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: () => ({
          scope: '',
          audience,
          accessTokenFormat: 'jwt',
          accessTokenTTL: secondsOfToken,
          jwt: { sign: { alg: z.enum(['ES256', 'RS256']).parse(alg), kid } },
        }),
      },
    },
    extraTokenClaims: (_context, token) => {
      const [, partner = '', customer = ''] = new URL(token.resourceServer?.identifier() ?? audience).pathname.split(
        '/',
      );
      return { [claims.partner]: decodeURIComponent(partner), [claims.customer]: decodeURIComponent(customer) };
    },
  });
}

const answerSchema = z.object({ access_token: z.string() });

async function askForToken(issuer: string, partner: string, customer: string): Promise<string> {
  const answer = await fetch(`${issuer}/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${client.client_id}:${client.client_secret}`)}` },
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      resource: `${audience}/${partner}/${encodeURIComponent(customer)}`,
    }),
  });
  if (answer.status !== 200) throw new Error(`the issuer returned no token: ${await answer.text()}`);
  const { access_token: token } = answerSchema.parse(await answer.json());
  rememberSecrets(token);
  return token;
}
