import { type RawBuilder, sql } from 'kysely';
import type { Append, HistoryEntry, HistoryPosition, RetriedAppend } from '../../domain/audience-history.ts';
import type { AudienceScope } from '../../domain/audience.ts';
import type { JobId } from '../../domain/ids.ts';
import { cancelledCode, failureOfJob, jobStatus } from '../../domain/job.ts';
import type { LaneHistory } from '../../domain/lane-estimate.ts';
import type { AudiencePath } from '../../domain/source-file.ts';
import { inScope } from './audience-files.ts';
import type { Tx } from './db/tables.ts';
import { type ProgressRow, historyFor, jobsAhead, progressOf, readOfFiles, runningSeconds } from './job-progress.ts';
import { failedFilesOf, findListedJob, toJobStatus } from './lane/jobs.ts';

// Appends are the jobs of an audience, and clears are its dead generations. Retention removes both after some time.

export async function isAppendOf(tx: Tx, scope: AudienceScope, audienceId: number, appendId: JobId): Promise<boolean> {
  return (await appendOf(tx, scope, audienceId, appendId).select('load.job_id').executeTakeFirst()) !== undefined;
}

type FoundAppend = { readonly state: RetriedAppend; readonly path: AudiencePath };

export async function findAppend(
  tx: Tx,
  scope: AudienceScope,
  audienceId: number,
  appendId: JobId,
): Promise<FoundAppend | null> {
  const listed = await findListedJob(tx, appendId);
  const row = await appendOf(tx, scope, audienceId, appendId)
    .innerJoin('job', 'job.id', 'load.job_id')
    .select(['load.file_path', 'load.literal_path'])
    .select(statusOfFiles.as('status'))
    .select(sql<boolean>`load.generation < audience.generation`.as('is_cleared'))
    .select(
      failedFilesOf(tx, listed ?? appendId)
        .select(sql<number>`count(*)`.as('count'))
        .as('failed_files'),
    )
    .executeTakeFirst();
  if (!row) return null;
  const failedFiles = listed === null ? null : (row.failed_files ?? 0);
  return {
    state: { status: toJobStatus(row.status), isCleared: row.is_cleared, failedFiles },
    path: { relative: row.file_path, literal: row.literal_path },
  };
}

/**
 * A job ends a moment after its last file. The audience shows the files as failed by then, so the append can be retried.
 * The new job runs after this one has ended.
 */
const statusOfFiles = sql<number>`CASE
  WHEN job.listed_at IS NULL OR job.status <> ${jobStatus.running} OR EXISTS (
    SELECT FROM job_file f WHERE f.job_id = job.id AND f.status IN (${jobStatus.pending}, ${jobStatus.running})) THEN job.status
  WHEN EXISTS (SELECT FROM job_file f WHERE f.job_id = job.id AND f.status = ${jobStatus.failed}) THEN ${jobStatus.failed}
  ELSE ${jobStatus.done} END`;

function appendOf(tx: Tx, scope: AudienceScope, audienceId: number, appendId: JobId) {
  return tx
    .selectFrom('audience_load as load')
    .innerJoin('audience', 'audience.id', 'load.audience_id')
    .where('load.audience_id', '=', audienceId)
    .where('load.job_id', '=', appendId)
    .where(inScope(scope));
}

type Row = {
  generation: number;
  is_clear: 0 | 1;
  id: JobId;
  at: Date;
  requested_by: string | null;
};

type AppendRow = ProgressRow & {
  id: JobId;
  cancelled: boolean;
  failure_code: string | null;
  failure_detail: string | null;
  listed_at: Date | null;
  finished_at: Date | null;
  cancel_requested_at: Date | null;
  cancel_requested_by: string | null;
  canceled_by: string | null;
  file_path: string;
  retry_of: JobId | null;
  is_cleared: boolean;
  files: number;
  loaded: number;
  failed: number;
  cancelled_files: number;
  rows: number;
};

type Page = { readonly before: HistoryPosition | null; readonly limit: number };

/** Reads the page first, because counting the files of every append would take long for an old audience. */
export async function selectHistory(
  tx: Tx,
  { scope, audienceId }: { readonly scope: AudienceScope; readonly audienceId: number },
  { before, limit }: Page,
): Promise<HistoryEntry[]> {
  const { partnerId } = scope;
  const isEarlier = before
    ? sql`(generation, is_clear, id) < (${before[0]}::int, ${before[1]}::int, ${before[2]}::bigint)`
    : sql`true`;
  const { rows } = await sql<Row>`
    SELECT * FROM (
      SELECT load.generation, 0 AS is_clear, load.job_id AS id, job.created_at AS at, load.requested_by
      FROM audience_load load JOIN job ON job.id = load.job_id
      WHERE load.audience_id = ${audienceId} AND load.partner_id = ${partnerId}
      UNION ALL
      SELECT generation, 1, 0, dead_at, requested_by FROM dead_generation
      WHERE audience_id = ${audienceId} AND partner_id = ${partnerId}
    ) AS entry
    WHERE ${isEarlier}
    ORDER BY generation DESC, is_clear DESC, id DESC LIMIT ${limit}`.execute(tx);
  const appends = await selectAppends(
    tx,
    scope,
    audienceId,
    rows.flatMap(({ is_clear, id }) => (is_clear ? [] : [id])),
  );
  return rows.flatMap((row): HistoryEntry[] => {
    const about = { at: row.at, by: row.requested_by, position: [row.generation, row.is_clear, row.id] as const };
    if (row.is_clear) return [{ ...about, is: 'clear' }];
    const append = appends.get(row.id);
    return append ? [{ ...about, is: 'append', append }] : [];
  });
}

async function selectAppends(
  tx: Tx,
  scope: AudienceScope,
  audienceId: number,
  ids: readonly JobId[],
): Promise<Map<JobId, Append>> {
  const files = (status: RawBuilder<unknown>): RawBuilder<number> => sql<number>`count(*) FILTER (WHERE ${status})`;
  const { rows } = await sql<AppendRow>`
    SELECT job.id, ${statusOfFiles} AS status, job.cancelled, job.failure_code, job.failure_detail, job.listed_at, job.finished_at,
      job.cancel_requested_at, job.cancel_requested_by, job.canceled_by, coalesce(load.literal_path, load.file_path) AS file_path,
      load.retry_of, load.generation < audience.generation AS is_cleared,
      ${jobsAhead} AS jobs_ahead, ${runningSeconds} AS running_seconds, file.*
    FROM audience_load load JOIN job ON job.id = load.job_id JOIN audience ON audience.id = load.audience_id,
      LATERAL (
        SELECT count(*) AS files, ${files(sql`status = ${jobStatus.done}`)} AS loaded,
          ${files(sql`status = ${jobStatus.failed}`)} AS failed,
          ${files(sql`failure_code = ${cancelledCode}`)} AS cancelled_files,
          coalesce(sum(accepted_rows) FILTER (WHERE status = ${jobStatus.done}), 0)::bigint AS rows, ${readOfFiles}
        FROM job_file f WHERE job_id = load.job_id
      ) AS file
    WHERE load.job_id = ANY (${ids}::bigint[]) AND load.partner_id = ${scope.partnerId}
      AND audience.id = ${audienceId} AND ${inScope(scope)}`.execute(tx);
  const history = await historyFor(tx, scope.partnerId, rows);
  return new Map(rows.map((row) => [row.id, toAppend(row, history)]));
}

function toAppend(row: AppendRow, history: LaneHistory | null): Append {
  return {
    appendId: row.id,
    filePath: row.file_path,
    status: toJobStatus(row.status),
    files: row.listed_at === null ? null : { all: row.files, loaded: row.loaded, failed: row.failed },
    rowsUploaded: row.rows,
    progress: progressOf(row, history),
    failure: failureOf(row),
    startedAt: row.listed_at,
    finishedAt: row.finished_at,
    cancelRequest: row.cancel_requested_at && {
      at: row.cancel_requested_at,
      by: row.cancel_requested_by === 'partner' ? 'partner' : 'operator',
      name: row.canceled_by,
    },
    retryOf: row.retry_of,
    isCleared: row.is_cleared,
  };
}

/** A clear ends the open jobs of the audience without a failure code. */
function failureOf(row: AppendRow): Append['failure'] {
  if (row.failure_code !== null) return { code: row.failure_code, detail: row.failure_detail ?? '' };
  if (row.cancelled && row.is_cleared)
    return { code: cancelledCode, detail: 'The audience was cleared before the append had finished.' };
  // The job ends in a moment and then has the same failure.
  if (row.status !== jobStatus.failed) return null;
  return failureOfJob({ failedFiles: row.failed, cancelledFiles: row.cancelled_files, loadedFiles: row.loaded });
}
