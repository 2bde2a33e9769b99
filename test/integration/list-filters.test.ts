import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Api } from '../../src/adapters/http/api.ts';
import { audienceFileListSchema, audienceListSchema } from '../../src/adapters/http/records/audience.ts';
import { importFileListSchema, importLogListSchema } from '../../src/adapters/http/records/import-log.ts';
import { buildApi } from '../../src/adapters/http/server.ts';
import { createLogger } from '../../src/entry/logging.ts';
import { campaignSeed, runsOf } from '../support/campaign.ts';
import { type TestStores, createStores, withDatabase } from '../support/stores.ts';
import { type BarePartner, type Wired, newBarePartner, wireUp } from '../support/wired.ts';

// A filtered list must contain exactly those records in the whole list that match the filter. The database is filled
// with records in every state, including states that follow each other within milliseconds.

const start = Date.parse('2026-11-01T00:00:00Z');
const minute = 60_000;
const count = 400;
const names = ['Summer 100%', 'summer_sale', 'Été', String.raw`back\slash`, 'WINTER', 'été 2', ''];
const paths = ['daily/', 'daily/a_b%', 'Daily/', 'été/', 'daily/😀', String.raw`da\ily`];

/** Inserts jobs that are up to ten minutes out of order, audiences, and files in all states. */
const fill = `
  INSERT INTO job (id, partner_id, seq, kind, status, failure_code, created_at, listed_at)
  SELECT $1::bigint * 100000 + n, $1, n, (ARRAY['import', 'delete', 'audience', 'audience'])[1 + floor(random() * 4)],
    s.status, CASE WHEN s.status = 3 THEN (ARRAY['no_files', 'file_failed'])[1 + floor(random() * 2)] END,
    '2026-11-01T00:00:00Z'::timestamptz + interval '1 minute' * (n + random() * 9.8 - 4.9),
    CASE WHEN s.status IN (1, 2) OR random() < 0.5 THEN now() END
  FROM generate_series(1, ${count}) AS n, LATERAL (SELECT floor(random() * 4 + n * 0)::int AS status) AS s;
  INSERT INTO import_log (job_id, partner_id, log_type, file_path, path_type, key_type)
  SELECT id, $1, CASE kind WHEN 'delete' THEN 1 ELSE 0 END, ($2::text[])[1 + id % 6] || id % 9, 0, 1
  FROM job WHERE partner_id = $1 AND kind <> 'audience';
  INSERT INTO audience (id, partner_id, customer_id, name, generation, created_at)
  SELECT $1::bigint * 100000 + n, $1, CASE WHEN n % 10 = 0 THEN $4::bigint END, ($3::text[])[1 + n % 7] || n % 5, n % 2,
    '2026-11-01T00:00:00Z'::timestamptz + interval '1 minute' * n * 3
  FROM generate_series(1, 120) AS n;
  INSERT INTO audience_load (job_id, partner_id, audience_id, generation, file_path, superseded, dismissed_at)
  SELECT id, $1, $1::bigint * 100000 + 1 + floor(random() * 100), floor(random() * 2), 'a', random() < 0.2,
    CASE WHEN random() < 0.2 THEN now() END
  FROM job WHERE partner_id = $1 AND kind = 'audience';
  INSERT INTO job_file (job_id, partner_id, key, path, etag, size, batch_id, status, superseded, dismissed_at, audience_id, generation)
  SELECT job.id, $1, 'k' || f, 'k' || f, 'e' || job.id, 1, 1, floor(random() * 4), l.superseded IS NOT NULL AND random() < 0.2,
    CASE WHEN random() < 0.2 THEN now() END, l.audience_id, l.generation
  FROM job LEFT JOIN audience_load l ON l.job_id = job.id, generate_series(1, 1 + job.id % 4) AS f
  WHERE job.partner_id = $1 AND job.listed_at IS NOT NULL AND job.kind <> 'delete'`;

const statuses = fc.uniqueArray(fc.constantFrom(0, 1, 2, 3), { minLength: 1 });
const moment = fc
  .integer({ min: -minute, max: (count + 1) * minute })
  .map((after) => new Date(start + after).toISOString());
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 });
const created = { created_from: optional(moment), created_to: optional(moment) };
const limit = fc.constantFrom(5, 20, 100);
const importFilter = fc.record({
  status: optional(statuses),
  log_type: optional(fc.constantFrom(0, 1)),
  path: optional(fc.constantFrom('d', 'D', 'daily/', 'daily/a_', 'daily/a_b%3', 'da\\', 'é', 'daily/😀', '%', 'x')),
  ...created,
});
const audienceFilter = fc.record({
  status: optional(statuses),
  name: optional(fc.constantFrom('summer', 'SUMMER', '100%', '_', '\\', 'été', 'ÉTÉ', 'r', '%', 'none')),
  ...created,
});

/** Schemas without a maximum length, because several pages together are longer than a single page can be. */
const importLogs = z.array(importLogListSchema.element);
const audiences = z.array(audienceListSchema.element);

type Filter = Readonly<Record<string, string | number | readonly number[] | undefined>>;
type Listed = { readonly status: number };

const hasStatus = (wanted: readonly number[] | undefined, { status }: Listed): boolean =>
  wanted?.includes(status) ?? true;
const isCreated = (of: { created_from?: string | undefined; created_to?: string | undefined }, at: string): boolean =>
  (of.created_from === undefined || at >= of.created_from) && (of.created_to === undefined || at < of.created_to);

describe('a filtered list', () => {
  let stores: TestStores;
  let deps: Wired;
  let api: Api;
  let partner: BarePartner;

  beforeAll(async () => {
    stores = await createStores('one');
    deps = await wireUp(stores);
    api = buildApi(deps, createLogger({ name: 'test', level: 'silent' }));
    partner = await newBarePartner(deps);
    for (const { id } of [partner, await newBarePartner(deps)]) {
      await withDatabase(stores, async (client) => {
        const { rows } = await client.query<{ id: string }>(
          `INSERT INTO customer (partner_id, name) VALUES ($1, 'customer') RETURNING id`,
          [id],
        );
        await client.query('SELECT setseed(0.5)');
        const values = [id, paths, names, rows[0]?.id];
        for (const statement of fill.split(';')) {
          const used = values.filter((_, n) => statement.includes(`$${n + 1}`));
          const numbered = values.reduce<string>(
            (text, _, n) =>
              text.includes(`$${n + 1}`) ? text.replaceAll(`$${n + 1}`, `$${used.indexOf(values[n]) + 1}`) : text,
            statement,
          );
          await client.query(numbered, used);
        }
      });
    }
  });
  afterAll(async () => {
    await api.close();
    await deps.close();
    await stores.drop();
  });

  /** Reads every page. */
  const read = async (path: string, filter: Filter, size: number): Promise<unknown[]> => {
    const query = new URLSearchParams({ limit: String(size) });
    for (const [name, value] of Object.entries(filter)) if (value !== undefined) query.set(name, String(value));
    const found: unknown[] = [];
    for (let next: string | undefined = `${path}?${query.toString()}`; next !== undefined;) {
      const answer: Awaited<ReturnType<typeof api.inject>> = await api.inject({
        url: next,
        headers: { authorization: `Bearer ${partner.apiKey}` },
      });
      expect(answer.statusCode, answer.body).toBe(200);
      const page: unknown[] = answer.json();
      found.push(...page);
      next = /^<([^>]+)>; rel="next"$/.exec(String(answer.headers['link']))?.[1];
      // Only the last page can be shorter, and a page that follows a link is not empty.
      expect(next === undefined || page.length === size).toBe(true);
      if (next === undefined && found.length > 0) expect(page.length).toBeGreaterThan(0);
    }
    return found;
  };
  const options = { numRuns: runsOf({ short: 40, long: 600 }), seed: campaignSeed };

  it('a filtered list of imports contains exactly the matching imports', async () => {
    const all = importLogs.parse(await read('/v1/marketplace/import', {}, 100));
    expect(new Set(all.map(({ status, log_type }) => `${status} ${log_type}`)).size).toBe(8);
    await fc.assert(
      fc.asyncProperty(importFilter, limit, async (filter, size) => {
        const found = importLogs.parse(await read('/v1/marketplace/import', filter, size));
        const { status, log_type, path = '' } = filter;
        const expected = all.filter(
          (log) =>
            hasStatus(status, log) &&
            (log_type ?? log.log_type) === log.log_type &&
            log.file_path.startsWith(path) &&
            isCreated(filter, log.created_at),
        );
        expect(found.map(({ import_log_id }) => import_log_id)).toEqual(
          expected.map(({ import_log_id }) => import_log_id),
        );
      }),
      options,
    );
  });

  it('a filtered list of audiences contains exactly the matching audiences, even though their status is derived', async () => {
    const all = audiences.parse(await read('/v2/firstparty/audience', {}, 1000));
    expect(all).toHaveLength(108);
    expect(new Set(all.map(({ status }) => status)).size).toBe(4);
    await fc.assert(
      fc.asyncProperty(audienceFilter, limit, async (filter, size) => {
        const found = audiences.parse(await read('/v2/firstparty/audience', filter, size));
        const expected = all.filter(
          (audience) =>
            hasStatus(filter.status, audience) &&
            audience.name.toLowerCase().includes((filter.name ?? '').toLowerCase()) &&
            isCreated(filter, audience.created_at),
        );
        expect(found.map(({ audience_id }) => audience_id)).toEqual(expected.map(({ audience_id }) => audience_id));
      }),
      options,
    );
  });

  it('a filtered list of files contains exactly the matching files', async () => {
    const someImports = importLogs.parse(await read('/v1/marketplace/import', {}, 100)).slice(0, 20);
    const someAudiences = audiences.parse(await read('/v2/firstparty/audience', {}, 1000)).slice(20, 40);
    const lists = [
      ...someImports.map(
        ({ import_log_id: id }) => [`/v1/marketplace/import/${id}/files`, importFileListSchema] as const,
      ),
      ...someAudiences.map(
        ({ audience_id: id }) => [`/v2/firstparty/audience/${id}/files`, audienceFileListSchema] as const,
      ),
    ];
    let listed = 0;
    for (const [path, schema] of lists) {
      const all: readonly Listed[] = schema.parse(await read(path, {}, 100));
      for (const status of [[0], [1], [2], [3], [0, 3]]) {
        const found = schema.parse(await read(path, { status }, 2));
        expect(found).toEqual(all.filter((file) => hasStatus(status, file)));
        listed += found.length;
      }
    }
    expect(listed).toBeGreaterThan(50);
  });

  it.each([
    ['/v1/marketplace/import', 'status', ['', '4', '1,', '-1', '0;1', 'done', '1,2,9']],
    ['/v1/marketplace/import', 'log_type', ['', '2', 'import']],
    ['/v1/marketplace/import', 'path', ['', '%00', 'a%00b', 'x'.repeat(1201)]],
    ['/v1/marketplace/import', 'created_from', ['', 'yesterday', '2026-13-01', '2026-11-01T00:00:00', '1763424000']],
    ['/v1/marketplace/import', 'created_to', ['2026-11-31']],
    ['/v2/firstparty/audience', 'status', ['4']],
    ['/v2/firstparty/audience', 'name', ['', '%00', 'x'.repeat(257)]],
    ['/v2/firstparty/audience', 'created_to', ['x']],
    ['/v1/marketplace/import/1/files', 'status', ['x']],
    ['/v1/marketplace/import/1/errors', 'code', ['', 'no_such_code', '%00']],
    ['/v1/marketplace/import/1/errors', 'file', ['', '%00']],
    ['/v2/firstparty/audience/1/errors', 'code', ['x']],
    ['/v2/firstparty/audience/1/files', 'status', ['x']],
  ])('%s rejects invalid values of %s', async (path, name, values) => {
    for (const value of values) {
      const url = `${path}?${name}=${value}`;
      const answer = await api.inject({ url, headers: { authorization: `Bearer ${partner.apiKey}` } });
      const problem: unknown = answer.json();
      const detail: unknown = expect.stringMatching(`^${name} .*\\.$`);
      expect([answer.statusCode, problem], value).toMatchObject([
        400,
        { code: 'invalid_request', errors: [{ parameter: name, detail }] },
      ]);
    }
  });
});
