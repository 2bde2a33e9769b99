import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { problemSchema } from '../../src/adapters/http/records/problem.ts';
import { addApiKey } from '../support/add-api-key.ts';
import { readRateLimit } from '../support/rate-limit.ts';
import { startApi, stopProcess } from '../support/running-service.ts';
import { type TestStores, createStores, withDatabase } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type Wired, newBarePartner, wireUp } from '../support/wired.ts';

const list = '/v1/marketplace/import';
const mostPerKey = 300;
const mostPerPartner = 400;
/** The maximum number of requests that a process reserves at a time. See src/domain/request-limits.ts. */
const portion = 10;

describe('rate limits', () => {
  let stores: TestStores;
  let deps: Wired;
  let watcher: string;
  let apis: Awaited<ReturnType<typeof startApi>>[];

  beforeAll(async () => {
    stores = await createStores('one');
    deps = await wireUp(stores);
    watcher = (await newBarePartner(deps)).apiKey;
    const settings = { INLET_REQUESTS_PER_KEY: String(mostPerKey), INLET_REQUESTS_PER_PARTNER: String(mostPerPartner) };
    const environment = { ...stores.environment, ...settings };
    // Starts processes one after another, because starting them is the slowest step on a small machine.
    apis = [];
    for (let number = 0; number < 4; number++) apis.push(await startApi(environment, 'limits'));
  });
  afterAll(async () => {
    await Promise.all(apis.map(({ child }) => stopProcess(child)));
    await deps.close();
    await stores.drop();
  });

  const countAdmitted = (answers: readonly Response[]): number => answers.filter(({ ok }) => ok).length;
  const ask = (number: number, key: string, path = list): Promise<Response> =>
    fetch(`${apis[number % 4]?.url}${path}`, { headers: { authorization: `Bearer ${key}` } });

  /** Waits until the remaining time in the window is long enough for the test. */
  async function waitForEarlyWindow(): Promise<void> {
    await waitUntil('a new window has started', async () => {
      const header = (await ask(0, watcher)).headers.get('ratelimit');
      return (readRateLimit(header)['key']?.['t'] ?? 0) > 30;
    });
  }

  /** Calls every process until it rejects a request, because each process can have unused reservations. */
  async function useUp(key: string): Promise<{ admitted: number; rejected: Response }> {
    let admitted = 0;
    let number = 0;
    while (admitted <= mostPerPartner) {
      const answer = await ask(number, key);
      if (answer.status === 200) {
        admitted += 1;
        continue;
      }
      expect(answer.status).toBe(429);
      if (number === 3) return { admitted, rejected: answer };
      number += 1;
    }
    throw new Error(`${admitted} requests, and none was rejected`);
  }

  it('four API processes admit requests of a key up to the limit per minute, minus unused reservations', async () => {
    const partner = await newBarePartner(deps);
    await waitForEarlyWindow();
    let admitted = 0;
    let rejected: Response | undefined;
    for (let number = 0; !rejected; number++) {
      const answer = await ask(number, partner.apiKey);
      if (answer.status === 200) admitted += 1;
      else rejected = answer;
    }
    expect(admitted).toBeLessThanOrEqual(mostPerKey);
    expect(admitted).toBeGreaterThanOrEqual(mostPerKey - 3 * (portion - 1));
    // The other processes' reservations are not lost. Each process can still use its own.
    expect(admitted + (await useUp(partner.apiKey)).admitted).toBe(mostPerKey);

    expect(rejected.status).toBe(429);
    expect(problemSchema.strict().parse(await rejected.json())).toMatchObject({ code: 'too_many_requests' });
    const seconds = Number(rejected.headers.get('retry-after'));
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(60);
    expect(readRateLimit(rejected.headers.get('ratelimit'))['key']).toEqual({ r: 0, t: seconds });

    // Other keys have their own limits, even if they belong to the same partner.
    const [second, other] = [(await addApiKey(deps, partner)).apiKey, (await newBarePartner(deps)).apiKey];
    expect((await ask(0, second)).status).toBe(200);
    expect((await ask(0, other)).status).toBe(200);
  });

  it('four API processes admit no more requests than the limit under concurrency', async () => {
    const { apiKey } = await newBarePartner(deps);
    await waitForEarlyWindow();
    const answers = await Promise.all(Array.from({ length: 480 }, (_, number) => ask(number, apiKey)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 429]));
    // A process cannot use its remaining requests for a key if other processes have reserved the partner's last
    // requests.
    const admitted = countAdmitted(answers) + (await useUp(apiKey)).admitted;
    expect(admitted).toBeLessThanOrEqual(mostPerKey);
    expect(admitted).toBeGreaterThan(mostPerKey * 0.9);
  });

  it('four API processes enforce the limit per partner regardless of the number of keys', async () => {
    const partner = await newBarePartner(deps);
    const keys = await Promise.all(Array.from({ length: 3 }, () => addApiKey(deps, partner)));
    await waitForEarlyWindow();
    const answers: Response[] = [];
    for (const { apiKey } of keys) {
      answers.push(...(await Promise.all(Array.from({ length: 160 }, (_, number) => ask(number, apiKey)))));
    }
    const { admitted, rejected } = await useUp(keys[2]?.apiKey ?? '');
    expect(countAdmitted(answers) + admitted).toBe(mostPerPartner);
    expect(rejected.status).toBe(429);
    const left = readRateLimit(rejected.headers.get('ratelimit'));
    expect(left['partner']?.['r']).toBe(0);
    expect(left['key']?.['r']).toBeGreaterThan(0);
  });

  it('four API processes report the limits and the remaining requests in every authenticated response', async () => {
    const { apiKey } = await newBarePartner(deps);
    for (const [path, status] of [
      [list, 200],
      [`${list}/1`, 404],
      [`${list}/1/errors?limit=x`, 400],
      ['/v1/limits', 200],
    ] as const) {
      const answer = await ask(0, apiKey, path);
      expect(answer.status).toBe(status);
      expect(answer.headers.get('ratelimit-policy')).toBe('"key";q=300;w=60, "partner";q=400;w=60');
      const { key, partner: all } = readRateLimit(answer.headers.get('ratelimit'));
      expect(key?.['r']).toBeLessThan(mostPerKey);
      expect(all?.['r']).toBeLessThan(mostPerPartner);
      expect(key?.['t']).toBeGreaterThan(0);
    }
    const strange = await fetch(`${apis[0]?.url}${list}`);
    expect(strange.status).toBe(401);
    expect(strange.headers.get('ratelimit')).toBeNull();
  });

  it('four API processes still admit requests when they cannot count them', async () => {
    const { apiKey } = await newBarePartner(deps);
    await withDatabase(stores, (client) => client.query('ALTER TABLE request_window RENAME TO elsewhere'));
    const answer = await ask(0, apiKey);
    await withDatabase(stores, (client) => client.query('ALTER TABLE elsewhere RENAME TO request_window'));
    expect(answer.status).toBe(200);
    expect(answer.headers.get('ratelimit')).toBeNull();
    expect((await ask(0, apiKey)).headers.get('ratelimit')).toContain('"key";r=');
  });
});
