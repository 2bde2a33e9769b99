import Fastify, { type LightMyRequestResponse } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { addAuthentication, addCustomerScope, scopeOf } from '../../src/adapters/http/authentication.ts';
import { addProblemAnswers } from '../../src/adapters/http/problems.ts';
import type { Api } from '../../src/adapters/http/api.ts';
import { createCustomer, createUserToken, revokeUserToken } from '../../src/usecases/admin/manage-keys.ts';
import { rememberSecrets } from '../support/known-secrets.ts';
import { type TestStores, createStores } from '../support/stores.ts';
import { type BarePartner, type Wired, newBarePartner, wireUp } from '../support/wired.ts';

describe('the scope of a call', () => {
  let stores: TestStores;
  let deps: Wired;
  let api: Api;
  let mine: BarePartner;
  let theirs: BarePartner;

  const newToken = async ({ name }: BarePartner): Promise<{ id: number; customerId: number; token: string }> => {
    const customer = await createCustomer(deps, name, `Customer ${Math.random()}`);
    const { id, token } = await createUserToken(deps, name, customer.name);
    rememberSecrets(token.reveal());
    return { id, customerId: customer.id, token: token.reveal() };
  };
  const call = (caller: BarePartner, userToken?: string): Promise<LightMyRequestResponse> =>
    api.inject({
      url: '/scope',
      headers: {
        authorization: `Bearer ${caller.apiKey}`,
        ...(userToken === undefined ? {} : { 'x-user-token': userToken }),
      },
    });
  /** The expected response to an invalid user token. */
  const refused = {
    statusCode: 401,
    code: 'invalid_user_token',
    authenticate: 'Bearer',
    type: 'application/problem+json',
  };
  const outcome = async (answer: Promise<LightMyRequestResponse>): Promise<object> => {
    const { statusCode, headers, body } = await answer;
    const { code } = z.object({ code: z.string().optional() }).parse(JSON.parse(body));
    return { statusCode, code, authenticate: headers['www-authenticate'], type: headers['content-type'] };
  };

  beforeAll(async () => {
    stores = await createStores('one');
    deps = await wireUp(stores);
    api = Fastify();
    addProblemAnswers(api);
    api.register(async (authenticated: Api) => {
      addAuthentication(authenticated, deps);
      authenticated.get('/partner-only', { config: { scope: 'any' } }, async (request) => scopeOf(request));
      authenticated.register(async (scope: Api) => {
        addCustomerScope(scope, deps);
        scope.get('/scope', { config: { scope: 'any' } }, async (request) => scopeOf(request));
      });
    });
    await api.ready();
    [mine, theirs] = [await newBarePartner(deps), await newBarePartner(deps)];
  });
  afterAll(async () => {
    await api.close();
    await deps.close();
    await stores.drop();
  });

  it("limits a call without a user token to the partner's own audiences", async () => {
    const answer = await call(mine);
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toEqual({ partnerId: mine.id, customerId: null });
  });

  it("limits a call with a valid user token to the customer's audiences", async () => {
    const [one, other] = [await newToken(mine), await newToken(mine)];
    for (const { token, customerId } of [one, other]) {
      const answer = await call(mine, token);
      expect(answer.statusCode).toBe(200);
      expect(answer.json()).toEqual({ partnerId: mine.id, customerId });
    }
  });

  it.each(['', ' ', 'null', 'inletu_', `inletu_${'A'.repeat(32)}`, 'x'.repeat(5_000)])(
    'rejects a call with the user token %j',
    async (token) => {
      expect(await outcome(call(mine, token))).toEqual(refused);
    },
  );

  it('rejects a user token with an extra character, a missing character, or a character in another case', async () => {
    const { token } = await newToken(mine);
    for (const wrong of [`${token}A`, token.slice(0, -1), `I${token.slice(1)}`, `Bearer ${token}`]) {
      expect(await outcome(call(mine, wrong))).toEqual(refused);
    }
  });

  it('rejects a call with two user tokens, even if both are valid', async () => {
    const [one, other] = [await newToken(mine), await newToken(mine)];
    expect(await outcome(call(mine, `${one.token}, ${other.token}`))).toEqual(refused);
  });

  it('rejects a user token immediately after it is revoked', async () => {
    const { id, token } = await newToken(mine);
    expect((await call(mine, token)).statusCode).toBe(200);
    await revokeUserToken(deps, mine.name, id);
    expect(await outcome(call(mine, token))).toEqual(refused);
  });

  it("rejects another partner's user token, which that partner can still use", async () => {
    const { token, customerId } = await newToken(theirs);
    expect(await outcome(call(mine, token))).toEqual(refused);
    expect((await call(theirs, token)).json()).toEqual({ partnerId: theirs.id, customerId });
  });

  it('accepts neither a user token as an API key nor an API key as a user token', async () => {
    const { token } = await newToken(mine);
    expect(await outcome(call(mine, mine.apiKey))).toEqual(refused);
    const answer = await call({ ...mine, apiKey: token });
    expect(answer.json()).toMatchObject({ code: 'unauthenticated' });
  });

  it('reveals nothing about a user token to a caller without an API key', async () => {
    const { token } = await newToken(mine);
    for (const sent of [token, 'wrong']) {
      const answer = await api.inject({ url: '/scope', headers: { 'x-user-token': sent } });
      expect(answer.statusCode).toBe(401);
      expect(answer.json()).toMatchObject({ code: 'unauthenticated' });
    }
  });

  it('returns the same error for every invalid user token and does not repeat the token', async () => {
    const { id, token } = await newToken(mine);
    await revokeUserToken(deps, mine.name, id);
    const answers = [
      await call(mine, token),
      await call(mine, 'unknown-token'),
      await call(mine, (await newToken(theirs)).token),
    ];
    const bodies = answers.map(({ body }) => body.replace(/"request_id":"[^"]*"/, ''));
    expect(new Set(bodies).size).toBe(1);
    expect(bodies[0]).not.toMatch(/inletu?_|unknown-token/);
  });

  it('fails an operation whose route does not run the authentication hook', async () => {
    const answer = await api.inject({ url: '/partner-only', headers: { authorization: `Bearer ${mine.apiKey}` } });
    expect(answer.statusCode).toBe(500);
  });
});
