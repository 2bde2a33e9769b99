import { type RawBuilder, sql } from 'kysely';
import type { JobId } from '../../domain/ids.ts';
import { jobKind, openStatuses } from '../../domain/job.ts';
import type { ExpiredJobs, RetentionStore } from '../../ports/retention-store.ts';
import type { Database, Tx } from './db/tables.ts';
import { recordForgotten } from './device-retention.ts';

export function postgresRetentionStore(db: Database): RetentionStore {
  return {
    listExpiredJobs: (after) => selectExpiredJobs(db, after),
    countFiles: (jobIds, limit) => countFiles(db, jobIds, limit),
    removeJobs: (jobIds) => deleteJobs(db, jobIds),
    removeAuditEntries: (days, limit) => deleteAuditEntries(db, days, limit),
    removePurgedGenerations: async (days, limit) => {
      const { numAffectedRows } = await sql`
        DELETE FROM dead_generation WHERE ctid = ANY (ARRAY(
          SELECT ctid FROM dead_generation WHERE purged_at < ${daysAgo(days)} ORDER BY purged_at LIMIT ${limit}))`.execute(
        db,
      );
      return Number(numAffectedRows ?? 0);
    },
    removeDeletedAudiences: (limit) => db.transaction().execute((tx) => deleteAudiences(tx, limit)),
    removeExpiredSessions: (limit) => deleteExpiredSessions(db, limit),
    removeEndedCredentials: (days, limit) => deleteEndedCredentials(db, days, limit),
  };
}

/**
 * A process running an earlier release can store a report for an audience after the audience is deleted. The lock makes
 * such a process wait, so that no report is added between the two deletes.
 */
async function deleteAudiences(tx: Tx, limit: number): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    SELECT id FROM audience WHERE deleted_at IS NOT NULL
      AND NOT EXISTS (SELECT FROM audience_load load WHERE load.audience_id = audience.id)
      AND NOT EXISTS (SELECT FROM dead_generation dead WHERE dead.audience_id = audience.id)
    ORDER BY deleted_at LIMIT ${limit} FOR UPDATE`.execute(tx);
  const ids = rows.map(({ id }) => id);
  if (ids.length === 0) return 0;
  await sql`DELETE FROM composition WHERE audience_id = ANY(${ids}::bigint[])`.execute(tx);
  await sql`DELETE FROM audience WHERE id = ANY(${ids}::bigint[])`.execute(tx);
  return ids.length;
}

async function deleteExpiredSessions(db: Database, limit: number): Promise<number> {
  const { rows } = await sql<{ removed: number }>`
    WITH session AS (
      DELETE FROM console_session WHERE id = ANY (ARRAY(
        SELECT id FROM console_session WHERE idle_expires_at < now() ORDER BY idle_expires_at LIMIT ${limit}))
      RETURNING id
    ), link AS (
      DELETE FROM console_link WHERE id = ANY (ARRAY(
        SELECT id FROM console_link WHERE expires_at < now() ORDER BY expires_at LIMIT ${limit}))
      RETURNING id
    )
    SELECT (SELECT count(*) FROM session) + (SELECT count(*) FROM link) AS removed`.execute(db);
  return rows[0]?.removed ?? 0;
}

/**
 * Scans both tables, whose size is bounded per partner. The sessions and links of a key are removed together with it.
 */
async function deleteEndedCredentials(db: Database, days: number, limit: number): Promise<number> {
  const { rows } = await sql<{ removed: number }>`
    WITH key AS (
      DELETE FROM api_key WHERE id = ANY (ARRAY(
        SELECT id FROM api_key WHERE least(revoked_at, expires_at) < ${daysAgo(days)} LIMIT ${limit}))
      RETURNING id
    ), token AS (
      DELETE FROM user_token WHERE id = ANY (ARRAY(
        SELECT id FROM user_token WHERE revoked_at < ${daysAgo(days)} LIMIT ${limit}))
      RETURNING id
    )
    SELECT (SELECT count(*) FROM key) + (SELECT count(*) FROM token) AS removed`.execute(db);
  return rows[0]?.removed ?? 0;
}

const daysAgo = (days: number): RawBuilder<Date> => sql<Date>`now() - make_interval(days => ${days})`;

/**
 * Scans the primary key, because IDs are almost in chronological order. Jobs that must be kept are examined again in
 * every pass. Once a condition is true, it stays true, so it is not checked again before the delete. The subquery
 * returns a value instead of using EXISTS, because PostgreSQL would hash all of `audience_load` for an EXISTS inside an
 * OR.
 */
async function selectExpiredJobs(
  db: Database,
  { days, afterId, limit }: Parameters<RetentionStore['listExpiredJobs']>[0],
): Promise<ExpiredJobs> {
  const { rows } = await sql<{ ids: JobId[]; last: JobId | null; is_recent: boolean | null }>`
    WITH examined AS MATERIALIZED (
      SELECT * FROM job WHERE id > ${afterId} ORDER BY id LIMIT ${limit}
    ), expired AS (
      SELECT id FROM examined job
      WHERE status NOT IN (${sql.join(openStatuses)}) AND finished_at < ${daysAgo(days)}
        AND (NOT cancelled OR cleaned_at < ${daysAgo(days)})
        AND NOT EXISTS (SELECT FROM reject_export export WHERE export.job_id = job.id)
        AND (kind <> ${jobKind.audience} OR (
          SELECT load.generation < audience.generation AND NOT EXISTS (
            SELECT FROM dead_generation dead
            WHERE dead.audience_id = load.audience_id AND dead.generation = load.generation AND dead.purged_at IS NULL)
          FROM audience_load load JOIN audience ON audience.id = load.audience_id
          WHERE load.job_id = job.id))
    )
    SELECT coalesce((SELECT json_agg(id ORDER BY id) FROM expired), '[]') AS ids,
      (SELECT max(id) FROM examined) AS last,
      (SELECT bool_and(created_at > ${daysAgo(days)}) FROM examined) AS is_recent
  `.execute(db);
  const [row] = rows;
  if (!row) throw new Error('an aggregate without GROUP BY returns one row');
  return { jobIds: row.ids, next: row.is_recent === false ? row.last : null };
}

async function countFiles(db: Database, jobIds: readonly JobId[], limit: number): Promise<Map<JobId, number>> {
  const { rows } = await sql<{ job_id: JobId; files: number }>`
    SELECT job_id, count(*) AS files FROM (
      SELECT job_id FROM job_file WHERE job_id = ${anyOf(jobIds)} ORDER BY job_id LIMIT ${limit}
    ) AS file GROUP BY job_id
  `.execute(db);
  return new Map(rows.map(({ job_id, files }) => [job_id, files]));
}

/** Nothing else writes to these rows, so this transaction does not block other work. */
async function deleteJobs(db: Database, jobIds: readonly JobId[]): Promise<void> {
  if (jobIds.length === 0) return;
  await db.transaction().execute(async (tx) => {
    await sql`
      DELETE FROM job_file_reject WHERE job_file_id = ANY (ARRAY(
        SELECT id FROM job_file WHERE job_id = ${anyOf(jobIds)}))`.execute(tx);
    await tx.deleteFrom('load_account').where('job_id', '=', anyOf(jobIds)).execute();
    await tx.deleteFrom('job_file').where('job_id', '=', anyOf(jobIds)).execute();
    await tx.deleteFrom('job_credential').where('job_id', '=', anyOf(jobIds)).execute();
    await tx.deleteFrom('import_log').where('job_id', '=', anyOf(jobIds)).execute();
    await tx.deleteFrom('audience_load').where('job_id', '=', anyOf(jobIds)).execute();
    await recordForgotten(tx, sql<boolean>`id = ${anyOf(jobIds)}`);
    await tx.deleteFrom('job').where('id', '=', anyOf(jobIds)).execute();
  });
}

const anyOf = (ids: readonly JobId[]): RawBuilder<JobId> => sql<JobId>`ANY(${ids}::bigint[])`;

/**
 * Deletes the first entries in primary key order, and adds an entry that records the deletion. An entry can have a
 * slightly later time than the entry after it. Such an entry is deleted in a later pass.
 */
async function deleteAuditEntries(db: Database, days: number, limit: number): Promise<number> {
  const { rows } = await sql<{ removed: number }>`
    WITH removed AS (
      DELETE FROM audit_log WHERE id = ANY (ARRAY(SELECT id FROM audit_log ORDER BY id LIMIT ${limit}))
        AND at < ${daysAgo(days)}
      RETURNING id, at
    ), noted AS (
      INSERT INTO audit_log (event, actor, detail)
      SELECT 'audit_log.delete', audit_actor(), jsonb_build_object('count', count(*), 'last_id', max(id), 'last_at', max(at))
      FROM removed HAVING count(*) > 0
    )
    SELECT count(*) AS removed FROM removed`.execute(db);
  return rows[0]?.removed ?? 0;
}
