import type { JobId, PartnerId } from '../../../domain/ids.ts';
import { sql } from 'kysely';
import type { PgBoss } from 'pg-boss';
import { jobKind, openStatuses } from '../../../domain/job.ts';
import type { JobRequest, OperatorCancellation, Operations, OriginalRequest } from '../../../ports/operations.ts';
import type { Database, Tx } from '../db/tables.ts';
import { cancelJob } from '../lane/cancel-job.ts';
import { toImportMode, toJobKind, toJobStatus, toKeyType, toPathType } from '../lane/jobs.ts';
import { openJobsAhead } from '../open-jobs.ts';
import { postgresJobReads } from './operator-reads.ts';

export function postgresOperations(db: Database, boss: PgBoss): Operations {
  return {
    ...postgresJobReads(db),
    findRequest: (jobId) => selectRequest(db, jobId),
    cancelJob: (jobId) => db.transaction().execute((tx) => cancelAnyJob(tx, boss, jobId)),
  };
}

async function cancelAnyJob(tx: Tx, boss: PgBoss, jobId: JobId): Promise<OperatorCancellation | null> {
  const owner = await tx.selectFrom('job').select('partner_id').where('id', '=', jobId).executeTakeFirst();
  if (!owner) return null;
  const which = { jobId, partnerId: owner.partner_id, requester: 'operator' as const, kinds: Object.values(jobKind) };
  const cancellation = await cancelJob(tx, boss, which);
  if (cancellation?.is !== 'never started') return cancellation;
  const { status, ahead } = await tx
    .selectFrom('job')
    .select(['status', openJobsAhead.as('ahead')])
    .where('id', '=', jobId)
    .executeTakeFirstOrThrow();
  return { is: 'never started', hasEnded: !openStatuses.includes(toJobStatus(status)), jobsAhead: ahead };
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
