import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPartner, type TestPartner } from '../support/partners.ts';
import { readRateLimit } from '../support/rate-limit.ts';
import { startApi, stopProcess } from '../support/running-service.ts';
import { createStores, type TestStores } from '../support/stores.ts';

const list = '/v1/marketplace/import';
const most = 5;

describe('wrong API keys', () => {
  let stores: TestStores;
  let known: TestPartner;
  let unknown: TestPartner;

  beforeAll(async () => {
    stores = await createStores('one');
    known = await createPartner(stores.environment);
    unknown = await createPartner(stores.environment);
  });
  afterAll(() => stores.drop());

  async function withApi<T>(
    settings: Readonly<Record<string, string>>,
    run: (ask: (headers: Record<string, string>) => Promise<Response>) => Promise<T>,
  ): Promise<T> {
    const environment = { ...stores.environment, INLET_WRONG_KEYS_PER_ADDRESS: String(most), ...settings };
    const api = await startApi(environment, 'wrong-keys');
    try {
      return await run((headers) => fetch(api.url + list, { headers }));
    } finally {
      await stopProcess(api.child);
    }
  }
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

  it('a client that tries wrong keys is throttled after a few attempts, while recently used valid keys still work', async () => {
    await withApi({}, async (ask) => {
      expect((await ask(bearer(known.apiKey))).status).toBe(200);
      for (let number = 0; number < most; number++) expect((await ask(bearer(`wrong-${number}`))).status).toBe(401);
      const rejected = await ask(bearer('wrong-again'));
      expect(rejected.status).toBe(429);
      expect(await rejected.json()).toMatchObject({ code: 'too_many_requests' });
      const seconds = Number(rejected.headers.get('retry-after'));
      expect(seconds).toBeGreaterThan(0);
      expect(readRateLimit(rejected.headers.get('ratelimit'))).toEqual({ 'wrong-keys': { r: 0, t: seconds } });
      // A newly created key works too, even though other clients at the same address send wrong keys.
      expect((await ask(bearer(unknown.apiKey))).status).toBe(200);
      expect((await ask(bearer(known.apiKey))).status).toBe(200);
      expect((await ask({})).status).toBe(401);
    });
  });

  it('a client that tries wrong keys gets no additional attempts by forging X-Forwarded-For', async () => {
    await withApi({}, async (ask) => {
      const statuses: number[] = [];
      for (let number = 0; number <= most; number++) {
        const address = { 'x-forwarded-for': `203.0.113.${number}` };
        statuses.push((await ask({ ...bearer(`wrong-${number}`), ...address })).status);
      }
      expect(statuses).toEqual([401, 401, 401, 401, 401, 429]);
    });
  });

  it('a client that tries wrong keys is counted by its real address behind a trusted proxy, not by a forged address', async () => {
    await withApi({ INLET_TRUSTED_PROXIES: '127.0.0.0/8, 10.0.0.0/8' }, async (ask) => {
      const from = (address: string) => ({ ...bearer('wrong'), 'x-forwarded-for': address });
      // The proxies added the last two addresses. The caller sent the addresses before them.
      for (let number = 0; number < most; number++) {
        expect((await ask(from(`198.51.100.${number}, 203.0.113.7, 10.0.0.1`))).status).toBe(401);
      }
      expect((await ask(from('198.51.100.9, 203.0.113.7'))).status).toBe(429);
      expect((await ask(from('203.0.113.8'))).status).toBe(401);
      expect((await ask({ ...from('203.0.113.7'), ...bearer(known.apiKey) })).status).toBe(200);
    });
  });
});
