import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildApi } from '../../src/adapters/http/server.ts';
import { createLogger } from '../../src/entry/logging.ts';
import { operationsOf, parseOpenApi, readOpenApiText } from '../support/openapi/document.ts';
import { createStores, type TestStores } from '../support/stores.ts';
import { wireUp, type Wired } from '../support/wired.ts';

describe('the OpenAPI document', () => {
  let stores: TestStores;
  let deps: Wired;

  beforeAll(async () => {
    stores = await createStores('one');
    deps = await wireUp(stores);
  });
  afterAll(async () => {
    await deps.close();
    await stores.drop();
  });

  it('documents exactly the API routes, except for the reference itself and the console', async () => {
    const routes: string[] = [];
    const api = buildApi(
      {
        ...deps,
        instrumentRequests: (built) => {
          built.addHook('onRoute', ({ method, url }) => {
            for (const one of [method].flat()) routes.push(`${one} ${url.replaceAll(/:(\w+)/g, '{$1}')}`);
          });
        },
      },
      createLogger({ name: 'test', level: 'silent' }),
    );
    await api.ready();
    await api.close();
    const own = routes.filter((route) => !/^HEAD | \/docs| \/openapi\.json$| \/$| \/console/.test(route));
    const documented = operationsOf(parseOpenApi(readOpenApiText())).map(({ method, path }) => `${method} ${path}`);
    expect(documented.toSorted()).toEqual(own.toSorted());
  });
});
