import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { Api } from '../../src/adapters/http/api.ts';
import { buildApi } from '../../src/adapters/http/server.ts';
import { createLogger } from '../../src/entry/logging.ts';
import { campaignSeed, runsOf } from '../support/campaign.ts';
import { createStores, withDatabase, type TestStores } from '../support/stores.ts';
import { newBarePartner, wireUp, type Wired } from '../support/wired.ts';

// Reads a list in pages of different lengths while new records are added.

type List = {
  readonly path: string;
  readonly newestFirst: boolean;
  /** Creates the given number of records. */
  readonly add: (count: number) => Promise<void>;
  readonly nameOf: (record: unknown) => string | number;
};

const step = fc.record({ limit: fc.integer({ min: 1, max: 6 }), added: fc.nat({ max: 3 }) });
const reading = fc.record({ before: fc.nat({ max: 15 }), steps: fc.array(step, { minLength: 1, maxLength: 8 }) });

describe('a list that is read page by page', () => {
  let stores: TestStores;
  let deps: Wired;
  let api: Api;

  beforeAll(async () => {
    stores = await createStores('one');
    deps = await wireUp(stores);
    api = buildApi(deps, createLogger({ name: 'test', level: 'silent' }));
  });
  afterAll(async () => {
    await api.close();
    await deps.close();
    await stores.drop();
  });

  const insert = (text: string, values: readonly unknown[]): Promise<void> =>
    withDatabase(stores, async (client) => void (await client.query(text, [...values])));
  const named = (field: string) => (record: unknown) =>
    z.object({ [field]: z.union([z.string(), z.int()]) }).parse(record)[field] ?? '';

  const lists: Readonly<Record<string, (partnerId: number) => Promise<List>>> = {
    audiences: async (partnerId) => ({
      path: '/v2/firstparty/audience',
      newestFirst: true,
      add: (count) =>
        insert("INSERT INTO audience (partner_id, name) SELECT $1, 'a' FROM generate_series(1, $2)", [
          partnerId,
          count,
        ]),
      nameOf: named('audience_id'),
    }),
    'import logs': async (partnerId) => ({
      path: '/v1/marketplace/import',
      newestFirst: true,
      add: async (count) => {
        for (let n = 0; n < count; n++) await newImport(partnerId);
      },
      nameOf: named('import_log_id'),
    }),
    attributes: async (partnerId) => {
      let serial = 0;
      return {
        path: '/v1/marketplace/attributes',
        newestFirst: false,
        add: async (count) => {
          for (let n = 0; n < count; n++) {
            serial += 1;
            await deps.attributes.create(partnerId, { name: `a${serial}`, foreignKeys: [`x${serial}`, `y${serial}`] });
          }
        },
        nameOf: named('attribute_id'),
      };
    },
    files: (partnerId) => filesOf(partnerId, 'files', null),
    errors: (partnerId) => filesOf(partnerId, 'errors', 'empty_file'),
  };

  const newImport = (partnerId: number): Promise<number> =>
    deps.importLogs.submitImport(
      partnerId,
      { filePath: 'a.csv', pathType: 0, keyType: 1, compressed: null, mode: 'merge', credentials: null },
      1_000,
    );

  const filesOf = async (partnerId: number, sub: string, failure: string | null): Promise<List> => {
    const jobId = await newImport(partnerId);
    return {
      path: `/v1/marketplace/import/${jobId}/${sub}`,
      newestFirst: false,
      add: (count) =>
        insert(
          `INSERT INTO job_file (job_id, partner_id, key, path, etag, size, batch_id, status, failure_code)
           SELECT $1, $2, $3 || n, $3 || n, '', 1, 1, CASE WHEN $4::text IS NULL THEN 0 ELSE 3 END, $4
           FROM generate_series(1, $5) AS n`,
          [jobId, partnerId, `${++files} `, failure, count],
        ),
      nameOf: named('file'),
    };
  };
  let files = 0;

  it.each(Object.keys(lists))('returns every record once and in order: %s', async (kind) => {
    await fc.assert(
      fc.asyncProperty(reading, async ({ before, steps }) => {
        const { id, apiKey } = await newBarePartner(deps);
        const list = await lists[kind]?.(id);
        if (!list) throw new Error('unknown list');
        const read = async (url: string): Promise<{ page: (string | number)[]; link: string }> => {
          const answer = await api.inject({ url, headers: { authorization: `Bearer ${apiKey}` } });
          expect(answer.statusCode, answer.body).toBe(200);
          const page = z.array(z.unknown()).parse(answer.json()).map(list.nameOf);
          return { page, link: String(answer.headers['link']) };
        };
        await list.add(before);
        const seen: (string | number)[] = [];
        let added = 0;
        let next: string | undefined = `${list.path}?limit=1`;
        for (let n = 0; next !== undefined; n++) {
          // Stops adding records eventually. Otherwise, a list that grows at its end would never end.
          const { limit, added: more } = steps[n] ?? { limit: 6, added: 0 };
          const { page, link } = await read(next.replace(/limit=\d+/, `limit=${limit}`));
          expect(page.length).toBeLessThanOrEqual(limit);
          seen.push(...page);
          next = /^<([^>]+)>; rel="next"$/.exec(link)?.[1];
          // A link is present only if another entry follows.
          const isFull = page.length === limit;
          const isAfterLink = n > 0;
          expect([next !== undefined && !isFull, isAfterLink && page.length === 0]).toEqual([false, false]);
          if (next === undefined) break;
          await list.add(more);
          added += more;
        }
        const { page: all } = await read(list.path);
        expect(all).toHaveLength(before + added);
        // In a list with the newest records first, new records appear before the first page.
        expect(seen).toEqual(list.newestFirst ? all.slice(added) : all);
      }),
      { numRuns: runsOf({ short: 10, long: 100 }), seed: campaignSeed },
    );
  });
});
