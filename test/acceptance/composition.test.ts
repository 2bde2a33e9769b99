import { compositionSchema, type CompositionRecord } from '../../src/adapters/http/routes/get-composition.ts';
import { problemSchema } from '../../src/adapters/http/records/problem.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deviceOfNumber, insertAudience, insertByNumbers } from '../support/audience-tables.ts';
import { createPartner } from '../support/partners.ts';
import { withDatabase } from '../support/stores.ts';
import { startMarketplace, type Marketplace } from '../support/start-marketplace.ts';
import { apiClient, readProblem } from './api-client.ts';

// There are 1,000 known devices. `sport` has all of them, `rare` has 20, and `even` has every second device. The
// audience has the first 400 known devices and 100 unknown devices.

describe('audience composition', () => {
  let market: Marketplace;
  let segment: { audienceId: number; segmentId: number };
  const ids = { sport: 0, rare: 0, even: 0 };

  const path = (query = ''): string => `/v2/firstparty/segments/${segment.segmentId}/composition${query}`;

  async function report(query = ''): Promise<CompositionRecord> {
    const answer = await market.api.request(path(query));
    expect(answer.status).toBe(200);
    return compositionSchema.strict().parse(await answer.json());
  }

  const find = (found: CompositionRecord, id: number, value?: string) =>
    found.attributes.find((entry) => entry.attribute_id === id && entry.value === value);

  beforeAll(async () => {
    market = await startMarketplace('composition');
    for (const name of ['sport', 'rare', 'even'] as const) ids[name] = await market.partner.createAttribute(name);
    const { id } = market.partner;
    const fill = (table: string, select: string) => insertByNumbers(market.stores, table, select);
    await fill('known_devices', `SELECT ${deviceOfNumber} FROM numbers(1000)`);
    for (const [attribute, condition] of [
      [ids.sport, '1'],
      [ids.rare, 'number < 20'],
      [ids.even, 'number % 2 = 0'],
    ] as const) {
      await fill(
        'device_attributes',
        `SELECT ${id}, ${attribute}, ${deviceOfNumber}, if(number % 4 = 0, 1, 3), if(number % 10 = 0, 'LI', 'DE'), 3, 0
         FROM numbers(1000) WHERE ${condition}`,
      );
    }
    segment = await insertAudience(market.stores, market.partner.id, 'buyers');
    await fill(
      'audience_devices',
      `SELECT ${id}, ${segment.audienceId}, 0, ${deviceOfNumber}, if(number < 300, 'buy', 'view'), 1
       FROM numbers(2000) WHERE number < 400 OR number >= 1900`,
    );
    // The worker folds only rows that an import or a load has published, but these rows were inserted directly.
    await withDatabase(market.stores, (client) => client.query('SELECT note_all_index_changes()'));
  });
  afterAll(() => market.stop());

  it('compares the share of matched devices with an attribute to the share in the warehouse', async () => {
    const found = await report();
    expect(found).toMatchObject({
      audience_id: segment.audienceId,
      default_warehouse_segment_id: segment.segmentId,
      split: null,
      protected: true,
    });
    expect(Math.abs(Date.parse(found.computed_at) - Date.now())).toBeLessThan(60_000);
    // The noise is at most 15, and rounding removes up to 24.
    const near = (number: number | null | undefined, exact: number): void => {
      expect(number).toBeGreaterThanOrEqual(exact - 15 - 24);
      expect(number).toBeLessThanOrEqual(exact + 15);
    };
    near(found.matched_devices, 400);
    near(found.warehouse_devices, 1000);
    const even = find(found, ids.even);
    expect(even).toMatchObject({ name: 'even', small: false });
    near(even?.devices, 200);
    near(even?.warehouse_devices, 500);
    expect(even?.share).toBe((even?.devices ?? 0) / found.matched_devices);
    expect(even?.warehouse_share).toBe((even?.warehouse_devices ?? 0) / found.warehouse_devices);
    expect(even?.index).toBeCloseTo((even?.share ?? 0) / (even?.warehouse_share ?? 1), 9);
    expect(await report()).toEqual(found);
  });

  it('hides the device count, share, and index of a small group', async () => {
    const entry = find(await report(), ids.rare);
    expect(entry).toMatchObject({ name: 'rare', devices: null, share: null, index: null, small: true });
  });

  it('splits the report by ID type, country, or event, with every warehouse cell and no totals', async () => {
    const byType = await report('?split=id_type');
    expect(byType.split).toBe('id_type');
    expect(byType.attributes.map(({ attribute_id, value }) => `${attribute_id} ${value}`).toSorted()).toEqual(
      Object.values(ids)
        .flatMap((id) => [`${id} 1`, `${id} 3`])
        .toSorted(),
    );
    const byCountry = await report('?split=country');
    // LI has 40 devices, which noise raises to at most 55, so the count is hidden or 50. If it is hidden, DE is hidden
    // too.
    const [inLi, inDe] = ['LI', 'DE'].map((value) => find(byCountry, ids.sport, value)?.devices);
    expect([null, 50]).toContain(inLi);
    expect(inDe === null).toBe(inLi === null);
    const byEvent = await report('?split=event');
    expect(find(byEvent, ids.sport, 'buy')?.devices).toBeGreaterThan(250);
    expect(find(byEvent, ids.sport, 'view')?.devices).toBeLessThan(120);
  });

  it('sorts the report by devices or index and truncates it to the limit', async () => {
    expect((await report('?limit=1')).attributes.map(({ name }) => name)).toEqual(['sport']);
    const indexes = (await report('?order=index')).attributes.map(({ index }) => index ?? -1);
    expect(indexes).toEqual(indexes.toSorted((a, b) => b - a));
    for (const query of ['?limit=0', '?limit=101', '?order=name', '?split=city', '?what=else']) {
      const answer = await market.api.request(path(query));
      expect(problemSchema.parse(await readProblem(answer))).toMatchObject({ status: 400, code: 'invalid_request' });
    }
  });

  it('returns the entries in pages, in the same order as without pages', async () => {
    for (const query of ['?split=id_type&order=index', `?split=event&baseline_country=DE`]) {
      const whole = await report(query);
      expect(whole.totals.entries).toBe(whole.attributes.length);
      const paged: CompositionRecord['attributes'] = [];
      for (let next: string | null = path(`${query}&limit=2`); next !== null;) {
        const answer: Response = await market.api.request(next);
        const page = compositionSchema.parse(await answer.json());
        expect(page.totals).toEqual(whole.totals);
        paged.push(...page.attributes);
        next = /^<([^>]+)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1] ?? null;
      }
      expect(paged).toEqual(whole.attributes);
    }
  });

  it('finds attributes by part of their name, regardless of case', async () => {
    const found = await report('?name=POR');
    expect(found.attributes.map(({ name }) => name)).toEqual(['sport']);
    expect(found.totals).toEqual({ entries: 1, small: 0, hidden: 0 });
    for (const name of ['%25', '_', 'sportx', "'"]) {
      const none = await report(`?name=${name}`);
      expect(none.attributes).toEqual([]);
      expect(none.totals.entries).toBe(0);
    }
  });

  it('counts small and hidden groups, and omits them on request', async () => {
    const whole = await report();
    const names = whole.attributes.map(({ name }) => name);
    expect(names.toSorted()).toEqual(['even', 'rare', 'sport']);
    expect(whole.totals).toEqual({ entries: 3, small: 1, hidden: 1 });
    const answer = await market.api.request(path('?small=omit&limit=2'));
    const omitted = compositionSchema.parse(await answer.json());
    expect(omitted.totals).toEqual(whole.totals);
    expect(omitted.attributes).toEqual(whole.attributes.filter(({ small }) => !small));
    expect(answer.headers.get('link')).toBeNull();
  });

  it('rejects a cursor from another list', async () => {
    for (const cursor of ['bm8', Buffer.from('audiences.20').toString('base64url')]) {
      const answer = await market.api.request(path(`?cursor=${cursor}`));
      expect(problemSchema.parse(await readProblem(answer))).toMatchObject({ status: 400, code: 'invalid_request' });
    }
  });

  it("returns 404 for another partner's segment and for an unknown segment", async () => {
    const intruder = await createPartner(market.stores.environment);
    const foreign = await apiClient(market.service.url, intruder.apiKey).request(path());
    const missing = await market.api.request('/v2/firstparty/segments/999999/composition');
    for (const answer of [foreign, missing]) {
      expect(problemSchema.parse(await readProblem(answer))).toMatchObject({ status: 404, code: 'not_found' });
    }
  });
});
