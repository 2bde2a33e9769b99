import { attributeListSchema } from '../../src/adapters/http/routes/list-attributes.ts';
import { importLogListSchema } from '../../src/adapters/http/records/import-log.ts';
import { problemSchema } from '../../src/adapters/http/records/problem.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPartner } from '../support/partners.ts';
import { joinMarketplace, type Marketplace } from '../support/start-marketplace.ts';
import { withDatabase } from '../support/stores.ts';
import { apiClient, readProblem } from './api-client.ts';

const imports = '/v1/marketplace/import';
const attributes = '/v1/marketplace/attributes';

describe('lists of imports and attributes', () => {
  let market: Marketplace;

  beforeAll(async () => {
    market = await joinMarketplace();
    // Bypasses the API, which limits a partner's open jobs.
    await withDatabase(market.stores, async (client) => {
      await client.query(
        `WITH made AS (INSERT INTO job (partner_id, seq, kind, status)
                       SELECT $1, n, 'import', 2 FROM generate_series(1000, 1249) AS n RETURNING id)
         INSERT INTO import_log (job_id, partner_id, log_type, file_path, path_type, key_type)
         SELECT id, $1, 0, 'a.csv', 0, 1 FROM made`,
        [market.partner.id],
      );
      await client.query(
        `INSERT INTO attribute (partner_id, name) SELECT $1, 'attribute ' || n FROM generate_series(1, 1003) AS n`,
        [market.partner.id],
      );
    });
  });
  afterAll(() => market.stop());

  const importPages = async (query: string): Promise<number[][]> =>
    Promise.all(
      (await market.api.follow(imports + query)).map(async (answer) =>
        importLogListSchema.parse(await answer.json()).map(({ import_log_id }) => import_log_id),
      ),
    );
  const attributePages = async (query: string): Promise<string[][]> =>
    Promise.all(
      (await market.api.follow(attributes + query)).map(async (answer) =>
        attributeListSchema.parse(await answer.json()).map(({ name }) => name),
      ),
    );

  it('imports: return the latest 100 by default and a link to earlier imports', async () => {
    const pages = await importPages('');
    expect(pages.map(({ length }) => length)).toEqual([100, 100, 50]);
    const all = pages.flat();
    expect(all).toEqual(all.toSorted((one, other) => other - one));
    expect(new Set(all).size).toBe(250);
    expect((await market.api.list()).map(({ import_log_id }) => import_log_id)).toEqual(pages[0]);
  });

  it.each([1, 7, 99, 100])('imports: return each import once and in order with a page size of %s', async (limit) => {
    const pages = await importPages(`?limit=${limit}`);
    expect(pages.flat()).toEqual((await importPages('')).flat());
    expect(pages.slice(0, -1).every(({ length }) => length === limit)).toBe(true);
  });

  it('imports: do not change after a cursor while more imports are submitted', async () => {
    const before = (await importPages('')).flat();
    const first = await market.api.request(`${imports}?limit=10`);
    const next = /<([^>]+)>/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
    await market.api.queue({ file_path: 'nothing.csv', key_type: 1 });
    const second = importLogListSchema.parse(await (await market.api.request(next)).json());
    expect(second.map(({ import_log_id }) => import_log_id)).toEqual(before.slice(10, 20));
  });

  it('attributes: return 1,000 by default and a link to the rest', async () => {
    const pages = await attributePages('');
    expect(pages.map(({ length }) => length)).toEqual([1000, 3]);
    expect(pages.flat()).toEqual(Array.from({ length: 1003 }, (_, n) => `attribute ${n + 1}`));
  });

  it.each([59, 500, 1000])(
    'attributes: return each attribute once and in order with a page size of %s',
    async (limit) => {
      const pages = await attributePages(`?limit=${limit}`);
      expect(pages.flat()).toEqual((await attributePages('')).flat());
      expect(pages.slice(0, -1).every(({ length }) => length === limit)).toBe(true);
    },
  );

  it.each([imports, attributes])('GET %s returns 400 for invalid limits and cursors', async (path) => {
    const other = path === imports ? attributes : imports;
    const link = (await market.api.request(`${other}?limit=1`)).headers.get('link') ?? '';
    const ofTheOther = /cursor=[^>]+/.exec(link)?.[0] ?? '';
    const wrong = [
      'limit=0',
      'limit=1001',
      'limit=x',
      'limit=',
      'cursor=',
      'cursor=1',
      'cursor=x',
      ofTheOther,
      'since=1',
    ];
    for (const query of wrong) {
      const answer = await market.api.request(`${path}?${query}`);
      const problem = problemSchema.strict().parse(await readProblem(answer));
      expect(problem, query).toMatchObject({ status: 400, code: 'invalid_request' });
      expect(
        problem.errors?.map(({ pointer }) => pointer),
        query,
      ).toEqual([`/${query.split('=')[0]}`]);
    }
  });

  it.each([imports, attributes])(
    "GET %s shows no data of another partner, even with that partner's cursor",
    async (path) => {
      const stranger = await createPartner(market.stores.environment);
      const link = (await market.api.request(`${path}?limit=1`)).headers.get('link') ?? '';
      const next = /<([^>]+)>/.exec(link)?.[1] ?? '';
      const answer = await apiClient(market.service.url, stranger.apiKey).request(next);
      expect([answer.status, await answer.json()]).toEqual([200, []]);
    },
  );
});
