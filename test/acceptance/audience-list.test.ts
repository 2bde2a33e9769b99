import type { AudienceRecord } from '../../src/adapters/http/records/audience.ts';
import { audienceListSchema } from '../../src/adapters/http/records/audience.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rows } from '../support/file-rows.ts';
import { createPartner } from '../support/partners.ts';
import { joinAudiences, type Audiences } from '../support/start-audiences.ts';
import { withDatabase } from '../support/stores.ts';
import { apiClient, type ApiClient } from './api-client.ts';
import { audienceClient, audiencePath } from './audience-client.ts';

describe('listing audiences', () => {
  let market: Audiences;
  let made: number[];

  beforeAll(async () => {
    market = await joinAudiences();
    await market.partner.upload('a.csv', rows(0, 4));
    made = [];
    for (const name of ['one', 'two', 'three', 'four', 'five']) {
      made.push((await market.audiences.create(name, 'a.csv')).audienceId);
    }
    await market.audiences.settled(made.at(-1) ?? 0);
  });
  afterAll(() => market.stop());

  const pages = async (api: ApiClient, query: string): Promise<AudienceRecord[][]> =>
    Promise.all(
      (await api.follow(audiencePath + query)).map(async (answer) => audienceListSchema.parse(await answer.json())),
    );

  it('the list of audiences is an array of audience records without files, newest first', async () => {
    const listed = await market.audiences.list();
    expect(listed.map(({ audience_id }) => audience_id)).toEqual(made.toReversed());
    expect(listed.map(({ name }) => name)).toEqual(['five', 'four', 'three', 'two', 'one']);
    for (const record of listed) {
      const { file, ...details } = await market.audiences.get(record.audience_id);
      expect(details).toMatchObject(record);
      expect(record).not.toHaveProperty('file');
      expect(file).toHaveLength(1);
    }
  });

  it.each([1, 2, 3, 5, 1000])('returns each audience once and in order with a page size of %s', async (limit) => {
    const whole = await market.audiences.list();
    const paged = await pages(market.api, `?limit=${limit}`);
    expect(paged.flat()).toEqual(whole);
    expect(paged.slice(0, -1).every((page) => page.length === limit)).toBe(true);
  });

  it('each page except the last links to the next page', async () => {
    const answer = await market.audiences.request(`${audiencePath}?limit=2`);
    expect(answer.headers.get('link')).toMatch(/^<\/v2\/firstparty\/audience\?limit=2&cursor=[\w-]+>; rel="next"$/);
    expect((await market.audiences.request(audiencePath)).headers.get('link')).toBeNull();
  });

  it('the pages after a cursor do not change while audiences are created', async () => {
    const first = await market.audiences.request(`${audiencePath}?limit=3`);
    const cursor = /cursor=([^>]+)>/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
    await market.audiences.create('six', 'a.csv');
    const second = await market.audiences.list(`?limit=3&cursor=${cursor}`);
    expect(second.map(({ name }) => name)).toEqual(['two', 'one']);
  });

  it.each([
    'limit=0',
    'limit=1001',
    'limit=x',
    'limit=-1',
    'limit=1.5',
    'cursor=x',
    'cursor=1.2',
    'cursor=',
    'other=1',
  ])('rejects the query %s of an audience list', async (query) => {
    const problem = await market.audiences.expectProblem('GET', `${audiencePath}?${query}`);
    expect(problem).toMatchObject({ status: 400, code: 'invalid_request' });
  });

  it('the list of audiences has 1,000 audiences per page by default', async () => {
    const other = await createPartner(market.stores.environment);
    // Bypasses the API, which limits a partner's open jobs.
    await withDatabase(market.stores, (client) =>
      client.query(
        "INSERT INTO audience (partner_id, name) SELECT $1, 'audience ' || n FROM generate_series(1, 1003) AS n",
        [other.id],
      ),
    );
    const paged = await pages(apiClient(market.service.url, other.apiKey), '');
    expect(paged.map((page) => page.length)).toEqual([1000, 3]);
    expect(paged.flat().map(({ name }) => name)).toEqual(
      Array.from({ length: 1003 }, (_, n) => `audience ${1003 - n}`),
    );
    expect(paged.flat()[0]).toMatchObject({ status: 2, unique_devices: 0, uploaded_devices: 0, matched_devices: 0 });
  });

  it('the list of audiences does not slow down when one audience has many files', async () => {
    const other = await createPartner(market.stores.environment);
    await withDatabase(market.stores, async (client) => {
      await client.query(
        `WITH job AS (
           INSERT INTO job (partner_id, seq, kind, status, listed_at, finished_at) VALUES ($1, 1, 'audience', 2, now(), now())
           RETURNING id
         ), audience AS (
           INSERT INTO audience (partner_id, name) SELECT $1, n::text FROM generate_series(1, 1000) AS n RETURNING id
         )
         INSERT INTO job_file (job_id, partner_id, key, path, etag, size, gzip, status, batch_id, audience_id, generation)
         SELECT job.id, $1, n::text, n::text, 'e', 1, false, 2, n, (SELECT min(id) FROM audience), 0
         FROM job, generate_series(1, 30000) AS n`,
        [other.id],
      );
      await client.query('UPDATE partner SET next_seq = 2 WHERE id = $1', [other.id]);
      await client.query('ANALYZE job_file');
    });
    const start = performance.now();
    expect(await audienceClient(market.service.url, other.apiKey).list()).toHaveLength(1000);
    // The list takes half a second. It would take at least 5 s if the query searched the files for each audience.
    expect(performance.now() - start).toBeLessThan(4_000);
  });

  it('the list of audiences is empty for a partner without audiences', async () => {
    const other = await createPartner(market.stores.environment);
    expect(await audienceClient(market.service.url, other.apiKey).list()).toEqual([]);
  });
});
