import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Api } from '../../src/adapters/http/api.ts';
import { type CompositionRecord, compositionSchema } from '../../src/adapters/http/routes/get-composition.ts';
import { eventListSchema } from '../../src/adapters/http/routes/list-events.ts';
import { buildApi } from '../../src/adapters/http/server.ts';
import { createLogger } from '../../src/entry/logging.ts';
import { repeat } from '../../src/entry/repeat.ts';
import { computeReports } from '../../src/usecases/report/compute-reports.ts';
import { deviceOfNumber, insertAudience, insertByNumbers } from '../support/audience-tables.ts';
import { type BruteCounts, type BruteSplit, countByBruteForce } from '../support/brute-force-composition.ts';
import { runsOf } from '../support/campaign.ts';
import { configFor } from '../support/environment.ts';
import { foldAll, foldNow } from '../support/fold-now.ts';
import { type TestPartner, createPartner } from '../support/partners.ts';
import { commandOnShards, selectOnShards } from '../support/shard-tables.ts';
import { type TestStores, createStores, withDatabase } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';
import { wireAll } from '../support/wired.ts';

/** Scale 20 means an audience of a million devices, five million known devices, and 26 million attribute rows. */
const scale = runsOf({ short: 0.2, long: 1 });
const known = 250_000 * scale;
const attributes = 20;
const unprotected = {
  INLET_REPORT_HIDE_UNDER: '0',
  INLET_REPORT_FLAG_UNDER: '0',
  INLET_REPORT_NOISE: '0',
  INLET_REPORT_ROUND_TO: '0',
};

type Deps = Awaited<ReturnType<typeof wireAll>>;

describe('the composition of an audience', () => {
  let stores: TestStores;
  let partner: TestPartner;
  let other: TestPartner;
  let audienceId: number;
  let segmentId: number;
  let brute: BruteCounts;
  const closing: (() => Promise<void>)[] = [];
  let closeFold: () => Promise<void>;

  async function startApi(
    settings: Record<string, string>,
    profilerOf: (deps: Deps) => Deps['profiler'] = ({ profiler }) => profiler,
  ): Promise<{ api: Api; deps: Deps }> {
    const log = createLogger({ name: 'test', level: 'silent' });
    const deps = await wireAll(configFor({ ...stores.environment, ...settings }));
    const api = buildApi(deps, log);
    const worker = repeat(20, (signal) => computeReports({ ...deps, profiler: profilerOf(deps), log }, signal), log);
    closing.push(async () => {
      await worker.stop();
      await api.close();
      await deps.close();
    });
    return { api, deps };
  }

  const ask = (api: Api, query = '', key = partner.apiKey) =>
    api.inject({
      url: `/v2/firstparty/segments/${segmentId}/composition?limit=100${query}`,
      headers: { authorization: `Bearer ${key}` },
    });

  async function report(api: Api, query = ''): Promise<CompositionRecord> {
    const answer = await ask(api, query);
    expect(answer.statusCode, answer.body).toBe(200);
    return compositionSchema.strict().parse(answer.json());
  }

  /** Returns the number of reports that were computed so far on all shards. */
  async function computations(): Promise<number> {
    await commandOnShards(stores, 'SYSTEM FLUSH LOGS');
    const counts = await selectOnShards(
      stores,
      `SELECT count() FROM system.query_log WHERE current_database = '${stores.database}' AND type = 'QueryFinish'
         AND query LIKE '%bitmapAndnotCardinality(c.devices%' AND query NOT LIKE '%system.query_log%'`,
    );
    return counts.reduce((sum, count) => sum + Number(count), 0);
  }

  let foldDeps: Deps;

  async function touchOnly(change: string): Promise<void> {
    await withDatabase(stores, (client) => client.query(`UPDATE audience SET ${change} WHERE id = $1`, [audienceId]));
  }

  async function touch(change: string): Promise<void> {
    await touchOnly(change);
    await foldNow(foldDeps);
  }

  /** Deletes the stored reports, because a later generation would take precedence. Only tests decrease a generation. */
  async function returnToGeneration0(loadId: number): Promise<void> {
    await withDatabase(stores, (client) => client.query('DELETE FROM composition'));
    await touch(`generation = 0, last_load_id = ${loadId}`);
  }

  beforeAll(async () => {
    stores = await createStores('two');
    partner = await createPartner(stores.environment);
    other = await createPartner(stores.environment);
    ({ audienceId, segmentId } = await insertAudience(stores, partner.id, 'buyers'));
    const deps = await wireAll(configFor(stores.environment));
    closeFold = deps.close;
    const start = performance.now();
    const device = `${deviceOfNumber} AS device`;
    const fill = (table: string, select: string) => insertByNumbers(stores, table, select);
    await fill('known_devices', `SELECT ${device} FROM numbers(${known})`);
    await fill('known_devices', `SELECT ${device} FROM numbers(${known / 10})`);
    const member = (id: number, generation: number, event: string, file: number) =>
      `SELECT ${partner.id}, ${id}, ${generation}, ${device}, ${event}, ${file}`;
    const sixth = `FROM numbers(${known * 1.2}) WHERE number % 6 = 0`;
    await fill(
      'audience_devices',
      `${member(audienceId, 0, "concat('e', toString(intDiv(number, 6) % 4))", 1)} ${sixth}`,
    );
    // Inserts some devices again in other parts, with the same or different events.
    await fill(
      'audience_devices',
      `${member(audienceId, 0, "concat('e', toString(intDiv(number, 12) % 3))", 2)} ${sixth} AND number % 12 = 0`,
    );
    // Adds rows that must not be read: an older generation and another audience.
    await fill('audience_devices', `${member(audienceId, 1, "'x'", 1)} FROM numbers(1000)`);
    await fill('audience_devices', `${member(audienceId + 1, 0, "'x'", 1)} FROM numbers(${known / 5})`);
    for (let n = 1; n <= attributes; n += 1) {
      const owner = n % 2 ? partner : other;
      const { id } = await deps.attributes.create(owner.id, { name: `attribute ${n}`, foreignKeys: [] });
      const row = (version: number, isDeleted: number) =>
        `SELECT ${owner.id}, ${id}, ${device}, if(number % 5 < 2, 1, 3), ['DE', 'FR', 'US', ''][number % 4 + 1], ${version}, ${isDeleted}`;
      // Some of the devices with attributes are not known yet.
      await fill(
        'device_attributes',
        `${row(3, 0)} FROM numbers(${Math.round(known * 1.01)}) WHERE sipHash64(number, ${n}) % 100 < ${5 + 2 * n}`,
      );
      await fill('device_attributes', `${row(5, 1)} FROM numbers(${known}) WHERE number % 97 = ${n}`);
      await fill(
        'device_attributes',
        `${row(3, 0)} FROM numbers(${known / 50}) WHERE sipHash64(number, ${n}) % 100 < 5`,
      );
    }
    const filled = performance.now();
    foldDeps = deps;
    await foldAll(deps);
    process.stdout.write(`folded in ${((performance.now() - filled) / 1000).toFixed(1)} s\n`);
    brute = await countByBruteForce(stores, audienceId);
    process.stdout.write(`brute force: ${((performance.now() - filled) / 1000).toFixed(1)} s\n`);
    process.stdout.write(`filled in ${((filled - start) / 1000).toFixed(1)} s\n`);
  });

  const closeAll = async (): Promise<void> => {
    for (const close of closing.splice(0)) await close();
  };
  // Otherwise, a worker of an earlier test could answer a request with different limits.
  afterEach(closeAll);
  afterAll(async () => {
    await closeFold();
    await stores.drop();
  });

  it.each<BruteSplit>(['none', 'id_type', 'country', 'event'])(
    'reports the same counts as a brute-force query, split by %s',
    async (split) => {
      const { api } = await startApi(unprotected);
      const start = performance.now();
      const found = await report(api, split === 'none' ? '' : `&split=${split}`);
      process.stdout.write(`split by ${split}: ${((performance.now() - start) / 1000).toFixed(1)} s\n`);
      const [devices, warehouse] = [brute.devices(split), brute.warehouse(split)];
      expect(found).toMatchObject({ matched_devices: brute.matched, warehouse_devices: brute.known, protected: false });
      expect(found.attributes).toHaveLength(attributes * { none: 1, id_type: 2, country: 4, event: 4 }[split]);
      for (const entry of found.attributes) {
        const cell = `${entry.attribute_id} ${entry.value ?? ''}`;
        expect(entry.devices, cell).toBe(devices.get(cell) ?? 0);
        expect(entry.warehouse_devices, cell).toBe(
          warehouse.get(split === 'event' ? `${entry.attribute_id} ` : cell) ?? 0,
        );
      }
    },
  );

  it('makes folds wait for a report that they keep interrupting', async () => {
    await returnToGeneration0(77);
    let interrupted = 0;
    const { api } = await startApi({}, (deps) => ({
      profile: async (...question) => {
        const counts = await deps.profiler.profile(...question);
        // Succeeds only if a fold could run.
        if (!(await deps.indexStore.runAlone(() => Promise.resolve()))) return counts;
        interrupted += 1;
        return null;
      },
    }));
    expect((await ask(api)).statusCode).toBe(200);
    expect(interrupted).toBe(2);
  });

  it('computes a report while another report takes a long time', async () => {
    await returnToGeneration0(78);
    const second = Promise.withResolvers<void>();
    const { api } = await startApi({}, (deps) => ({
      profile: async (members, counting, ...rest) => {
        if (counting === 'none') await second.promise;
        return deps.profiler.profile(members, counting, ...rest);
      },
    }));
    const first = ask(api);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect((await ask(api, '&split=id_type')).statusCode).toBe(200);
    second.resolve();
    expect((await first).statusCode).toBe(200);
  });

  it('caches a report and returns the same numbers without a ClickHouse statement', async () => {
    const { api } = await startApi({});
    const first = await report(api, '&split=country');
    const before = await computations();
    expect(await report(api, '&split=country')).toEqual(first);
    expect(await computations()).toBe(before);
  });

  it('computes a report once for two concurrent callers, even on two processes', async () => {
    const [one, two] = [await startApi(unprotected), await startApi(unprotected)];
    await touch('last_load_id = 100');
    const before = await computations();
    const [first, second, third] = await Promise.all([report(one.api), report(one.api), report(two.api)]);
    expect(second).toEqual(first);
    expect(third).toEqual(first);
    expect(await computations()).toBe(before + 2);
  });

  it('notifies workers of a request and callers of a finished report, and logs the event', async () => {
    const { api } = await startApi(unprotected);
    await withDatabase(stores, (client) => client.query('DELETE FROM composition'));
    const notified: string[] = [];
    await withDatabase(stores, async (client) => {
      client.on('notification', ({ channel, payload }) => void notified.push(`${channel} ${payload}`));
      await client.query('LISTEN inlet_report_requests; LISTEN inlet_finished_reports');
      await report(api);
      await waitUntil('both notifications arrive', () => Promise.resolve(notified.length === 2));
    });
    expect(notified).toEqual([`inlet_report_requests ${partner.id}`, `inlet_finished_reports ${partner.id}`]);
    const headers = { authorization: `Bearer ${partner.apiKey}` };
    const events = eventListSchema.parse((await api.inject({ url: '/v1/events', headers })).json());
    expect(events.at(-1)).toMatchObject({
      type: 'report.ready',
      customer: null,
      data: { audience_id: audienceId, default_warehouse_segment_id: segmentId, split: null },
    });
  });

  it('returns exact counts for chunks without a bitmap of all numbers', async () => {
    const { api } = await startApi(unprotected);
    const first = await report(api);
    await commandOnShards(stores, 'TRUNCATE TABLE full_chunks_local SYNC');
    await withDatabase(stores, (client) => client.query('DELETE FROM composition'));
    const second = await report(api);
    expect(second).toEqual({ ...first, computed_at: second.computed_at });
  });

  it('recomputes a report after a load and after a clear', async () => {
    const { api } = await startApi(unprotected);
    const first = await report(api);
    await touch('last_load_id = 101');
    const second = await report(api);
    expect(Date.parse(second.computed_at)).toBeGreaterThan(Date.parse(first.computed_at));
    expect(second.attributes).toEqual(first.attributes);
    await touch('generation = 2, last_load_id = NULL');
    expect(await report(api)).toMatchObject({ matched_devices: 0, warehouse_devices: known });
    await returnToGeneration0(102);
  });

  it('draws the same noise for the same members, even when it recomputes a report', async () => {
    const { api } = await startApi({});
    const exact = await report((await startApi(unprotected)).api);
    const first = await report(api);
    expect(first.protected).toBe(true);
    await touch('last_load_id = 103');
    const again = await report(api);
    expect(again.attributes).toEqual(first.attributes);
    const exactly = new Map(exact.attributes.map((entry) => [entry.attribute_id, entry.devices ?? 0]));
    for (const { attribute_id, devices } of first.attributes) {
      expect(devices).not.toBeNull();
      expect(Math.abs((devices ?? 0) - (exactly.get(attribute_id) ?? 0))).toBeLessThan(15 + 25);
      expect((devices ?? 0) % 25).toBe(0);
    }
  });

  it('counts a device with several events only in the smallest cell of a protected report', async () => {
    const [guarded, open] = [await startApi({}), await startApi(unprotected)];
    const sum = (found: CompositionRecord): number =>
      found.attributes.reduce((total, { devices }) => total + (devices ?? 0), 0);
    const [once, each] = [await report(guarded.api, '&split=event'), await report(open.api, '&split=event')];
    const devices = sum(await report(open.api));
    expect(sum(each)).toBeGreaterThan(devices * 1.2);
    expect(Math.abs(sum(once) - devices)).toBeLessThan(80 * 40);
  });

  it('returns 503 while the report is being computed and the result when the caller retries', async () => {
    const { deps } = await startApi({});
    const log = createLogger({ name: 'test', level: 'silent' });
    const api = buildApi({ ...deps, composition: { ...deps.composition, timeoutMs: 1 } }, log);
    await touch('last_load_id = 104');
    const answer = await ask(api, '&split=id_type');
    expect(answer.statusCode).toBe(503);
    expect(answer.json()).toMatchObject({ code: 'report_not_ready' });
    expect(answer.headers['retry-after']).toBeDefined();
    await expect.poll(async () => (await ask(api, '&split=id_type')).statusCode, { timeout: 60_000 }).toBe(200);
  });

  it('lets other requests run while it protects a report with 50,000 cells', async () => {
    const { api } = await startApi({});
    await touch('last_load_id = 105');
    const cells = Array.from({ length: 50_000 }, (_, n) => [Math.floor(n / 50), `v${n % 50}`, n % 500, 1000, `s${n}`]);
    await withDatabase(stores, (client) =>
      client.query(
        `INSERT INTO composition (audience_id, split, generation, last_load_id, report) VALUES ($1, 'country', 0, 105, $2)
         ON CONFLICT (audience_id, split) DO UPDATE SET last_load_id = 105, report = excluded.report`,
        [audienceId, JSON.stringify({ members: 'm', matched: 5_000, known, cells })],
      ),
    );
    // The CPU time of this thread does not depend on other load on the machine.
    const cpuTime = (): number => {
      const { user, system } = process.threadCpuUsage();
      return user + system;
    };
    const start = cpuTime();
    let [last, longestGap] = [start, 0];
    const tick = (): void => {
      const now = cpuTime();
      longestGap = Math.max(longestGap, now - last);
      last = now;
    };
    const ticking = setInterval(tick, 1);
    const first = await report(api, '&split=country');
    clearInterval(ticking);
    tick();
    expect(longestGap).toBeLessThan((last - start) / 2);
    expect(first.attributes).toHaveLength(100);
    expect(await report(api, '&split=country')).toEqual(first);
  });

  it('protects a report again after the settings have changed', async () => {
    const noisy = await report((await startApi({ INLET_REPORT_KEY: 'ab'.repeat(32) })).api, '&split=id_type');
    const before = await computations();
    const rekeyed = await report((await startApi({ INLET_REPORT_KEY: 'cd'.repeat(32) })).api, '&split=id_type');
    const exact = await report((await startApi(unprotected)).api, '&split=id_type');
    expect(await computations()).toBe(before);
    expect(rekeyed.attributes).not.toEqual(noisy.attributes);
    expect([rekeyed.protected, exact.protected]).toEqual([true, false]);
  });

  it('limits new reports per day and still returns reports that were already computed', async () => {
    const { api } = await startApi({ INLET_REPORTS_PER_DAY: '2' });
    await withDatabase(stores, async (client) => {
      await client.query('DELETE FROM report_draw');
      await client.query(`DELETE FROM composition WHERE split = 'country'`);
    });
    await touch('last_load_id = 106');
    const first = await report(api, '&split=id_type');
    await report(api, '&split=event');
    const refused = await ask(api, '&split=country');
    expect(refused.statusCode).toBe(429);
    expect(refused.json()).toMatchObject({ code: 'report_limit_reached' });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(refused.headers['retry-after'])).toBeLessThanOrEqual(86_400);
    expect(await report(api, '&split=id_type')).toEqual(first);
    await withDatabase(stores, (client) =>
      client.query(`UPDATE report_draw SET drawn_at = drawn_at - interval '1 day'`),
    );
    await report(api, '&split=country');
  });

  it('returns the report of the previous load when the 30-day privacy budget is used up', async () => {
    const { api } = await startApi({ INLET_REPORTS_PER_CUSTOMER: '1' });
    await withDatabase(stores, (client) => client.query('DELETE FROM report_draw'));
    await touch('last_load_id = 107');
    const first = await report(api);
    expect(first).toMatchObject({ current: true, next_report_at: null });
    await touch('last_load_id = 108');
    const later = await report(api);
    expect(later).toEqual({ ...first, current: false, next_report_at: later.next_report_at });
    const days = (Date.parse(later.next_report_at ?? '') - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(29.9);
    expect(days).toBeLessThanOrEqual(30);
    const limits = await api.inject({ url: '/v1/limits', headers: { authorization: `Bearer ${partner.apiKey}` } });
    expect(limits.json()).toMatchObject({ reports: { composition: { limit: 1, used: 1 }, overlap: { used: 0 } } });
    // A cleared audience must not show what its deleted devices had in common.
    await touch('generation = 3, last_load_id = 109');
    expect((await ask(api)).statusCode).toBe(429);
    await returnToGeneration0(110);
  });

  it('applies new settings to the last report without another draw when the budget is used up', async () => {
    const limited = { INLET_REPORTS_PER_CUSTOMER: '1' };
    await withDatabase(stores, (client) => client.query('DELETE FROM report_draw'));
    const first = await report((await startApi(limited)).api);
    await touch('last_load_id = 111');
    const rekeyed = await startApi({ ...limited, INLET_REPORT_KEY: 'ef'.repeat(32) });
    const later = await report(rekeyed.api);
    expect(later).toMatchObject({ current: false, computed_at: first.computed_at });
    expect(later.attributes).not.toEqual(first.attributes);
    await withDatabase(stores, (client) => client.query('DELETE FROM report_draw'));
  });

  it('computes reports without waiting for other audiences to be added to the index', async () => {
    const { api } = await startApi({});
    for (const owner of [partner, other]) {
      const { segmentId: unfolded } = await insertAudience(stores, owner.id, 'unfolded');
      await withDatabase(stores, (client) =>
        client.query(
          `INSERT INTO report_request (audience_id, split, settings, state, partner_id, requested_at)
           SELECT id, 'none', $2, '0 1', partner_id, now() - interval '1 minute' FROM audience WHERE warehouse_segment_id = $1`,
          [unfolded, foldDeps.reportSettings],
        ),
      );
    }
    await touchOnly('last_load_id = 112');
    await withDatabase(stores, (client) =>
      client.query(`UPDATE index_audience SET load_id = 112, fold_id = fold_id WHERE audience_id = $1`, [audienceId]),
    );
    const start = performance.now();
    await report(api, '&split=id_type');
    expect(performance.now() - start).toBeLessThan(15_000);
    await withDatabase(stores, (client) => client.query('DELETE FROM report_request'));
    await foldNow(foldDeps);
  });

  it('returns the report of the latest load if the audience is loaded while the caller waits', async () => {
    const { api } = await startApi({});
    await touchOnly('last_load_id = 113');
    const asked = report(api, '&split=id_type');
    await waitUntil('the report is requested', () =>
      withDatabase(stores, async (client) => (await client.query('SELECT FROM report_request')).rowCount === 1),
    );
    await touch('last_load_id = 114');
    await asked;
    const stored = await withDatabase(stores, (client) =>
      client.query<{ last_load_id: string }>(
        `SELECT last_load_id FROM composition WHERE audience_id = $1 AND split = 'id_type'`,
        [audienceId],
      ),
    );
    expect(stored.rows).toEqual([{ last_load_id: '114' }]);
  });

  it('lets partners take turns in computing reports', async () => {
    const requests = async (owner: TestPartner, count: number): Promise<void> => {
      for (let n = 0; n < count; n += 1) {
        const { audienceId: id } = await insertAudience(stores, owner.id, 'turns');
        await withDatabase(stores, async (client) => {
          await client.query('UPDATE audience SET last_load_id = NULL WHERE id = $1', [id]);
          await client.query(
            `INSERT INTO report_request (audience_id, split, settings, state, partner_id) VALUES ($1, 'none', 'turns', '0 0', $2)`,
            [id, owner.id],
          );
        });
      }
    };
    await requests(partner, 3);
    await requests(other, 1);
    const claimed: number[] = [];
    for (let n = 0; n < 4; n += 1) {
      const request = await foldDeps.reports.claimRequest('turns', 60);
      if (request) claimed.push(request.audience.partnerId);
    }
    expect(claimed).toEqual([partner.id, other.id, partner.id, partner.id]);
    await withDatabase(stores, (client) => client.query('DELETE FROM report_request'));
  });

  it('computes a report again in the background after a week', async () => {
    const { api } = await startApi({});
    await withDatabase(stores, async (client) => {
      await client.query('DELETE FROM report_draw');
      await client.query('DELETE FROM composition');
    });
    const first = await report(api);
    await withDatabase(stores, (client) =>
      client.query(`UPDATE composition SET computed_at = now() - interval '8 days'`),
    );
    const stale = await report(api);
    expect(stale).toEqual({ ...first, computed_at: stale.computed_at });
    await expect
      .poll(async () => Date.parse((await report(api)).computed_at), { timeout: 30_000 })
      .toBeGreaterThanOrEqual(Date.parse(first.computed_at));
  });

  it("returns 404 for another partner's segment", async () => {
    const { api } = await startApi({});
    expect((await ask(api, '', other.apiKey)).statusCode).toBe(404);
  });
});
