import type { JobId } from '../../../domain/ids.ts';
import { type RawBuilder, sql } from 'kysely';
import { pathType } from '../../../domain/import-log.ts';
import { type JobKind, type JobStatus, cancelledCode } from '../../../domain/job.ts';
import type { FileState, JobReads, JobState } from '../../../ports/operations.ts';
import type { Database } from '../db/tables.ts';
import { toJobStatus } from '../lane/jobs.ts';

type JobRow = {
  id: number;
  partner: string;
  seq: number;
  kind: JobKind;
  status: JobStatus;
  cancelled: boolean;
  path: string | null;
  failure_code: string | null;
  failure_detail: string | null;
  created_at: Date;
  listed_at: Date | null;
  finished_at: Date | null;
  has_unread_files: boolean;
  is_from_partner_bucket: boolean;
  is_cleared: boolean;
};

type Filter = Parameters<JobReads['listJobs']>[0];

/**
 * A partner's jobs are read through the index on (partner_id, seq), because a scan of the IDs would read the jobs of all
 * partners. Of 300,000 jobs, that took 500 ms. Both orders are the same within a partner.
 */
export async function listJobs(db: Database, { partner, statuses, beforeId, limit }: Filter): Promise<JobState[]> {
  const condition = sql`j.status = ANY(${statuses}::int[]) AND j.id < ${beforeId}`;
  if (partner === null) return selectJobs(db, condition, { order: sql`j.id`, limit });
  const found = await db.selectFrom('partner').select('id').where('name', '=', partner).executeTakeFirst();
  if (!found) return [];
  return selectJobs(db, sql`j.partner_id = ${found.id} AND ${condition}`, { order: sql`j.seq`, limit });
}

async function selectJobs(
  db: Database,
  condition: RawBuilder<unknown>,
  { order, limit }: { readonly order: RawBuilder<unknown>; readonly limit: number },
): Promise<JobState[]> {
  const { rows } = await sql<JobRow>`
    SELECT j.id, p.name AS partner, j.seq, j.kind, j.status, j.cancelled, coalesce(l.file_path, a.file_path) AS path,
      j.failure_code, j.failure_detail, j.created_at, j.listed_at, j.finished_at,
      EXISTS (SELECT FROM job_file f WHERE f.job_id = j.id AND f.status IN (0, 1) AND NOT f.staged) AS has_unread_files,
      coalesce(l.path_type = ${pathType.partnerBucket}, false) AS is_from_partner_bucket,
      coalesce(a.generation < audience.generation, false) AS is_cleared
    FROM job j
    JOIN partner p ON p.id = j.partner_id
    LEFT JOIN import_log l ON l.job_id = j.id
    LEFT JOIN audience_load a ON a.job_id = j.id
    LEFT JOIN audience ON audience.id = a.audience_id
    WHERE ${condition}
    ORDER BY ${order} DESC LIMIT ${limit}
  `.execute(db);
  return rows.map((row) => ({
    id: row.id,
    partner: row.partner,
    seq: row.seq,
    kind: row.kind,
    status: row.status,
    isCancelled: row.cancelled || row.failure_code === cancelledCode,
    path: row.path ?? '',
    failure: toFailure(row),
    createdAt: row.created_at,
    startedAt: row.listed_at,
    finishedAt: row.finished_at,
    hasUnreadFiles: row.has_unread_files,
    isFromPartnerBucket: row.is_from_partner_bucket,
    isCleared: row.is_cleared,
  }));
}

export async function findJob(
  db: Database,
  jobId: JobId,
  fileLimit: number,
): Promise<{ job: JobState; files: FileState[] } | null> {
  const [job] = await selectJobs(db, sql`j.id = ${jobId}`, { order: sql`j.id`, limit: 1 });
  if (!job) return null;
  const files = await db
    .selectFrom('job_file')
    .selectAll()
    .where('job_id', '=', jobId)
    .orderBy('id')
    .limit(fileLimit)
    .execute();
  return {
    job,
    files: files.map((file) => ({
      id: file.id,
      path: file.path,
      bytes: file.size,
      status: toJobStatus(file.status),
      isStaged: file.staged,
      attempts: file.attempt,
      rows: file.total_rows,
      acceptedRows: file.accepted_rows,
      failure: toFailure(file),
    })),
  };
}

function toFailure(row: { failure_code: string | null; failure_detail: string | null }): JobState['failure'] {
  return row.failure_code === null ? null : { code: row.failure_code, detail: row.failure_detail ?? '' };
}
