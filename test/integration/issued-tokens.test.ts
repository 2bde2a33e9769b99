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
import { type TestIssuer, audience, claims, newSigningKey, signToken, startIssuer } from '../support/oidc-issuer.ts';
import { silentLog } from '../support/silent-log.ts';
import { type TestStores, createStores } from '../support/stores.ts';
import { type BarePartner, type Wired, newBarePartner, wireUp } from '../support/wired.ts';

const now = (): number => Math.floor(Date.now() / 1000);

describe('a user token of an OpenID Connect issuer', () => {
  let stores: TestStores;
  let deps: Wired;
  let issuer: TestIssuer;
  let api: Api;
  let mine: BarePartner;
  let theirs: BarePartner;
  const customerIds = new Map<string, number>();
  /** Why tokens were refused, as the log has it. */
  const reasons: unknown[] = [];

  /** An api that takes the issuer's tokens, with other settings. */
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
  /** What is said of a token that `inlet user-token create` did not make. */
  const refused = async (): Promise<object> => withoutId(await call(`inletu_${'A'.repeat(32)}`));
  const good = (): Record<string, unknown> => ({
    iss: issuer.issuer,
    aud: audience,
    sub: 'somebody',
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
    await issuer.goAway();
    await deps.close();
    await stores.drop();
  });

  it('acts for the customer that it names, of the partner that it names', async () => {
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

  it('is one as RFC 9068 has it, and what the tests sign themselves is taken like it', async () => {
    const token = await issuer.token(mine.name, 'Acme');
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'ES256', typ: 'at+jwt', kid: issuer.key().kid });
    expect(decodeJwt(token)).toMatchObject({ iss: issuer.issuer, aud: audience });
    const signed = await signToken(issuer.key(), good());
    expect((await call(signed)).json()).toEqual((await call(token)).json());
  });

  it("leaves the operator's own tokens as they are", async () => {
    const { token } = await createUserToken(deps, mine.name, 'Acme');
    expect((await call(token.reveal())).json()).toMatchObject({ customerId: customerIds.get(`${mine.name} Acme`) });
  });

  it('is refused beside the key of another partner, like any wrong token', async () => {
    const token = await issuer.token(mine.name, 'Acme');
    expect((await call(token)).statusCode).toBe(200);
    expect(withoutId(await call(token, theirs))).toEqual(await refused());
  });

  const changes: Record<string, () => Promise<string> | string> = {
    'a customer that is not there': () => issuer.token(mine.name, 'Nobody'),
    'a customer of another partner': () => issuer.token(mine.name, 'Only theirs'),
    'the name in another case': () => issuer.token(mine.name, 'acme'),
    'a name with a NUL': () => issuer.token(mine.name, 'Acme\0'),
    'a name with space around it': () => issuer.token(mine.name, ' Acme '),
    'half of a character': () => signToken(issuer.key(), { ...good(), [claims.customer]: '\uD800' }),
    'an id instead of a name': () =>
      signToken(issuer.key(), { ...good(), [claims.customer]: customerIds.get(`${mine.name} Acme`) }),
    'several customers': () => signToken(issuer.key(), { ...good(), [claims.customer]: ['Acme'] }),
    'no customer': () => signToken(issuer.key(), { ...good(), [claims.customer]: undefined }),
    'several partners': () => signToken(issuer.key(), { ...good(), [claims.partner]: [mine.name, theirs.name] }),
    'no partner': () => signToken(issuer.key(), { ...good(), [claims.partner]: undefined }),
    'another issuer': () => signToken(issuer.key(), { ...good(), iss: 'https://elsewhere.example' }),
    'a slash behind the issuer': () => signToken(issuer.key(), { ...good(), iss: `${issuer.issuer}/` }),
    'no issuer': () => signToken(issuer.key(), { ...good(), iss: undefined }),
    'another audience': () => signToken(issuer.key(), { ...good(), aud: 'https://other.test' }),
    'no audience': () => signToken(issuer.key(), { ...good(), aud: undefined }),
    'its end 31 s ago': () => signToken(issuer.key(), { ...good(), iat: now() - 100, exp: now() - 31 }),
    'no end': () => signToken(issuer.key(), { ...good(), exp: undefined }),
    'no beginning': () => signToken(issuer.key(), { ...good(), iat: undefined }),
    'a life of more than two hours': () => signToken(issuer.key(), { ...good(), exp: now() + 7_201 + 1 }),
    'its beginning in a minute (nbf)': () => signToken(issuer.key(), { ...good(), nbf: now() + 60 }),
    'its beginning in a minute (iat)': () => signToken(issuer.key(), { ...good(), iat: now() + 60 }),
    'a key that its holder has to show': () => signToken(issuer.key(), { ...good(), cnf: { jkt: 'x' } }),
    'the type of an ID token': () => signToken(issuer.key(), good(), { typ: 'JWT' }),
    'no type': () => signToken(issuer.key(), good(), { typ: undefined }),
    'no kid': async () => signToken({ ...issuer.key(), kid: undefined }, good()),
    'a key of nobody': async () => signToken(await newSigningKey(), good()),
    'the kid of another key': async () => signToken({ ...(await newSigningKey()), kid: issuer.key().kid }, good()),
    'a key in its own header': async () => {
      const { d: _private, ...jwk } = await newSigningKey();
      return signToken({ ...(await newSigningKey()), kid: issuer.key().kid }, good(), {
        jwk,
        jku: 'http://127.0.0.1:9',
      });
    },
    'a header that must be understood': async () =>
      new SignJWT(good())
        .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: issuer.key().kid, crit: ['x'], x: 1 })
        .sign(await importJWK(issuer.key(), 'ES256'), { crit: { x: true } }),
    'no signature (alg none)': () =>
      `${encode({ alg: 'none', typ: 'at+jwt', kid: issuer.key().kid })}.${encode(good())}.`,
    'no signature, and something in its place': () =>
      `${encode({ alg: 'none', typ: 'at+jwt', kid: issuer.key().kid })}.${encode(good())}.AAAA`,
    'the public key as a secret (HS256)': async () => {
      const { d: _private, ...publicKey } = issuer.key();
      return new SignJWT(good())
        .setProtectedHeader({ alg: 'HS256', typ: 'at+jwt', kid: issuer.key().kid })
        .sign(new TextEncoder().encode(JSON.stringify(publicKey)));
    },
    'an algorithm that is not on the list': async () => {
      const key = await newSigningKey('RS256');
      return new SignJWT(good())
        .setProtectedHeader({ alg: 'RS256', typ: 'at+jwt', kid: issuer.key().kid })
        .sign(await importJWK(key, 'RS256'));
    },
    // Its last character has four bits that mean nothing, and are not set.
    'the same signature in another spelling': async () =>
      (await signToken(issuer.key(), good())).replace(/.$/, (last) => ({ A: 'B', Q: 'R', g: 'h', w: 'x' })[last] ?? ''),
    'five parts': async () => `${await signToken(issuer.key(), good())}.a.b`,
    'nothing but dots': () => '..',
    'more than 8,192 characters': () => signToken(issuer.key(), { ...good(), long: 'x'.repeat(8_192) }),
  };
  /** What the log says of each; nothing of what is no JWT at all, or names somebody who is not there. */
  it.each([
    ['a customer that is not there', ''],
    ['a customer of another partner', ''],
    ['the name in another case', ''],
    ['a name with a NUL', 'customer claim is missing or invalid'],
    ['a name with space around it', 'customer claim is missing or invalid'],
    ['half of a character', 'customer claim is missing or invalid'],
    ['an id instead of a name', 'customer claim is missing or invalid'],
    ['several customers', 'customer claim is missing or invalid'],
    ['no customer', 'customer claim is missing or invalid'],
    ['several partners', 'partner claim is missing'],
    ['no partner', 'partner claim is missing'],
    ['another issuer', 'ERR_JWT_CLAIM_VALIDATION_FAILED iss'],
    ['a slash behind the issuer', 'ERR_JWT_CLAIM_VALIDATION_FAILED iss'],
    ['no issuer', 'ERR_JWT_CLAIM_VALIDATION_FAILED iss'],
    ['another audience', 'ERR_JWT_CLAIM_VALIDATION_FAILED aud'],
    ['no audience', 'ERR_JWT_CLAIM_VALIDATION_FAILED aud'],
    ['its end 31 s ago', 'ERR_JWT_EXPIRED exp'],
    ['no end', 'ERR_JWT_CLAIM_VALIDATION_FAILED exp'],
    ['no beginning', 'ERR_JWT_CLAIM_VALIDATION_FAILED iat'],
    ['a life of more than two hours', 'lifetime exceeds INLET_OIDC_TOKEN_SECONDS'],
    ['its beginning in a minute (nbf)', 'ERR_JWT_CLAIM_VALIDATION_FAILED nbf'],
    ['its beginning in a minute (iat)', 'iat is in the future'],
    ['a key that its holder has to show', 'it requires proof of possession'],
    ['the type of an ID token', 'wrong token type'],
    ['no type', 'wrong token type'],
    ['no kid', 'ERR_JWS_INVALID'],
    ['a key of nobody', 'ERR_JWKS_NO_MATCHING_KEY'],
    ['the kid of another key', 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED'],
    ['a key in its own header', 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED'],
    ['a header that must be understood', 'ERR_JOSE_NOT_SUPPORTED'],
    ['no signature (alg none)', ''],
    ['no signature, and something in its place', 'ERR_JOSE_ALG_NOT_ALLOWED'],
    ['the public key as a secret (HS256)', 'ERR_JOSE_ALG_NOT_ALLOWED'],
    ['an algorithm that is not on the list', 'ERR_JOSE_ALG_NOT_ALLOWED'],
    ['the same signature in another encoding', 'it is not canonical base64url'],
    ['five parts', ''],
    ['nothing but dots', ''],
    ['more than 8,192 characters', ''],
  ])('is refused with %s, like any wrong token (%s)', async (what, why) => {
    const token = await changes[what]?.();
    reasons.length = 0;
    expect(withoutId(await call(token ?? ''))).toEqual(await refused());
    expect(reasons).toEqual(why === '' ? [] : [why]);
  });

  it('is good until its end, and 30 s longer for a clock that is wrong', async () => {
    for (const odd of [
      { iat: now() - 100, exp: now() - 15 },
      { iat: now() + 15 },
      { nbf: now() + 15 },
      { exp: now() + 7_190 },
    ]) {
      expect((await call(await signToken(issuer.key(), { ...good(), ...odd }))).statusCode, JSON.stringify(odd)).toBe(
        200,
      );
    }
  });

  it('may be for others too, unless it is an ID token', async () => {
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

  it('counts beside the key of one partner only, where the configuration names that one', async () => {
    const { INLET_OIDC_PARTNER_CLAIM: _claim, ...rest } = issuer.settings;
    const ofTheirs = await apiWith({ ...rest, INLET_OIDC_PARTNER: theirs.name });
    const token = await issuer.token('whatever', 'Acme');
    expect((await call(token, theirs, ofTheirs)).json()).toMatchObject({ partnerId: theirs.id });
    expect(withoutId(await call(token, mine, ofTheirs))).toEqual(await refused());
    await ofTheirs.close();
  });

  it('is refused where no issuer is configured', async () => {
    const token = await issuer.token(mine.name, 'Acme');
    const without = await apiWith({});
    expect(withoutId(await call(token, mine, without))).toEqual(await refused());
    await without.close();
  });

  it('is never taken when anything of it was changed, and never answered with a 5xx', async () => {
    const token = await issuer.token(mine.name, 'Acme');
    const other = await newSigningKey();
    expect((await call(token)).statusCode).toBe(200);
    // Those with a key that is not known wait for the next question to the issuer: together, not one after the other.
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
