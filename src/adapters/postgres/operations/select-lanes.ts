import type { JobId, PartnerId } from '../../../domain/ids.ts';
import { sql } from 'kysely';
import type { JobKind, JobStatus } from '../../../domain/job.ts';
import type { JobReads, LaneState } from '../../../ports/operations.ts';
import type { Database } from '../db/tables.ts';
import { countsAsOpen } from '../open-jobs.ts';
import { fileQueue, laneQueue, storedFailure, toAttemptFailure } from '../queue/tokens.ts';

type LaneRow = {
  partner_id: PartnerId;
  partner: string;
  open_jobs: number;
  job_id: JobId;
  kind: JobKind;
  status: JobStatus;
  cancelled: boolean;
  is_suspended: boolean;
  waits_for_resume: boolean;
  created_at: Date;
  updated_at: Date;
  listed_at: Date | null;
  unread_files: number;
  open_files: number;
  loading_files: number;
  ended_files: number;
  state: 'created' | 'retry' | 'active' | null;
  is_due: boolean;
  start_after: Date | null;
  waiting_files: number;
  files_start_after: Date | null;
  file_tokens: number;
  failure: unknown;
};

type Page = Parameters<JobReads['listLanes']>[0];

export async function listLanes(db: Database, { afterJobId, limit }: Page): Promise<LaneState[]> {
  const { rows } = await sql<LaneRow>`
    WITH lane AS (
      SELECT partner_id, count(*) FILTER (WHERE ${countsAsOpen('job')}) AS open_jobs, min(seq) AS seq
      FROM job WHERE status IN (0, 1) GROUP BY partner_id
    ), oldest AS (
      SELECT lane.open_jobs, j.* FROM lane JOIN job j ON j.partner_id = lane.partner_id AND j.seq = lane.seq
      WHERE j.id > ${afterJobId} ORDER BY j.id LIMIT ${limit}
    )
    SELECT o.partner_id, p.name AS partner, p.suspended_at IS NOT NULL AS is_suspended,
      p.suspended_at IS NOT NULL AND o.listed_at IS NULL AS waits_for_resume, o.open_jobs, o.id AS job_id, o.kind,
      o.status, o.cancelled, o.created_at, o.updated_at, o.listed_at, f.unread_files, f.open_files, f.loading_files, f.ended_files, f.file_tokens,
      t.state, t.start_after, coalesce(t.start_after <= now(), true) AS is_due, f.waiting_files, f.files_start_after,
      coalesce(${storedFailure('t')}, f.failure) AS failure
    FROM oldest o
    JOIN partner p ON p.id = o.partner_id
    LEFT JOIN pgboss.job t ON t.name = ${laneQueue} AND t.singleton_key = o.partner_id::text
      AND t.policy = 'exclusive' AND t.state <= 'active'
    CROSS JOIN LATERAL (
      SELECT count(*) FILTER (WHERE file.status IN (0, 1)) AS open_files,
        count(*) FILTER (WHERE file.status IN (0, 1) AND NOT file.staged) AS unread_files,
        count(*) FILTER (WHERE file.status = 1 AND NOT file.staged) AS loading_files,
        count(*) FILTER (WHERE file.status > 1) AS ended_files,
        count(token.id) AS file_tokens,
        count(*) FILTER (WHERE token.state < 'active' AND token.start_after > now()) AS waiting_files,
        min(token.start_after) FILTER (WHERE token.state < 'active' AND token.start_after > now()) AS files_start_after,
        (array_agg(${storedFailure('token')} ORDER BY token.created_on DESC)
          FILTER (WHERE ${storedFailure('token')} IS NOT NULL))[1] AS failure
      FROM job_file file
      LEFT JOIN pgboss.job token
        ON token.name = ${fileQueue} AND token.singleton_key = file.batch_id::text
          AND token.policy = 'exclusive' AND token.state <= 'active'
      WHERE file.job_id = o.id
    ) f
    ORDER BY o.id
  `.execute(db);
  return rows.map((row) => ({
    partnerId: row.partner_id,
    partner: row.partner,
    isSuspended: row.is_suspended,
    openJobs: row.open_jobs,
    oldestJob: {
      id: row.job_id,
      kind: row.kind,
      status: row.status,
      since: row.created_at,
      startedAt: row.listed_at,
      isCancelled: row.cancelled,
      hasUnreadFiles: row.unread_files > 0,
    },
    files: { open: row.open_files, loading: row.loading_files, ended: row.ended_files },
    is: whatItIs(row),
    lastProgressAt: row.updated_at,
    dueAt: dueAtOf(row),
    lastFailure: toAttemptFailure(row.failure),
  }));
}

/** A lane without a token waits for the first of its files. */
function dueAtOf(row: LaneRow): Date | null {
  if (whatItIs(row) !== 'waiting to retry') return null;
  return row.is_due ? row.files_start_after : row.start_after;
}

function whatItIs({ state, waits_for_resume, is_due, waiting_files, file_tokens }: LaneRow): LaneState['is'] {
  if (state === 'active') return 'running';
  if (waits_for_resume) return 'suspended';
  if (!is_due || (state === null && file_tokens > 0 && waiting_files === file_tokens)) return 'waiting to retry';
  if (state !== null) return 'waiting for a worker';
  return file_tokens > 0 ? 'waiting for files to load' : 'without a token';
}
