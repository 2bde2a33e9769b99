import { type RawBuilder, sql } from 'kysely';
import type { JobId } from '../../../domain/ids.ts';
import { jobStatus } from '../../../domain/job.ts';
import type { FailureCode } from '../../../domain/failure-catalog.ts';
import type { Tx } from '../db/tables.ts';

/**
 * Records what became of the objects of an import that has ended. Has no effect on other jobs. Locks the state first, as
 * a listing does.
 */
export async function settleObjects(tx: Tx, jobId: JobId): Promise<void> {
  const { rows } = await sql`
    SELECT FROM import_log log JOIN subscription_state state ON state.subscription_id = log.subscription_id
    WHERE log.job_id = ${jobId} FOR UPDATE OF state`.execute(tx);
  if (rows.length > 0) await settle(tx, sql`o.job_id = ${jobId}`);
}

/** Does the same for imports that a worker of the previous release has ended. The caller has locked the state. */
export async function settleEndedJobs(tx: Tx, subscriptionId: number): Promise<void> {
  await settle(tx, sql`o.subscription_id = ${subscriptionId}`);
}

/**
 * Whether an earlier import, which the import of this version repeats, has loaded it. Its rows exist even if a retry is
 * canceled or does not load the version again.
 */
export function wasImported(object: string): RawBuilder<boolean> {
  return sql<boolean>`EXISTS (
    WITH RECURSIVE earlier AS (
      SELECT log.retry_of AS job_id FROM import_log log WHERE log.job_id = ${sql.ref(`${object}.job_id`)}
      UNION ALL
      SELECT log.retry_of FROM earlier JOIN import_log log ON log.job_id = earlier.job_id
    )
    SELECT FROM earlier JOIN job_file file ON file.job_id = earlier.job_id
    WHERE file.key = ${sql.ref(`${object}.key`)} AND file.etag = ${sql.ref(`${object}.etag`)}
      AND file.status = ${jobStatus.done})`;
}

async function settle(tx: Tx, which: RawBuilder<unknown>): Promise<void> {
  const changed: FailureCode = 'file_changed';
  await sql`
    UPDATE subscription_object object
    SET updated_at = now(), state = ended.state, error_code = CASE ended.state WHEN 'failed' THEN ended.code END
    FROM (
      SELECT o.id, coalesce(f.failure_code, job.failure_code) AS code,
        CASE WHEN f.status = ${jobStatus.done} OR ${wasImported('o')} THEN 'imported'
          WHEN f.failure_code = ${changed} THEN 'overwritten' ELSE 'failed' END AS state
      FROM subscription_object o JOIN job ON job.id = o.job_id
        LEFT JOIN job_file f ON f.job_id = job.id AND f.key = o.key
      WHERE ${which} AND o.state = 'queued' AND job.status IN (${jobStatus.done}, ${jobStatus.failed})
    ) AS ended
    WHERE object.id = ended.id`.execute(tx);
}
