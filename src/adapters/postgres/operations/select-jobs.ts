import type { JobId } from '../../../domain/ids.ts';
import { type RawBuilder, sql } from 'kysely';
import { type JobKind, type JobStatus, cancelledCode } from '../../../domain/job.ts';
import type { FileState, JobState } from '../../../ports/operations.ts';
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
};

type Filter = { readonly partner: string | null; readonly statuses: readonly JobStatus[]; readonly limit: number };

export async function listJobs(db: Database, { partner, statuses, limit }: Filter): Promise<JobState[]> {
  return selectJobs(
    db,
    sql`(${partner}::text IS NULL OR p.name = ${partner}) AND j.status = ANY(${statuses}::int[])`,
    limit,
  );
}

async function selectJobs(db: Database, condition: RawBuilder<unknown>, limit: number): Promise<JobState[]> {
  const { rows } = await sql<JobRow>`
    SELECT j.id, p.name AS partner, j.seq, j.kind, j.status, j.cancelled, coalesce(l.file_path, a.file_path) AS path,
      j.failure_code, j.failure_detail, j.created_at, j.listed_at, j.finished_at
    FROM job j
    JOIN partner p ON p.id = j.partner_id
    LEFT JOIN import_log l ON l.job_id = j.id
    LEFT JOIN audience_load a ON a.job_id = j.id
    WHERE ${condition}
    ORDER BY j.id DESC LIMIT ${limit}
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
  }));
}

export async function findJob(
  db: Database,
  jobId: JobId,
  fileLimit: number,
): Promise<{ job: JobState; files: FileState[] } | null> {
  const [job] = await selectJobs(db, sql`j.id = ${jobId}`, 1);
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
