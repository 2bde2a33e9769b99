import type { JobId, PartnerId } from '../../../domain/ids.ts';
import { sql } from 'kysely';
import type { PgBoss } from 'pg-boss';
import { cancelledCode, jobKind, jobStatus, openStatuses } from '../../../domain/job.ts';
import type { Cancellation, JobRequest, Operations, OriginalRequest } from '../../../ports/operations.ts';
import type { Database, Tx } from '../db/tables.ts';
import { cancelFiles, toImportMode, toJobKind, toJobStatus, toKeyType, toPathType } from '../lane/jobs.ts';
import { endCanceledJobs, lockLane } from '../lane/lane-store.ts';
import { sendLaneToken } from '../queue/tokens.ts';
import { findJob, listJobs } from './select-jobs.ts';
import { listLanes } from './select-lanes.ts';

export function postgresOperations(db: Database, boss: PgBoss): Operations {
  return {
    listLanes: (limit) => listLanes(db, limit),
    listJobs: (filter) => listJobs(db, filter),
    findJob: (jobId, fileLimit) => findJob(db, jobId, fileLimit),
    findRequest: (jobId) => selectRequest(db, jobId),
    cancelJob: (jobId) => cancelJob(db, boss, jobId),
  };
}

/**
 * Cancels a job. Locks the lane, the job, and the files in the same order as a lane step and a commit do. The lane
 * therefore sees either the job before the cancellation or the token sent here. A file is either already staged or can
 * no longer be staged.
 */
async function cancelJob(db: Database, boss: PgBoss, jobId: JobId): Promise<Cancellation | null> {
  return db.transaction().execute(async (tx) => {
    const found = await tx.selectFrom('job').select('partner_id').where('id', '=', jobId).executeTakeFirst();
    if (!found) return null;
    const { partner_id: partnerId } = found;
    await lockLane(tx, partnerId);
    const job = await lockJob(tx, jobId);
    if (!job) return null;
    const status = toJobStatus(job.status);
    if (!openStatuses.includes(status)) return { is: 'ended before', status };
    const isStarted = job.listed_at !== null;
    if (isStarted && job.kind === jobKind.delete) return { is: 'deleting' };
    const cancelled = isStarted ? await stopFiles(tx, jobId) : await neverStart(tx, { jobId, partnerId });
    await sendLaneToken(boss, tx, partnerId);
    return cancelled;
  });
}

async function lockJob(tx: Tx, jobId: JobId) {
  return tx
    .selectFrom('job')
    .select(['kind', 'status', 'listed_at'])
    .where('id', '=', jobId)
    .forUpdate()
    .executeTakeFirst();
}

async function stopFiles(tx: Tx, jobId: JobId): Promise<Cancellation> {
  await cancelFiles(tx, jobId);
  const { all, cancelled } = await tx
    .updateTable('job')
    .set({ updated_at: sql`now()` })
    .where('id', '=', jobId)
    .returning([
      sql<number>`(SELECT count(*) FROM job_file WHERE job_id = job.id)`.as('all'),
      sql<number>`(SELECT count(*) FROM job_file WHERE job_id = job.id AND failure_code = ${cancelledCode})`.as(
        'cancelled',
      ),
    ])
    .executeTakeFirstOrThrow();
  return cancelled === 0 ? { is: 'loaded' } : { is: 'stopped', cancelledFiles: cancelled, otherFiles: all - cancelled };
}

/** Cancels a job that has not started. Its keys are its only data in ClickHouse, and the sweeper removes them. */
async function neverStart(tx: Tx, { jobId, partnerId }: { jobId: JobId; partnerId: PartnerId }): Promise<Cancellation> {
  await tx
    .updateTable('job')
    .set({ cancelled: true, cleaned_at: sql`now()`, updated_at: sql`now()` })
    .where('id', '=', jobId)
    .execute();
  await endCanceledJobs(tx, partnerId);
  const { status, ahead } = await tx
    .selectFrom('job')
    .select([
      'status',
      sql<number>`(SELECT count(*) FROM job ahead WHERE ahead.partner_id = job.partner_id AND ahead.seq < job.seq
                     AND ahead.status IN (0, 1))`.as('ahead'),
    ])
    .where('id', '=', jobId)
    .executeTakeFirstOrThrow();
  return { is: 'never started', hasEnded: status === jobStatus.failed, jobsAhead: ahead };
}

type Row = {
  status: number;
  kind: string;
  partner_id: PartnerId;
  name: string;
  prefix: string;
  import_path: string | null;
  path_type: number | null;
  key_type: number | null;
  compressed: boolean | null;
  mode: string | null;
  audience_path: string | null;
  audience_id: number | null;
  customer_id: number | null;
  is_cleared: boolean | null;
};

/** Selects a job's original request, regardless of the partner. */
async function selectRequest(db: Database, jobId: JobId): Promise<JobRequest | null> {
  const { rows } = await sql<Row>`
    SELECT j.status, j.kind, j.partner_id, p.name, p.prefix,
      l.file_path AS import_path, l.path_type, l.key_type, l.compressed, l.mode,
      coalesce(a.literal_path, a.file_path) AS audience_path, a.audience_id, audience.customer_id, a.generation < audience.generation AS is_cleared
    FROM job j
    JOIN partner p ON p.id = j.partner_id
    LEFT JOIN import_log l ON l.job_id = j.id
    LEFT JOIN audience_load a ON a.job_id = j.id
    LEFT JOIN audience ON audience.id = a.audience_id
    WHERE j.id = ${jobId}
  `.execute(db);
  const [row] = rows;
  if (!row) return null;
  const partner = { id: row.partner_id, name: row.name, prefix: row.prefix };
  return { status: toJobStatus(row.status), partner, original: toOriginalRequest(row) };
}

function toOriginalRequest(row: Row): OriginalRequest {
  const kind = toJobKind(row.kind);
  if (kind === jobKind.delete) return { kind };
  if (kind === jobKind.audience) {
    return {
      kind,
      audienceId: row.audience_id ?? 0,
      scope: { partnerId: row.partner_id, customerId: row.customer_id },
      filePath: row.audience_path ?? '',
      isCleared: row.is_cleared ?? true,
    };
  }
  return {
    kind,
    request: {
      filePath: row.import_path ?? '',
      pathType: toPathType(row.path_type ?? -1),
      keyType: toKeyType(row.key_type ?? -1),
      compressed: row.compressed,
      mode: toImportMode(row.mode ?? ''),
    },
  };
}
