import Fastify from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Api } from '../../src/adapters/http/api.ts';
import { addOperatorAuthentication } from '../../src/adapters/http/authentication.ts';
import { addProblemAnswers } from '../../src/adapters/http/problems.ts';
import type { NewSession } from '../../src/ports/console.ts';
import { openSession } from '../../src/usecases/access/open-session.ts';
import { rememberSecrets } from '../support/known-secrets.ts';
import { type TestStores, createStores } from '../support/stores.ts';
import { type BarePartner, type Wired, newBarePartner, wireUp } from '../support/wired.ts';

describe('an operation for operators', () => {
  let stores: TestStores;
  let deps: Wired;
  let api: Api;
  let partner: BarePartner;

  beforeAll(async () => {
    stores = await createStores('one');
    deps = await wireUp(stores);
    partner = await newBarePartner(deps);
    api = Fastify();
    addProblemAnswers(api);
    api.register(async (scope: Api) => {
      addOperatorAuthentication(scope, deps);
      scope.get('/lanes', { config: { scope: 'operator' } }, async () => ({ is: 'welcome' }));
      scope.post('/lanes', { config: { scope: 'operator' } }, async () => ({ is: 'welcome' }));
    });
  });
  afterAll(async () => {
    await api.close();
    await deps.close();
    await stores.drop();
  });

  const none = { customerId: null, apiKeyId: null, userTokenId: null, target: null };
  const operator: NewSession = { ...none, role: 'operator', subject: 'user olga', name: 'Olga', partnerId: null };

  /** Returns the session's token. */
  async function open(session: NewSession): Promise<string> {
    if (!deps.console) throw new Error('there is no console');
    const token = (await openSession(deps.console, session, null)).reveal();
    rememberSecrets(token);
    return token;
  }
  const cookieOf = (token: string) => ({ cookie: `inlet_session=${token}` });

  it("admits an operator's session", async () => {
    const answer = await api.inject({ url: '/lanes', headers: cookieOf(await open(operator)) });
    expect(answer.json()).toEqual({ is: 'welcome' });
  });

  it('denies API keys and partner sessions with scope_missing', async () => {
    const ofPartner = { ...operator, role: 'partner', subject: 'user dana', partnerId: partner.id } as const;
    for (const headers of [{ authorization: `Bearer ${partner.apiKey}` }, cookieOf(await open(ofPartner))]) {
      const answer = await api.inject({ url: '/lanes', headers });
      expect(answer.json()).toMatchObject({ status: 403, code: 'scope_missing' });
    }
  });

  it('denies a request without valid credentials with unauthenticated', async () => {
    for (const headers of [{}, { authorization: 'Bearer x' }, cookieOf('A'.repeat(43))]) {
      const answer = await api.inject({ url: '/lanes', headers });
      expect(answer.json()).toMatchObject({ status: 401, code: 'unauthenticated' });
    }
  });

  it("ignores an operator's cookie if the request has an API key", async () => {
    const headers = { ...cookieOf(await open(operator)), authorization: `Bearer ${partner.apiKey}` };
    const answer = await api.inject({ url: '/lanes', headers });
    expect(answer.json()).toMatchObject({ status: 403, code: 'scope_missing' });
  });

  it("requires the session's CSRF token if the method is not GET", async () => {
    const token = await open(operator);
    const denied = await api.inject({ method: 'POST', url: '/lanes', headers: cookieOf(token) });
    expect(denied.json()).toMatchObject({ status: 403, code: 'csrf_token_invalid' });
    const headers = { ...cookieOf(token), 'x-csrf-token': deps.console?.tokens.csrfTokenOf(token) ?? '' };
    const answer = await api.inject({ method: 'POST', url: '/lanes', headers });
    expect(answer.json()).toEqual({ is: 'welcome' });
  });

  it('does not start with a route that declares no scope', async () => {
    const forgetful: Api = Fastify();
    forgetful.register(async (scope: Api) => {
      addOperatorAuthentication(scope, deps);
      scope.get('/forgotten', async () => 'all of it');
    });
    await expect(forgetful.ready()).rejects.toThrow('GET /forgotten does not declare its scope');
  });
});
