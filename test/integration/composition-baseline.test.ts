import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Api } from '../../src/adapters/http/api.ts';
import { type CompositionRecord, compositionSchema } from '../../src/adapters/http/routes/get-composition.ts';
import { buildApi } from '../../src/adapters/http/server.ts';
import { createLogger } from '../../src/entry/logging.ts';
import { repeat } from '../../src/entry/repeat.ts';
import { computeReports } from '../../src/usecases/report/compute-reports.ts';
import { deviceOfNumber, insertAudience, insertByNumbers } from '../support/audience-tables.ts';
import { type BruteCounts, countByBruteForce } from '../support/brute-force-composition.ts';
import { configFor } from '../support/environment.ts';
import { foldAll } from '../support/fold-now.ts';
import { type TestPartner, createPartner } from '../support/partners.ts';
import { selectOnShards } from '../support/shard-tables.ts';
import { type TestStores, createStores } from '../support/stores.ts';
import { wireAll } from '../support/wired.ts';

const known = 12_000;
const attributes = 5;
const unprotected = { INLET_REPORT_HIDE_UNDER: '0', INLET_REPORT_NOISE: '0', INLET_REPORT_ROUND_TO: '0' };

describe('a composition compared with a baseline', () => {
  let stores: TestStores;
  let partner: TestPartner;
  let segmentId: number;
  let baselineId: number;
  let foreignId: number;
  let brute: { readonly own: BruteCounts; readonly ofBaseline: BruteCounts };
  let api: Api;
  const closing: (() => Promise<void>)[] = [];

  beforeAll(async () => {
    stores = await createStores('two');
    partner = await createPartner(stores.environment);
    const other = await createPartner(stores.environment);
    const own = await insertAudience(stores, partner.id, 'buyers');
    const baseline = await insertAudience(stores, partner.id, 'visitors');
    segmentId = own.segmentId;
    baselineId = baseline.segmentId;
    ({ segmentId: foreignId } = await insertAudience(stores, other.id, 'foreign'));
    const log = createLogger({ name: 'test', level: 'silent' });
    const deps = await wireAll(configFor({ ...stores.environment, ...unprotected }));
    const fill = (table: string, select: string) => insertByNumbers(stores, table, select);
    await fill('known_devices', `SELECT ${deviceOfNumber} FROM numbers(${known})`);
    const members = (id: number, count: number): Promise<void> =>
      fill(
        'audience_devices',
        `SELECT ${partner.id}, ${id}, 0, ${deviceOfNumber}, if(number % 3 = 0, 'buy', 'view'), 1 FROM numbers(${count})`,
      );
    await members(own.audienceId, 3_000);
    await members(baseline.audienceId, 7_000);
    for (let n = 1; n <= attributes; n += 1) {
      const { id } = await deps.attributes.create(other.id, { name: `attribute ${n}`, foreignKeys: [] });
      await fill(
        'device_attributes',
        `SELECT ${other.id}, ${id}, ${deviceOfNumber}, 1, ['DE', 'FR', ''][number % 3 + 1], 3, 0
         FROM numbers(${known}) WHERE sipHash64(number, ${n}) % 100 < ${10 * n}`,
      );
    }
    await foldAll(deps);
    brute = {
      own: await countByBruteForce(stores, own.audienceId),
      ofBaseline: await countByBruteForce(stores, baseline.audienceId),
    };
    api = buildApi(deps, log);
    const worker = repeat(20, (signal) => computeReports({ ...deps, log }, signal), log);
    closing.push(worker.stop, () => api.close(), deps.close);
  });
  afterAll(async () => {
    for (const close of closing) await close();
    await stores.drop();
  });

  const ask = (query: string, accept = 'application/json') =>
    api.inject({
      url: `/v2/firstparty/segments/${segmentId}/composition?${query}`,
      headers: { authorization: `Bearer ${partner.apiKey}`, accept },
    });

  async function report(query: string): Promise<CompositionRecord> {
    const answer = await ask(query);
    expect(answer.statusCode, answer.body).toBe(200);
    return compositionSchema.strict().parse(answer.json());
  }

  async function csv(query: string): Promise<string[][]> {
    const answer = await ask(query, 'text/csv');
    expect(answer.statusCode, answer.body).toBe(200);
    const [, ...lines] = answer.body.trimEnd().split('\r\n');
    return lines.map((line) => line.split(','));
  }

  it.each(['none', 'event'] as const)('divides by the share in the baseline audience, split by %s', async (split) => {
    const by = split === 'none' ? '' : `split=${split}&`;
    const found = await report(`${by}limit=100&order=index&baseline_segment_id=${baselineId}`);
    expect(found.baseline).toEqual({ default_warehouse_segment_id: baselineId, devices: brute.ofBaseline.matched });
    expect(found.attributes).toHaveLength(split === 'none' ? attributes : attributes * 2);
    for (const { attribute_id, value = '', ...entry } of found.attributes) {
      const cell = `${attribute_id} ${value}`;
      const devices = brute.own.devices(split).get(cell) ?? 0;
      const inBaseline = brute.ofBaseline.devices(split).get(cell) ?? 0;
      expect(entry).toMatchObject({ devices, baseline_devices: inBaseline });
      const index = devices / brute.own.matched / (inBaseline / brute.ofBaseline.matched);
      expect(entry.index).toBeCloseTo(index, 9);
    }
    const indexes = found.attributes.map(({ index }) => index ?? 0);
    expect(indexes).toEqual(indexes.toSorted((one, other) => other - one));
  });

  it("divides by the share of the country's devices that have the attribute", async () => {
    const found = await report('limit=100&order=lowest_index&baseline_country=DE');
    const ofShards = await selectOnShards(
      stores,
      `SELECT uniqExact(device) FROM device_attributes_local FINAL WHERE country = 'DE'`,
    );
    const inCountry = ofShards.reduce((sum, devices) => sum + Number(devices), 0);
    expect(found.baseline).toEqual({ country: 'DE', devices: inCountry });
    for (const { attribute_id, share, index, ...entry } of found.attributes) {
      const devices = brute.own.warehouse('country').get(`${attribute_id} DE`) ?? 0;
      expect(entry.baseline_devices).toBe(devices);
      expect(index).toBeCloseTo((share ?? 0) / (devices / inCountry), 9);
    }
    const indexes = found.attributes.map(({ index }) => index ?? 0);
    expect(indexes).toEqual(indexes.toSorted((one, other) => one - other));
  });

  it('returns no index if the country has no devices', async () => {
    const found = await report('baseline_country=XX');
    expect(found.baseline).toEqual({ country: 'XX', devices: 0 });
    expect(found.attributes.map(({ index }) => index)).toEqual(Array.from({ length: attributes }, () => null));
  });

  it('exports all entries as CSV, or only up to the limit if one is set', async () => {
    const found = await report('split=country&order=index&limit=100');
    const rows = await csv('split=country&order=index');
    expect(rows.map(([id, , , value, devices]) => [Number(id), value, Number(devices)])).toEqual(
      found.attributes.map(({ attribute_id, value, devices }) => [attribute_id, value, devices]),
    );
    expect(await csv('split=country&limit=3')).toHaveLength(3);
  });

  it("rejects two baselines, another partner's segment, and a baseline country with a split by country", async () => {
    const both = await ask(`baseline_segment_id=${baselineId}&baseline_country=DE`);
    expect(both.json()).toMatchObject({ code: 'invalid_request', errors: [{ parameter: 'baseline_country' }] });
    expect((await ask(`baseline_segment_id=${foreignId}`)).statusCode).toBe(404);
    const byCountry = await ask('split=country&baseline_country=DE');
    expect(byCountry.json()).toMatchObject({ code: 'invalid_request', errors: [{ parameter: 'baseline_country' }] });
  });
});
