import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import type { Api } from '../../src/adapters/http/api.ts';
import { overlapSchema } from '../../src/adapters/http/routes/get-overlap.ts';
import { buildApi } from '../../src/adapters/http/server.ts';
import { createLogger } from '../../src/entry/logging.ts';
import { deviceOfNumber, insertAudience, insertByNumbers } from '../support/audience-tables.ts';
import { configFor } from '../support/environment.ts';
import { foldNow } from '../support/fold-now.ts';
import { type TestPartner, createPartner } from '../support/partners.ts';
import { type TestStores, createStores, withDatabase } from '../support/stores.ts';
import { type Wired, wireAll } from '../support/wired.ts';

const unprotected = {
  INLET_REPORT_HIDE_UNDER: '0',
  INLET_REPORT_FLAG_UNDER: '0',
  INLET_REPORT_NOISE: '0',
  INLET_REPORT_ROUND_TO: '0',
};

/** Each audience contains the devices whose numbers are multiples of its divisor. */
const divisors = [2, 3, 5, 7, 11, 13] as const;
const devices = 30_030;

type Overlap = z.infer<typeof overlapSchema>;

describe('the overlap of audiences', () => {
  let stores: TestStores;
  let partner: TestPartner;
  let other: TestPartner;
  let deps: Wired;
  const audiences: number[] = [];
  const closing: (() => Promise<void>)[] = [];

  async function startApi(settings: Record<string, string>): Promise<Api> {
    deps = await wireAll(configFor({ ...stores.environment, ...settings }));
    const { close } = deps;
    const api = buildApi(
      { ...deps, overlap: { ...deps.overlap, timeoutMs: 3_000 } },
      createLogger({ name: 'test', level: 'silent' }),
    );
    closing.push(async () => {
      await api.close();
      await close();
    });
    return api;
  }

  const ask = (api: Api, audience_ids: readonly number[], key = partner.apiKey) =>
    api.inject({
      method: 'POST',
      url: '/v2/firstparty/overlap',
      payload: { audience_ids },
      headers: { authorization: `Bearer ${key}` },
    });

  async function overlap(api: Api, ids: readonly number[]): Promise<Overlap> {
    const answer = await ask(api, ids);
    expect(answer.statusCode, answer.body).toBe(200);
    return overlapSchema.strict().parse(answer.json());
  }

  const countIf = (condition: (number: number) => boolean): number =>
    Array.from({ length: devices }, (_, number) => number).filter(condition).length;

  const divisorOf = (audienceId: number): number => divisors[audiences.indexOf(audienceId)] ?? 1;

  beforeAll(async () => {
    stores = await createStores('two');
    partner = await createPartner(stores.environment);
    other = await createPartner(stores.environment);
    for (const divisor of divisors) {
      const { audienceId } = await insertAudience(stores, partner.id, `multiples of ${divisor}`);
      audiences.push(audienceId);
      await insertByNumbers(
        stores,
        'audience_devices',
        `SELECT ${partner.id}, ${audienceId}, 0, ${deviceOfNumber}, '', 1 FROM numbers(${devices}) WHERE number % ${divisor} = 0`,
      );
    }
    await startApi({});
    await foldNow(deps);
  });

  afterAll(async () => {
    for (const close of closing) await close();
    await stores.drop();
  });

  it.each([2, 3, 5, 6])('returns the same counts as the rows of %d audiences', async (size) => {
    const ids = audiences.slice(0, size);
    const found = await overlap(await startApi(unprotected), ids);
    expect(found.protected).toBe(false);
    expect(found.audiences).toEqual(
      ids.map((id) => ({ audience_id: id, devices: countIf((number) => number % divisorOf(id) === 0) })),
    );
    expect(found.intersections).toHaveLength({ 2: 1, 3: 4, 5: 26, 6: 15 }[size] ?? 0);
    for (const { audience_ids, devices: counted } of found.intersections) {
      const exact = countIf((number) => audience_ids.every((id) => number % divisorOf(id) === 0));
      expect(counted, audience_ids.join()).toBe(exact);
    }
    expect(found.reach).toBe(countIf((number) => ids.some((id) => number % divisorOf(id) === 0)));
  });

  it('hides small intersections, and returns the same protected numbers for the audiences in any order', async () => {
    const api = await startApi({});
    const ids = audiences.slice(0, 5);
    const found = await overlap(api, ids);
    expect(found.protected).toBe(true);
    expect(found.intersections.at(-1)).toEqual({ audience_ids: ids, devices: null, small: true });
    expect(found.intersections[0]?.devices).toBeGreaterThan(devices / 6 - 15 - 25);
    expect(await overlap(api, ids)).toEqual(found);
    expect(await overlap(api, ids.toReversed())).toEqual(found);
  });

  it('spends the budget only once for the same audiences, and rejects new overlaps when it is used up', async () => {
    const api = await startApi({ INLET_REPORTS_PER_CUSTOMER: '5' });
    await withDatabase(stores, async (client) => {
      await client.query('DELETE FROM report_draw');
      await client.query('DELETE FROM overlap');
    });
    const first = await overlap(api, audiences.slice(0, 3));
    expect(await overlap(api, audiences.slice(0, 3))).toEqual(first);
    const refused = await ask(api, audiences.slice(0, 2));
    expect(refused.statusCode).toBe(429);
    expect(refused.json()).toMatchObject({ code: 'report_limit_reached' });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(29 * 86_400);
    const tooLarge = await ask(api, audiences.slice(0, 5));
    expect(tooLarge.statusCode).toBe(429);
    expect(tooLarge.body).toContain('Compare fewer audiences');
  });

  it('spends the budget only once if the same overlap is requested several times concurrently', async () => {
    const api = await startApi({ INLET_REPORTS_PER_CUSTOMER: '5' });
    await withDatabase(stores, async (client) => {
      await client.query('DELETE FROM report_draw');
      await client.query('DELETE FROM overlap');
    });
    const [first, ...others] = await Promise.all([1, 2, 3].map(() => overlap(api, audiences.slice(0, 3))));
    for (const one of others) expect(one).toEqual(first);
    const { rows } = await withDatabase(stores, (client) => client.query('SELECT draws FROM report_draw'));
    expect(rows).toEqual([{ draws: 4 }]);
    await withDatabase(stores, (client) => client.query('DELETE FROM report_draw'));
  });

  it('waits until the index contains the audiences, and spends no budget if that takes too long', async () => {
    const api = await startApi({});
    const spent = (): Promise<number> =>
      withDatabase(stores, async (client) => {
        const { rows } = await client.query<{ spent: string }>(
          'SELECT coalesce(sum(draws), 0) AS spent FROM report_draw',
        );
        return Number(rows[0]?.spent);
      });
    const before = await spent();
    await withDatabase(stores, (client) =>
      client.query('UPDATE audience SET last_load_id = 50 WHERE id = $1', [audiences[0]]),
    );
    const answer = await ask(api, audiences.slice(0, 2));
    expect(answer.statusCode).toBe(503);
    expect(answer.json()).toMatchObject({ code: 'report_not_ready' });
    expect(await spent()).toBe(before);
    await foldNow(deps);
    await overlap(api, audiences.slice(0, 2));
  });

  it("returns 404 for another partner's audience and for an unknown audience", async () => {
    const api = await startApi({});
    const [one = 0, two = 0] = audiences;
    expect((await ask(api, [one, two], other.apiKey)).json()).toMatchObject({ code: 'not_found' });
    expect((await ask(api, [one, 999_999])).json()).toMatchObject({ detail: 'Audience 999999 does not exist.' });
  });

  it.each([[[1]], [[1, 1]], [Array.from({ length: 11 }, (_, n) => n + 1)]])(
    'rejects the list of audiences %j',
    async (ids) => {
      const answer = await ask(await startApi({}), ids);
      expect(answer.json()).toMatchObject({ status: 400, code: 'invalid_request' });
    },
  );
});
