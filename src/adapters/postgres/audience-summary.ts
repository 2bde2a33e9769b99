import { type RawBuilder, sql } from 'kysely';
import type { AudienceScope, AudienceSummary } from '../../domain/audience.ts';
import { type ImportLogError, importLogErrorLimit } from '../../domain/import-log.ts';
import type { PartnerId } from '../../domain/ids.ts';
import { type Progress, combineProgress, jobStatus, openStatuses } from '../../domain/job.ts';
import { audienceFiles, inScope } from './audience-files.ts';
import type { Tx } from './db/tables.ts';
import {
  type ProgressRow,
  historyFor,
  isOpen,
  jobsAhead,
  progressOf,
  readOfFiles,
  runningSeconds,
} from './job-progress.ts';
import { type ErrorRow, toError } from './lane/jobs.ts';

// Totals over all file entries of an audience. The list of entries is paged, so a caller cannot compute them itself.

/** The caller has found the audience. */
export async function selectAudienceSummary(
  tx: Tx,
  scope: AudienceScope,
  audienceId: number,
): Promise<AudienceSummary> {
  const isAudience = sql`audience.id = ${audienceId} AND ${inScope(scope)}`;
  const { entries, ended } = await countEntries(tx, isAudience);
  const progress = await selectProgress(tx, scope.partnerId, isAudience);
  const errors = await selectReasons(tx, isAudience);
  const sum = (of: 'files' | 'rows'): number =>
    errors.reduce((all, { row, count }) => ((row === null) === (of === 'files') ? all + count : all), 0);
  return {
    entries,
    endedEntries: ended,
    failedEntries: sum('files'),
    rejectedRows: sum('rows'),
    progress,
    errors: errors.length === 0 ? null : errors,
  };
}

async function countEntries(tx: Tx, isAudience: RawBuilder<unknown>): Promise<{ entries: number; ended: number }> {
  const { rows } = await sql<{ entries: number; ended: number }>`
    SELECT count(*) AS entries, count(*) FILTER (WHERE entry.status NOT IN (${sql.join(openStatuses)})) AS ended
    FROM audience, LATERAL (${audienceFiles}) AS entry WHERE ${isAudience}`.execute(tx);
  return rows[0] ?? { entries: 0, ended: 0 };
}

async function selectProgress(tx: Tx, partnerId: PartnerId, isAudience: RawBuilder<unknown>): Promise<Progress> {
  const { rows } = await sql<ProgressRow>`
    WITH load AS (
      SELECT load.job_id FROM audience JOIN audience_load load
        ON load.audience_id = audience.id AND load.generation = audience.generation
      WHERE ${isAudience}
    )
    SELECT job.status, ${jobsAhead} AS jobs_ahead, ${runningSeconds} AS running_seconds, file.*
    FROM job, LATERAL (SELECT ${readOfFiles} FROM job_file f WHERE f.job_id = job.id) AS file
    WHERE job.partner_id = ${partnerId} AND job.id IN (SELECT job_id FROM load)
      AND (job.status IN (${sql.join(openStatuses)}) OR job.id = (SELECT max(job_id) FROM load))
    ORDER BY job.seq`.execute(tx);
  const history = await historyFor(tx, partnerId, rows);
  const open = rows.filter(isOpen);
  return combineProgress((open.length > 0 ? open : rows).map((row) => progressOf(row, history)));
}

/**
 * Selects each reason once, with the number of files or rows and the first of them: failed files and paths without
 * files, then rejected rows. Only entries that affect the status of the audience count. The text of a failure describes
 * one file, so it is left out if several files failed for the same reason.
 */
async function selectReasons(tx: Tx, isAudience: RawBuilder<unknown>): Promise<ImportLogError[]> {
  const { rows } = await sql<ErrorRow>`
    SELECT code, detail, file, "row", count FROM (
      SELECT 0 AS rank, entry.failure_code AS code, count(*) AS count, NULL::bigint AS "row",
        CASE count(*) WHEN 1 THEN min(entry.failure_detail) END AS detail,
        (array_agg(entry.s3_path ORDER BY entry.job_id, entry.id))[1] AS file
      FROM audience, LATERAL (${audienceFiles}) AS entry
      WHERE ${isAudience} AND entry.status = ${jobStatus.failed} AND entry.decides
      GROUP BY entry.failure_code
      UNION ALL
      SELECT 1, reject.reason, sum(reject.rows)::bigint, (array_agg(reject.first_row ORDER BY entry.job_id, entry.id))[1],
        NULL, (array_agg(entry.s3_path ORDER BY entry.job_id, entry.id))[1]
      FROM audience, LATERAL (${audienceFiles}) AS entry, job_file_reject AS reject
      WHERE ${isAudience} AND entry.decides AND reject.job_file_id = entry.id
      GROUP BY reject.reason
    ) AS reason
    ORDER BY rank, count DESC, code LIMIT ${importLogErrorLimit}`.execute(tx);
  return rows.map(toError);
}
