import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { deletionListSchema } from '../../src/adapters/http/records/deletion.ts';
import { device } from '../support/device-id.ts';
import { insertDeletion } from '../support/insert-deletion.ts';
import { type PartnerCli, installPartnerCli } from '../support/partner-cli.ts';
import { createPartner } from '../support/partners.ts';
import { type Marketplace, joinMarketplace } from '../support/start-marketplace.ts';
import { withDatabase } from '../support/stores.ts';

describe('device deletions', () => {
  let marketplace: Marketplace;
  let cli: PartnerCli;
  let environment: Record<string, string>;
  const ids: number[] = [];

  beforeAll(async () => {
    marketplace = await joinMarketplace();
    const { partner, service, stores } = marketplace;
    const other = await createPartner(stores.environment);
    await withDatabase(stores, async (client) => {
      for (let day = 1; day <= 5; day += 1) {
        const id = await insertDeletion(client, partner.id);
        const status = day === 4 ? 3 : 2;
        const at = `2026-11-0${day}T12:00:00Z`;
        await client.query(
          `UPDATE erasure SET requested_at = $2, status = $3, proof = CASE WHEN $3::smallint = 2 THEN proof END WHERE id = $1`,
          [id, at, status],
        );
        ids.push(id);
        await insertDeletion(client, other.id);
      }
    });
    cli = await installPartnerCli();
    environment = { INLET_URL: service.url, INLET_API_KEY: partner.apiKey };
  });
  afterAll(async () => {
    cli.remove();
    await marketplace.stop();
  });

  const list = async (query = ''): Promise<{ readonly ids: readonly number[]; readonly next: string | null }> => {
    const response = await marketplace.api.request(query.startsWith('/') ? query : `/v1/privacy/deletions${query}`);
    expect(response.status).toBe(200);
    const [, next = null] = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '') ?? [];
    const found = deletionListSchema.parse(await response.json());
    return { ids: found.map(({ deletion_id: id }) => id), next };
  };
  const run = (words: string) => cli.run(words.split(' '), environment);
  const out = async (words: string): Promise<string> => {
    const ran = await run(words);
    expect(ran, ran.err).toMatchObject({ code: 0 });
    return ran.out;
  };

  it('a partner can list its own deletions in pages, newest first', async () => {
    const pages: (readonly number[])[] = [];
    for (let next: string | null = '?limit=2'; next !== null;) {
      const page = await list(next);
      pages.push(page.ids);
      next = page.next;
    }
    const [first, second, third, fourth, fifth] = ids;
    expect(pages).toEqual([[fifth, fourth], [third, second], [first]]);
  });

  it('deletions can be filtered by status and time', async () => {
    expect((await list('?status=3')).ids).toEqual([ids[3]]);
    expect((await list('?status=0,1')).ids).toEqual([]);
    expect((await list('?created_from=2026-11-02&created_to=2026-11-04T12:00:00Z')).ids).toEqual([ids[2], ids[1]]);
    const wrong = await marketplace.api.request('/v1/privacy/deletions?status=4');
    expect(wrong.status).toBe(400);
  });

  it('deletions can be requested, listed, shown, and proved on the command line', async () => {
    const requested = await out(`deletions request ${device(1)} ${device(2).toUpperCase()} --json`);
    const { deletion_id: id } = z.object({ deletion_id: z.int() }).parse(JSON.parse(requested));
    // The shared service's worker can be fast or slow.
    const status = '(pending|running|done)';
    expect(await out(`deletions show ${id}`)).toMatch(new RegExp(`^ *${id} +${status} .* ids +2 +`, 'm'));
    expect(await out('deletions list --limit 1')).toMatch(new RegExp(`^ *${id} +${status} `, 'm'));
    expect(await out('deletions list --status failed')).toMatch(new RegExp(`^ *${ids[3]} +failed `, 'm'));
    const proof: unknown = JSON.parse(await out(`deletions proof ${ids[0]}`));
    expect(proof).toMatchObject({ format: 'inlet-erasure-proof-1', signature: null });
    const without = await run(`deletions proof ${ids[3]}`);
    expect([without.code, without.err]).toEqual([1, expect.stringContaining('no proof yet')]);
    await marketplace.partner.upload('leavers.csv', `${device(3)}\n`);
    const words = 'deletions request --file leavers.csv --idempotency-key once';
    expect(await out(words)).toMatch(/^deletion \d+ is queued\n$/);
    expect(await out(words)).toBe(await out(words));
  });

  it('invalid command-line options are rejected before the service is called', async () => {
    for (const options of ['request', `request ${device(1)} --file a.csv`, 'show x', 'list --status none'])
      expect(await run(`deletions ${options}`), options).toMatchObject({ code: 2 });
  });
});
