import * as fc from 'fast-check';
import Fastify, { type LightMyRequestResponse } from 'fastify';
import { SignJWT, decodeJwt, decodeProtectedHeader, importJWK } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addAuthentication, addCustomerScope, scopeOf } from '../../src/adapters/http/authentication.ts';
import { addProblemAnswers } from '../../src/adapters/http/problems.ts';
import type { Api } from '../../src/adapters/http/api.ts';
import { issuedTokensOf } from '../../src/entry/issuer.ts';
import { createCustomer, createUserToken } from '../../src/usecases/admin/manage-keys.ts';
import { campaignSeed, runsOf } from '../support/campaign.ts';
import { configFor } from '../support/environment.ts';
import { mutatedTokens } from '../support/mutated-tokens.ts';
import { newSigningKey } from '../../dev/signing-key.ts';
import { type TestIssuer, audience, claims, signToken, startIssuer } from '../support/oidc-issuer.ts';
import { silentLog } from '../support/silent-log.ts';
import { type TestStores, createStores } from '../support/stores.ts';
import { type BarePartner, type Wired, newBarePartner, wireUp } from '../support/wired.ts';

const now = (): number => Math.floor(Date.now() / 1000);

describe('user tokens from an OpenID Connect issuer', () => {
  let stores: TestStores;
  let deps: Wired;
  let issuer: TestIssuer;
  let api: Api;
  let mine: BarePartner;
  let theirs: BarePartner;
  const customerIds = new Map<string, number>();
  /** Returns the logged reasons for rejected tokens. */
  const reasons: unknown[] = [];

  /** Starts an API that accepts issued tokens according to the given settings. */
  const apiWith = async (settings: Readonly<Record<string, string>>): Promise<Api> => {
    const config = configFor({ ...stores.environment, ...settings });
    const log = { ...silentLog, info: ({ why }: Readonly<Record<string, unknown>>) => void reasons.push(why) };
    const issuedTokens = issuedTokensOf(config, log, (port) => port);
    const made: Api = Fastify();
    addProblemAnswers(made);
    made.register(async (scope: Api) => {
      addAuthentication(scope, deps);
      addCustomerScope(scope, { ...deps, issuedTokens });
      scope.get('/scope', { config: { scope: 'any' } }, async (request) => scopeOf(request));
    });
    await made.ready();
    return made;
  };
  const call = (token: string, caller = mine, to = api): Promise<LightMyRequestResponse> =>
    to.inject({ url: '/scope', headers: { authorization: `Bearer ${caller.apiKey}`, 'x-user-token': token } });
  const withoutId = ({ statusCode, headers, body }: LightMyRequestResponse): object => ({
    statusCode,
    authenticate: headers['www-authenticate'],
    type: headers['content-type'],
    body: body.replace(/"request_id":"[^"]*"/, ''),
  });
  /** The response to an invalid user token. */
  const refused = async (): Promise<object> => withoutId(await call(`inletu_${'A'.repeat(32)}`));
  const good = (): Record<string, unknown> => ({
    iss: issuer.issuer,
    aud: audience,
    sub: 'user-1',
    iat: now(),
    exp: now() + 300,
    [claims.partner]: mine.name,
    [claims.customer]: 'Acme',
  });

  beforeAll(async () => {
    [stores, issuer] = await Promise.all([createStores('one'), startIssuer()]);
    deps = await wireUp(stores);
    [mine, theirs] = [await newBarePartner(deps), await newBarePartner(deps)];
    for (const [{ name }, customer] of [
      [mine, 'Acme'],
      [mine, 'Globex'],
      [theirs, 'Acme'],
      [theirs, 'Only theirs'],
    ] as const) {
      customerIds.set(`${name} ${customer}`, (await createCustomer(deps, name, customer)).id);
    }
    api = await apiWith({ ...issuer.settings, INLET_OIDC_KEYS_SECONDS: '10' });
  });
  afterAll(async () => {
    await api.close();
    await issuer.close();
    await deps.close();
    await stores.drop();
  });

  it('an issued token represents the customer and the partner in its claims', async () => {
    for (const [partner, customer] of [
      [mine, 'Acme'],
      [mine, 'Globex'],
      [theirs, 'Acme'],
    ] as const) {
      const answer = await call(await issuer.token(partner.name, customer), partner);
      const customerId = customerIds.get(`${partner.name} ${customer}`);
      expect(answer.json()).toEqual({ partnerId: partner.id, customerId });
    }
  });

  it('an issued token follows RFC 9068, as do the tokens that the tests sign', async () => {
    const token = await issuer.token(mine.name, 'Acme');
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'ES256', typ: 'at+jwt', kid: issuer.key().kid });
    expect(decodeJwt(token)).toMatchObject({ iss: issuer.issuer, aud: audience });
    const signed = await signToken(issuer.key(), good());
    expect((await call(signed)).json()).toEqual((await call(token)).json());
  });

  it('tokens that the operator created still work', async () => {
    const { token } = await createUserToken(deps, mine.name, 'Acme');
    expect((await call(token.reveal())).json()).toMatchObject({ customerId: customerIds.get(`${mine.name} Acme`) });
  });

  it("an issued token is rejected with another partner's API key, like any invalid token", async () => {
    const token = await issuer.token(mine.name, 'Acme');
    expect((await call(token)).statusCode).toBe(200);
    expect(withoutId(await call(token, theirs))).toEqual(await refused());
  });

  const changes: Record<string, () => Promise<string> | string> = {
    'an unknown customer': () => issuer.token(mine.name, 'Unknown'),
    "another partner's customer": () => issuer.token(mine.name, 'Only theirs'),
    'the name in another case': () => issuer.token(mine.name, 'acme'),
    'a name with a NUL': () => issuer.token(mine.name, 'Acme\0'),
    'a name with surrounding spaces': () => issuer.token(mine.name, ' Acme '),
    'an unpaired surrogate': () => signToken(issuer.key(), { ...good(), [claims.customer]: '\uD800' }),
    'an ID instead of a name': () =>
      signToken(issuer.key(), { ...good(), [claims.customer]: customerIds.get(`${mine.name} Acme`) }),
    'several customers': () => signToken(issuer.key(), { ...good(), [claims.customer]: ['Acme'] }),
    'no customer': () => signToken(issuer.key(), { ...good(), [claims.customer]: undefined }),
    'several partners': () => signToken(issuer.key(), { ...good(), [claims.partner]: [mine.name, theirs.name] }),
    'no partner': () => signToken(issuer.key(), { ...good(), [claims.partner]: undefined }),
    'another issuer': () => signToken(issuer.key(), { ...good(), iss: 'https://elsewhere.example' }),
    'a trailing slash in the issuer': () => signToken(issuer.key(), { ...good(), iss: `${issuer.issuer}/` }),
    'no issuer': () => signToken(issuer.key(), { ...good(), iss: undefined }),
    'another audience': () => signToken(issuer.key(), { ...good(), aud: 'https://other.test' }),
    'no audience': () => signToken(issuer.key(), { ...good(), aud: undefined }),
    'an expiration 31 s ago': () => signToken(issuer.key(), { ...good(), iat: now() - 100, exp: now() - 31 }),
    'no expiration': () => signToken(issuer.key(), { ...good(), exp: undefined }),
    'no issue time': () => signToken(issuer.key(), { ...good(), iat: undefined }),
    'a lifetime of more than two hours': () => signToken(issuer.key(), { ...good(), exp: now() + 7_201 + 1 }),
    'a start in one minute (nbf)': () => signToken(issuer.key(), { ...good(), nbf: now() + 60 }),
    'a start in one minute (iat)': () => signToken(issuer.key(), { ...good(), iat: now() + 60 }),
    'a proof-of-possession key': () => signToken(issuer.key(), { ...good(), cnf: { jkt: 'x' } }),
    'the type of an ID token': () => signToken(issuer.key(), good(), { typ: 'JWT' }),
    'no type': () => signToken(issuer.key(), good(), { typ: undefined }),
    'no kid': async () => signToken({ ...issuer.key(), kid: undefined }, good()),
    'an unknown key': async () => signToken(await newSigningKey(), good()),
    "another key's kid": async () => signToken({ ...(await newSigningKey()), kid: issuer.key().kid }, good()),
    'a key in its own header': async () => {
      const { d: _private, ...jwk } = await newSigningKey();
      return signToken({ ...(await newSigningKey()), kid: issuer.key().kid }, good(), {
        jwk,
        jku: 'http://127.0.0.1:9',
      });
    },
    'an unsupported critical header': async () =>
      new SignJWT(good())
        .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: issuer.key().kid, crit: ['x'], x: 1 })
        .sign(await importJWK(issuer.key(), 'ES256'), { crit: { x: true } }),
    'no signature (alg none)': () =>
      `${encode({ alg: 'none', typ: 'at+jwt', kid: issuer.key().kid })}.${encode(good())}.`,
    'alg none with a signature': () =>
      `${encode({ alg: 'none', typ: 'at+jwt', kid: issuer.key().kid })}.${encode(good())}.AAAA`,
    'the public key as a secret (HS256)': async () => {
      const { d: _private, ...publicKey } = issuer.key();
      return new SignJWT(good())
        .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', kid: issuer.key().kid })
        .sign(new TextEncoder().encode(JSON.stringify(publicKey)));
    },
    'an algorithm that is not allowed': async () => {
      const key = await newSigningKey('RS256');
      return new SignJWT(good())
        .setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', kid: issuer.key().kid })
        .sign(await importJWK(key, 'RS256'));
    },
    // The last character has four unused bits, which are zero in the canonical encoding.
    'the same signature in another encoding': async () =>
      (await signToken(issuer.key(), good())).replace(/.$/, (last) => ({ A: 'B', Q: 'R', g: 'h', w: 'x' })[last] ?? ''),
    'five parts': async () => `${await signToken(issuer.key(), good())}.a.b`,
    'only dots': () => '..',
    'more than 8,192 characters': () => signToken(issuer.key(), { ...good(), long: 'x'.repeat(8_192) }),
  };
  /** The logged reason for each token. There is none for text that is not a JWT or for an unknown customer. */
  it.each([
    ['an unknown customer', ''],
    ["another partner's customer", ''],
    ['the name in another case', ''],
    ['a name with a NUL', 'customer claim is missing or invalid'],
    ['a name with surrounding spaces', 'customer claim is missing or invalid'],
    ['an unpaired surrogate', 'customer claim is missing or invalid'],
    ['an ID instead of a name', 'customer claim is missing or invalid'],
    ['several customers', 'customer claim is missing or invalid'],
    ['no customer', 'customer claim is missing or invalid'],
    ['several partners', 'partner claim is missing'],
    ['no partner', 'partner claim is missing'],
    ['another issuer', 'ERR_JWT_CLAIM_VALIDATION_FAILED iss'],
    ['a trailing slash in the issuer', 'ERR_JWT_CLAIM_VALIDATION_FAILED iss'],
    ['no issuer', 'ERR_JWT_CLAIM_VALIDATION_FAILED iss'],
    ['another audience', 'ERR_JWT_CLAIM_VALIDATION_FAILED aud'],
    ['no audience', 'ERR_JWT_CLAIM_VALIDATION_FAILED aud'],
    ['an expiration 31 s ago', 'ERR_JWT_EXPIRED exp'],
    ['no expiration', 'ERR_JWT_CLAIM_VALIDATION_FAILED exp'],
    ['no issue time', 'ERR_JWT_CLAIM_VALIDATION_FAILED iat'],
    ['a lifetime of more than two hours', 'lifetime exceeds INLET_OIDC_TOKEN_SECONDS'],
    ['a start in one minute (nbf)', 'ERR_JWT_CLAIM_VALIDATION_FAILED nbf'],
    ['a start in one minute (iat)', 'iat is in the future'],
    ['a proof-of-possession key', 'it requires proof of possession'],
    ['the type of an ID token', 'wrong token type'],
    ['no type', 'wrong token type'],
    ['no kid', 'ERR_JWS_INVALID'],
    ['an unknown key', 'ERR_JWKS_NO_MATCHING_KEY'],
    ["another key's kid", 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED'],
    ['a key in its own header', 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED'],
    ['an unsupported critical header', 'ERR_JOSE_NOT_SUPPORTED'],
    ['no signature (alg none)', ''],
    ['alg none with a signature', 'ERR_JOSE_ALG_NOT_ALLOWED'],
    ['the public key as a secret (HS256)', 'ERR_JOSE_ALG_NOT_ALLOWED'],
    ['an algorithm that is not allowed', 'ERR_JOSE_ALG_NOT_ALLOWED'],
    ['the same signature in another encoding', 'it is not canonical base64url'],
    ['five parts', ''],
    ['only dots', ''],
    ['more than 8,192 characters', ''],
  ])('an issued token is rejected like any invalid token if it has %s (logged reason: "%s")', async (what, why) => {
    const token = await changes[what]?.();
    reasons.length = 0;
    expect(withoutId(await call(token ?? ''))).toEqual(await refused());
    expect(reasons).toEqual(why === '' ? [] : [why]);
  });

  it('an issued token is accepted with a clock skew of up to 30 s', async () => {
    for (const times of [
      { iat: now() - 100, exp: now() - 15 },
      { iat: now() + 15 },
      { nbf: now() + 15 },
      { exp: now() + 7_190 },
    ]) {
      expect(
        (await call(await signToken(issuer.key(), { ...good(), ...times }))).statusCode,
        JSON.stringify(times),
      ).toBe(200);
    }
  });

  it('an issued token can have several audiences unless it is an ID token', async () => {
    const aud = [audience, 'https://other.test'];
    expect((await call(await signToken(issuer.key(), { ...good(), aud }))).statusCode).toBe(200);
    const ofIdTokens = await apiWith({ ...issuer.settings, INLET_OIDC_TOKEN_TYPE: 'id-token' });
    const answers = await Promise.all(
      [
        signToken(issuer.key(), good(), { typ: 'JWT' }),
        signToken(issuer.key(), good(), { typ: undefined }),
        signToken(issuer.key(), { ...good(), aud: [audience] }, { typ: 'JWT' }),
        signToken(issuer.key(), { ...good(), aud }, { typ: 'JWT' }),
        signToken(issuer.key(), good()),
        signToken(issuer.key(), good(), { typ: 'logout+jwt' }),
      ].map(async (token) => (await call(await token, mine, ofIdTokens)).statusCode),
    );
    expect(answers).toEqual([200, 200, 200, 401, 401, 401]);
    await ofIdTokens.close();
  });

  it('an issued token works only with the API key of the partner that the configuration names', async () => {
    const { INLET_OIDC_PARTNER_CLAIM: _claim, ...rest } = issuer.settings;
    const ofTheirs = await apiWith({ ...rest, INLET_OIDC_PARTNER: theirs.name });
    const token = await issuer.token('whatever', 'Acme');
    expect((await call(token, theirs, ofTheirs)).json()).toMatchObject({ partnerId: theirs.id });
    expect(withoutId(await call(token, mine, ofTheirs))).toEqual(await refused());
    await ofTheirs.close();
  });

  it('an issued token is rejected when no issuer is configured', async () => {
    const token = await issuer.token(mine.name, 'Acme');
    const without = await apiWith({});
    expect(withoutId(await call(token, mine, without))).toEqual(await refused());
    await without.close();
  });

  it('an issued token is rejected after any change and never causes a 5xx response', async () => {
    const token = await issuer.token(mine.name, 'Acme');
    const other = await newSigningKey();
    expect((await call(token)).statusCode).toBe(200);
    // Tokens with an unknown key wait for the next request to the issuer, so they are sent concurrently.
    await fc.assert(
      fc.asyncProperty(fc.array(mutatedTokens(token, other), { minLength: 40, maxLength: 40 }), async (mutants) => {
        const statuses = await Promise.all(mutants.map(async (make) => (await call(await make())).statusCode));
        expect(new Set(statuses)).toEqual(new Set([401]));
      }),
      { numRuns: runsOf({ short: 5, long: 25 }), seed: campaignSeed },
    );
  });
});

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
