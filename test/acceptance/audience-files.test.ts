import { audienceDetailsSchema, audienceFileListSchema } from '../../src/adapters/http/records/audience.ts';
import { beforeAll, describe, expect, it } from 'vitest';
import { rows } from '../support/file-rows.ts';
import { withDatabase } from '../support/stores.ts';
import { type Audiences, joinAudiences } from '../support/start-audiences.ts';
import { audiencePath } from './audience-client.ts';

describe("an audience's file list", () => {
  let market: Audiences;
  beforeAll(async () => {
    market = await joinAudiences();
  });

  it('has an entry for every loaded version of a file, and the entries add up to uploaded_devices', async () => {
    const { partner, audiences } = market;
    await partner.upload('versions/a.csv', rows(0, 10));
    const { audienceId } = await audiences.create('Versions', 'versions/a.csv');
    await audiences.settled(audienceId);
    await partner.upload('versions/a.csv', rows(5, 20));
    await audiences.append(audienceId, 'versions/a.csv');
    const { file, ...details } = await audiences.settled(audienceId);
    expect(details).toMatchObject({ status: 2, uploaded_devices: 25, unique_devices: 20 });
    expect(file.map(({ status, rows_uploaded }) => [status, rows_uploaded])).toEqual([
      [2, 10],
      [2, 15],
    ]);
    expect(new Set(file.map(({ etag }) => etag)).size).toBe(2);
    const modified = file.map(({ last_modified }) => Date.parse(last_modified ?? ''));
    expect(modified.toSorted((a, b) => a - b)).toEqual(modified);
    expect(Math.abs(Date.now() - (modified[0] ?? 0))).toBeLessThan(600_000);
    expect(details.matched_at).not.toBeNull();
  });

  it('the file list is omitted from the record on request', async () => {
    const { partner, audiences } = market;
    await partner.upload('left-out/a.csv', rows(0, 3));
    const { audienceId } = await audiences.create('Left out', 'left-out/a.csv');
    const { file, ...counts } = await audiences.settled(audienceId);
    expect(file).toHaveLength(1);
    const path = `${audiencePath}/${audienceId}?include_files`;
    const short = await audiences.request(`${path}=false`);
    expect(await short.json()).toEqual({ ...counts, file: [] });
    expect(await audiences.expectProblem('GET', `${path}=no`)).toMatchObject({ status: 400, code: 'invalid_request' });
  });

  it('shows why a file failed and lets its owner dismiss the file', async () => {
    const { partner, audiences } = market;
    await partner.upload('dismiss/a.csv', rows(0, 3));
    await partner.upload('dismiss/b.csv', 'nonsense,\n');
    const { audienceId } = await audiences.create('Dismissed', 'dismiss/');
    const before = await audiences.settled(audienceId);
    expect(before).toMatchObject({
      status: 3,
      file: [
        { status: 2, error: null, rows_rejected: 0 },
        { status: 3, error: { code: 'no_good_row' }, rows_rejected: 1, dismissed_at: null },
      ],
    });
    const [loaded, failed] = before.file.map(({ file_id }) => file_id);
    const at = (fileId = '0', id = audienceId): string => `${audiencePath}/${id}/files/${fileId}`;
    expect(await audiences.expectProblem('DELETE', at(loaded))).toMatchObject({ status: 422, code: 'file_not_failed' });
    for (const unknown of [at('1'), at('path-1'), at('x'), at(failed, audienceId + 1_000_000)]) {
      expect(await audiences.expectProblem('DELETE', unknown)).toMatchObject({ status: 404, code: 'not_found' });
    }
    await audiences.dismiss(audienceId, failed ?? '');
    await audiences.dismiss(audienceId, failed ?? '');
    const { file, status } = await audiences.get(audienceId);
    expect(status).toBe(2);
    expect(file.map(({ dismissed_at }) => dismissed_at !== null)).toEqual([false, true]);
    expect(file.map(({ dismissed_by }) => dismissed_by)).toEqual([null, expect.stringMatching(/^key \d+$/)]);
    await audiences.append(audienceId, 'dismiss/b.csv');
    expect(await audiences.settled(audienceId)).toMatchObject({ status: 3, file: [{}, { dismissed_at: null }] });
  });

  it('lets its owner dismiss a path that matched no files', async () => {
    const { audiences } = market;
    const { audienceId } = await audiences.create('Nothing', 'no-such-path/');
    const { file } = await audiences.settled(audienceId);
    expect(file).toMatchObject([{ status: 3, etag: null, last_modified: null, error: { code: 'no_files' } }]);
    await audiences.dismiss(audienceId, file[0]?.file_id ?? '');
    expect(await audiences.get(audienceId)).toMatchObject({ status: 2 });
  });

  it('shows how many rows were skipped when the partner is allowed a share of bad rows', async () => {
    const { partner, audiences } = market;
    await partner.operate('partner', 'set', partner.name, '--audience-bad-rows', '0.5');
    await partner.upload('share.csv', `${rows(0, 3)}nonsense,\n`);
    const { audienceId } = await audiences.create('Share', 'share.csv');
    expect(await audiences.settled(audienceId)).toMatchObject({
      status: 2,
      file: [{ rows_uploaded: 3, rows_rejected: 1, error: null }],
    });
  });

  it('includes the first 1,000 entries in the record and the rest on further pages', async () => {
    const { partner, audiences, api, stores } = market;
    await partner.upload('many/0.csv', rows(0, 1));
    const { audienceId } = await audiences.create('Many', 'many/0.csv');
    await audiences.settled(audienceId);
    await withDatabase(stores, (client) =>
      client.query(
        `INSERT INTO job_file (job_id, partner_id, audience_id, generation, key, path, etag, size, status, batch_id)
         SELECT f.job_id, f.partner_id, f.audience_id, f.generation, f.key || n, f.path, f.etag, 1, 2, f.batch_id
         FROM job_file f, generate_series(1, 1200) n WHERE f.audience_id = $1`,
        [audienceId],
      ),
    );
    const answer = await audiences.request(`${audiencePath}/${audienceId}`);
    const { file, ...record } = audienceDetailsSchema.parse(await answer.json());
    const [, next = ''] = /^<([^>]+)>; rel="next"$/.exec(answer.headers.get('link') ?? '') ?? [];
    const more = await api.follow(next.replace('limit=1000', 'limit=150'));
    const listed = await Promise.all(more.map(async (page) => audienceFileListSchema.parse(await page.json())));
    expect(file).toHaveLength(1000);
    expect(listed.map((page) => page.length)).toEqual([150, 51]);
    expect(new Set([...file, ...listed.flat()].map(({ file_id }) => file_id)).size).toBe(1201);
    expect(record).toMatchObject({ total_files: 1201, processed_files: 1201, failed_files: 0, rejected_rows: 0 });
  });

  it('counts failed files and rejected rows beyond the first 1,000 entries, and streams the counts without the entries', async () => {
    const { partner, audiences, stores } = market;
    await partner.upload('behind/0.csv', rows(0, 1));
    const { audienceId } = await audiences.create('Behind', 'behind/0.csv');
    await audiences.settled(audienceId);
    await withDatabase(stores, (client) =>
      client.query(
        `INSERT INTO job_file (job_id, partner_id, audience_id, generation, key, path, etag, size, status, batch_id)
         SELECT f.job_id, f.partner_id, f.audience_id, f.generation, f.key || n, f.path, f.etag, 1, 2, f.batch_id
         FROM job_file f, generate_series(1, 1000) n WHERE f.audience_id = $1`,
        [audienceId],
      ),
    );
    await partner.upload('behind/last.csv', `${rows(0, 1)}nonsense,\n,\n`);
    await audiences.append(audienceId, 'behind/last.csv');
    const { file, ...record } = await audiences.settled(audienceId);
    expect(file.every(({ status }) => status === 2)).toBe(true);
    expect(record).toMatchObject({ status: 3, total_files: 1002, failed_files: 1, rejected_rows: 2 });
    const stream = await audiences.request(`${audiencePath}/${audienceId}/events?include_files=false`);
    const text = await stream.text();
    expect(text.length).toBeLessThan(10_000);
    expect(text).toContain('"total_files":1002');
  });
});
