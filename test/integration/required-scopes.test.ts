import Fastify from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Api } from '../../src/adapters/http/api.ts';
import { addAuthentication, callerOf } from '../../src/adapters/http/authentication.ts';
import { addProblemAnswers } from '../../src/adapters/http/problems.ts';
import { buildApi } from '../../src/adapters/http/server.ts';
import { scopes } from '../../src/domain/caller.ts';
import { createLogger } from '../../src/entry/logging.ts';
import { addApiKey } from '../support/add-api-key.ts';
import { type TestStores, createStores } from '../support/stores.ts';
import { type BarePartner, type Wired, newBarePartner, wireUp } from '../support/wired.ts';

describe('required scopes', () => {
  let stores: TestStores;
  let deps: Wired;
  let partner: BarePartner;

  beforeAll(async () => {
    stores = await createStores('one');
    deps = await wireUp(stores);
    partner = await newBarePartner(deps);
  });
  afterAll(async () => {
    await deps.close();
    await stores.drop();
  });

  /** An API with the given routes in the authenticated scope. */
  function apiWith(addRoutes: (api: Api) => void): Api {
    const api: Api = Fastify();
    addProblemAnswers(api);
    api.register(async (scope: Api) => {
      addAuthentication(scope, deps);
      addRoutes(scope);
      scope.register(async (inner: Api) => {
        inner.get('/inner', { config: { scope: 'any' } }, async (request) => callerOf(request));
      });
    });
    return api;
  }

  it('the API does not start with a route that declares no scope, even in a nested plugin', async () => {
    const forgetful = apiWith((api) => {
      api.get('/forgotten', async () => 'all of it');
    });
    await expect(forgetful.ready()).rejects.toThrow('GET /forgotten does not declare its scope');
    const inside = apiWith((api) => {
      api.register(async (inner: Api) => {
        inner.post('/v1/marketplace/imports', async () => 'all of it');
      });
    });
    await expect(inside.ready()).rejects.toThrow('POST /v1/marketplace/imports does not declare');
  });

  it('every API operation declares its scope at its current and its deprecated path', async () => {
    const stated: string[] = [];
    const api = buildApi(
      {
        ...deps,
        instrumentRequests: (built) => {
          built.addHook('onRequest', async (request) => {
            stated.push(`${request.method} ${request.routeOptions.url} ${String(request.routeOptions.config.scope)}`);
          });
        },
      },
      createLogger({ name: 'test', level: 'silent' }),
    );
    for (const method of ['GET', 'HEAD', 'PUT'] as const) {
      await api.inject({ method, url: '/v1/firstparty/audience/1' });
      await api.inject({ method, url: '/v2/firstparty/audience/1' });
    }
    await api.inject({ url: '/health/live' });
    await api.close();
    expect(stated).toEqual([
      'GET /v1/firstparty/audience/:audience_id audience:read',
      'GET /v2/firstparty/audience/:audience_id audience:read',
      'HEAD /v1/firstparty/audience/:audience_id audience:read',
      'HEAD /v2/firstparty/audience/:audience_id audience:read',
      'PUT /v1/firstparty/audience/:audience_id audience:write',
      'PUT /v2/firstparty/audience/:audience_id audience:write',
      'GET /health/live undefined',
    ]);
  });

  // A colon would start a parameter.
  const pathOf = (scope: string): string => `/${scope.replace(':', '-')}`;

  it('a call requires a key with the scope of the route, and the error names a missing scope', async () => {
    const api = apiWith((scope) => {
      for (const one of scopes) scope.get(pathOf(one), { config: { scope: one } }, async () => ({ is: 'welcome' }));
    });
    for (const given of scopes) {
      const { apiKey, id } = await addApiKey(deps, partner, { scopes: [given] });
      const headers = { authorization: `Bearer ${apiKey}` };
      for (const needed of scopes) {
        const answer = await api.inject({ url: pathOf(needed), headers });
        const detail = `The API key lacks the scope "${needed}".`;
        const problem = { status: 403, code: 'scope_missing', detail };
        expect(answer.json()).toMatchObject(needed === given ? { is: 'welcome' } : problem);
      }
      const inner = await api.inject({ url: '/inner', headers });
      expect(inner.json()).toEqual({
        partner: { id: partner.id, name: partner.name, prefix: partner.prefix },
        keyId: id,
        scopes: [given],
      });
    }
    await api.close();
  });
});
