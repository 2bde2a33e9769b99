import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { importMode, keyType, pathType } from '../../src/domain/import-log.ts';
import { removeExpiredRecords, removedAtATime } from '../../src/usecases/admin/retention.ts';
import { retryJob } from '../../src/usecases/admin/manage-jobs.ts';
import { silentLog } from '../support/silent-log.ts';
import { type TestStores, createPostgresStores, withDatabase } from '../support/stores.ts';
import { type BarePartner, type Wired, newBarePartner, wireUp } from '../support/wired.ts';

const request = {
  filePath: 'a.csv',
  pathType: pathType.sharedBucket,
  keyType: keyType.foreignKey,
  compressed: null,
  mode: importMode.merge,
  credentials: null,
};
const tables = ['job', 'import_log', 'job_file', 'job_file_reject', 'load_account', 'job_credential', 'audience_load'];

describe('retention', () => {
  let stores: TestStores;
  let deps: Wired;
  let partner: BarePartner;

  beforeAll(async () => {
    stores = await createPostgresStores();
    deps = await wireUp(stores);
  });
  afterAll(async () => {
    await deps.close();
    await stores.drop();
  });
  beforeEach(async () => {
    partner = await newBarePartner(deps);
  });

  const query = <Row extends Record<string, unknown>>(text: string, values: unknown[] = []): Promise<Row[]> =>
    withDatabase(stores, async (client) => (await client.query<Row>(text, values)).rows);
  const submitImport = (): Promise<number> => deps.importLogs.submitImport(partner.id, request, 1_000);
  const sweep = async (): Promise<void> => {
    await query('DELETE FROM sweep');
    await removeExpiredRecords({ ...deps, log: silentLog }, new AbortController().signal);
  };
  /**
   * Makes a job look as if it ended the given number of days ago, with files, rejected rows, an account, and leftover
   * credentials.
   */
  const end = async (jobId: number, days: number, files = 2): Promise<void> => {
    await query(
      `UPDATE job SET status = 2, listed_at = now(), created_at = now() - make_interval(days => $2), finished_at = now() - make_interval(days => $2)
       WHERE id = $1`,
      [jobId, days],
    );
    await query(
      `WITH load AS (SELECT nextval('load_id') AS id), file AS (
         INSERT INTO job_file (job_id, partner_id, key, path, etag, size, batch_id, status, load_id, audience_id, generation)
         SELECT j.id, j.partner_id, 'k' || j.id || '-' || n, 'k', 'e', 1, 1, 2, (SELECT id FROM load), a.audience_id, a.generation
         FROM job j LEFT JOIN audience_load a ON a.job_id = j.id, generate_series(1, $2) AS n WHERE j.id = $1
         RETURNING id, load_id, partner_id, job_id
       ), reject AS (INSERT INTO job_file_reject SELECT id, 'invalid_id', 1, 1 FROM file),
       credential AS (INSERT INTO job_credential VALUES ($1, 'k', ''))
       INSERT INTO load_account SELECT DISTINCT load_id, partner_id, job_id, '[1]'::jsonb FROM file`,
      [jobId, files],
    );
  };
  /** Returns the tables that have rows for the job. */
  const tablesOf = async (jobId: number): Promise<string[]> => {
    const found = await Promise.all(
      tables.map(async (table) => {
        const [column, value] =
          table === 'job'
            ? ['id', '$1']
            : table === 'job_file_reject'
              ? ['job_file_id', 'ANY (SELECT id FROM job_file WHERE job_id = $1)']
              : ['job_id', '$1'];
        return (await query(`SELECT FROM ${table} WHERE ${column} = ${value}`, [jobId])).length > 0 ? [table] : [];
      }),
    );
    return found.flat();
  };

  it('removes API keys and user tokens that ended 90 days ago, and keeps all others', async () => {
    await query(
      `INSERT INTO api_key (partner_id, key_hash, name, revoked_at, expires_at) VALUES
         ($1, 'k1', 'revoked long ago', now() - interval '91 days', NULL),
         ($1, 'k2', 'expired long ago', NULL, now() - interval '91 days'),
         ($1, 'k3', 'revoked', now() - interval '89 days', NULL),
         ($1, 'k4', 'expires', NULL, now() + interval '1 day')`,
      [partner.id],
    );
    await query(
      `WITH made AS (INSERT INTO customer (partner_id, name) VALUES ($1, 'c') RETURNING id)
       INSERT INTO user_token (partner_id, customer_id, token_hash, revoked_at)
       SELECT $1, id, hash::bytea, now() - make_interval(days => days)
       FROM made, (VALUES ('t1', 91), ('t2', 89), ('t3', NULL)) AS token (hash, days)`,
      [partner.id],
    );
    await sweep();
    const keys = await query<{ name: string }>('SELECT name FROM api_key WHERE partner_id = $1 ORDER BY id', [
      partner.id,
    ]);
    expect(keys.map(({ name }) => name)).toEqual(['first', 'revoked', 'expires']);
    expect(await query('SELECT FROM user_token WHERE partner_id = $1', [partner.id])).toHaveLength(2);
  });

  it('removes expired imports and deletes with everything that belongs to them, and keeps other jobs', async () => {
    const attribute = await deps.attributes.create(partner.id, { name: 'sport', foreignKeys: ['s'] });
    const [expired, recent, canceled, open] = [
      await submitImport(),
      await submitImport(),
      await submitImport(),
      await submitImport(),
    ];
    const removal = { keyType: keyType.attributeId, keys: ['s'], attributeIdsIn: () => [attribute.id] };
    const expiredDelete = await deps.importLogs.submitDelete(partner.id, removal, 1_000);
    await end(expired, 401);
    await end(expiredDelete, 401);
    await end(recent, 399);
    await end(canceled, 401);
    await query('UPDATE job SET cancelled = true WHERE id = $1', [canceled]);
    await query(`UPDATE job SET created_at = now() - interval '500 days' WHERE id = $1`, [open]);
    expect(await tablesOf(expired)).toEqual(tables.filter((table) => table !== 'audience_load'));
    await sweep();
    expect(await tablesOf(expired)).toEqual([]);
    expect(await tablesOf(expiredDelete)).toEqual([]);
    expect(
      await query('SELECT FROM job_file_reject r LEFT JOIN job_file f ON f.id = r.job_file_id WHERE f.id IS NULL'),
    ).toEqual([]);
    expect((await deps.importLogs.listNewest(partner.id, 10)).map(({ importLogId }) => importLogId)).toEqual([
      open,
      canceled,
      recent,
    ]);
    await query(`UPDATE job SET cleaned_at = now() - interval '401 days' WHERE id = $1`, [canceled]);
    await sweep();
    expect(await tablesOf(canceled)).toEqual([]);
  });

  it('keeps an import until its exported rejected rows are removed', async () => {
    const expired = await submitImport();
    await end(expired, 401);
    const wanted = { folder: `${partner.prefix}rejects/${expired}/`, credentials: null, maxOpen: 10 };
    await deps.rejects.request(partner.id, { importLogId: expired }, { ...wanted, share: null });
    await sweep();
    expect(await tablesOf(expired)).toContain('job');
    await query('DELETE FROM reject_export WHERE job_id = $1', [expired]);
    await sweep();
    expect(await tablesOf(expired)).toEqual([]);
  });

  it('keeps a list cursor valid when the job at the cursor is removed', async () => {
    const jobs = [];
    for (let number = 0; number < 6; number++) jobs.push(await submitImport());
    const newest = jobs.toReversed();
    const [cursor = 0] = newest.slice(2, 3);
    await end(cursor, 401);
    await sweep();
    const next = await deps.importLogs.listNewest(partner.id, 10, cursor);
    expect(next.map(({ importLogId }) => importLogId)).toEqual(newest.slice(3));
  });

  it('treats a removed job as unknown', async () => {
    const jobId = await submitImport();
    await end(jobId, 401);
    await sweep();
    expect(await deps.importLogs.find(partner.id, jobId)).toBeNull();
    expect(await deps.importLogs.marksOf([jobId])).toEqual([]);
    expect(
      await deps.importLogs.listFiles(partner.id, jobId, { afterId: 0, limit: 10, onlyWithErrors: false }),
    ).toEqual([]);
    expect(await deps.operations.findJob(jobId, 10)).toBeNull();
    expect(await deps.operations.cancelJob(jobId)).toBeNull();
    await expect(retryJob(deps, jobId)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('keeps the files of an audience until its generation is cleared and purged', async () => {
    const scope = { partnerId: partner.id, customerId: null };
    const load = { path: { relative: 'a.csv', literal: null }, maxOpenJobs: 100 };
    const { audienceId } = await deps.audiences.create(scope, { ...load, name: 'buyers' });
    const [job] = await query<{ id: number }>('SELECT max(id)::int AS id FROM job');
    const first = job?.id ?? 0;
    await end(first, 401);
    await sweep();
    const files = async (): Promise<number | undefined> =>
      (await deps.audiences.findWithFiles(scope, audienceId, { after: [0, 0], limit: 10 }))?.files.length;
    expect(await files()).toBe(2);

    await deps.audiences.clear(scope, audienceId);
    const second = (await deps.audiences.append(scope, audienceId, load)) ?? 0;
    await end(second, 401);
    await sweep();
    expect(await tablesOf(first)).not.toEqual([]);

    await query('UPDATE dead_generation SET purged_at = now() WHERE audience_id = $1', [audienceId]);
    await sweep();
    expect(await tablesOf(first)).toEqual([]);
    expect(await tablesOf(second)).toEqual(tables.filter((table) => table !== 'import_log'));
    expect(await files()).toBe(2);
  });

  it('removes jobs with more files than one transaction can remove', async () => {
    const jobs = [await submitImport(), await submitImport(), await submitImport()];
    for (const jobId of jobs) await end(jobId, 401, removedAtATime.files - 1);
    await sweep();
    expect(await Promise.all(jobs.map(tablesOf))).toEqual([[], [], []]);
  });

  it('removes old entries of the audit log and records how many', async () => {
    await query(`INSERT INTO audit_log (at, event, actor) VALUES (now() - interval '399 days', 'kept', 'test')`);
    const [{ first } = { first: 0 }] = await query<{ first: number }>('SELECT min(id)::int AS first FROM audit_log');
    await query(
      `INSERT INTO audit_log (id, at, event, actor) OVERRIDING SYSTEM VALUE
       SELECT $1 - n, now() - interval '401 days', 'aged', 'test' FROM generate_series(1, 3) AS n`,
      [first],
    );
    await sweep();
    const rows = await query(
      `SELECT event, detail->'count' AS count FROM audit_log WHERE event IN ('kept', 'aged', 'audit_log.delete') ORDER BY id`,
    );
    expect(rows).toEqual([
      { event: 'kept', count: null },
      { event: 'audit_log.delete', count: 3 },
    ]);
  });

  it('removes generations that were purged more than 30 days ago', async () => {
    const scope = { partnerId: partner.id, customerId: null };
    const load = { path: { relative: 'a.csv', literal: null }, maxOpenJobs: 100 };
    const { audienceId } = await deps.audiences.create(scope, { ...load, name: 'buyers' });
    for (let clears = 0; clears < 3; clears++) await deps.audiences.clear(scope, audienceId);
    const dead =
      'UPDATE dead_generation SET purged_at = now() - make_interval(days => $3) WHERE audience_id = $1 AND generation = $2';
    await query(dead, [audienceId, 0, 31]);
    await query(dead, [audienceId, 1, 29]);
    await sweep();
    expect(
      await query('SELECT generation FROM dead_generation WHERE audience_id = $1 ORDER BY 1', [audienceId]),
    ).toEqual([{ generation: 1 }, { generation: 2 }]);
  });

  it('removes a deleted audience once its jobs and generations are removed', async () => {
    const scope = { partnerId: partner.id, customerId: null };
    const load = { path: { relative: 'a.csv', literal: null }, maxOpenJobs: 100 };
    const { audienceId } = await deps.audiences.create(scope, { ...load, name: 'buyers' });
    const jobId = (await deps.audiences.append(scope, audienceId, load)) ?? 0;
    await deps.audiences.remove(scope, audienceId);
    const left = () => query('SELECT name FROM audience WHERE id = $1', [audienceId]);
    await sweep();
    expect(await left()).toEqual([{ name: '' }]);
    await query(
      `UPDATE job SET finished_at = now() - interval '401 days', cleaned_at = now() - interval '401 days'
       WHERE id IN (SELECT job_id FROM audience_load WHERE audience_id = $1)`,
      [audienceId],
    );
    const purged = `UPDATE dead_generation SET purged_at = now() - make_interval(days => $2) WHERE audience_id = $1`;
    await query(purged, [audienceId, 1]);
    await sweep();
    expect(await tablesOf(jobId)).toEqual([]);
    expect(await left()).toEqual([{ name: '' }]);
    await query(purged, [audienceId, 31]);
    await sweep();
    expect(await left()).toEqual([]);
  });

  it('removes a deleted audience even if a process of an earlier release has stored a report for it', async () => {
    const scope = { partnerId: partner.id, customerId: null };
    const load = { path: { relative: 'a.csv', literal: null }, maxOpenJobs: 100 };
    const { audienceId } = await deps.audiences.create(scope, { ...load, name: 'buyers' });
    await deps.audiences.remove(scope, audienceId);
    await query('DELETE FROM dead_generation WHERE audience_id = $1', [audienceId]);
    await query('DELETE FROM audience_load WHERE audience_id = $1', [audienceId]);
    await query(
      `INSERT INTO composition (audience_id, split, generation, last_load_id, report) VALUES ($1, 'country', 0, 1, '{}')`,
      [audienceId],
    );
    await sweep();
    expect(await query('SELECT FROM audience WHERE id = $1', [audienceId])).toEqual([]);
  });

  it('performs the other steps if one fails, and reports the failure', async () => {
    await query(
      `INSERT INTO api_key (partner_id, key_hash, name, revoked_at) VALUES ($1, 'k9', 'old', now() - interval '91 days')`,
      [partner.id],
    );
    const jobId = await submitImport();
    await end(jobId, 401);
    await query('DELETE FROM sweep');
    const removeDeletedAudiences = () => Promise.reject(new Error('refused'));
    const retentionStore = { ...deps.retentionStore, removeDeletedAudiences };
    const run = removeExpiredRecords({ ...deps, retentionStore, log: silentLog }, new AbortController().signal);
    await expect(run).rejects.toThrow('audiences');
    expect(await tablesOf(jobId)).toEqual([]);
    expect(await query(`SELECT FROM api_key WHERE partner_id = $1 AND name = 'old'`, [partner.id])).toEqual([]);
  });

  it('runs once an hour across all workers', async () => {
    const jobId = await submitImport();
    await sweep();
    await end(jobId, 401);
    await removeExpiredRecords({ ...deps, log: silentLog }, new AbortController().signal);
    expect(await tablesOf(jobId)).not.toEqual([]);
  });
});
