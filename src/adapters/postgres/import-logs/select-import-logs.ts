import { sql } from 'kysely';
import type { ImportLog } from '../../../domain/import-log.ts';
import { jobStatus, openStatuses } from '../../../domain/job.ts';
import { estimateSecondsLeft, type Progress } from '../../../domain/progress.ts';
import { toJobStatus, toKeyType, toLogType, toPathType } from '../codes.ts';
import type { Database } from '../connect.ts';

/** How far the files of a running job are. Of a job that has ended it is known without looking at its files. */
const filesRead = sql<{ bytes: number; rows: number } | null>`
  CASE WHEN job.status = ${jobStatus.running} THEN (
    SELECT json_build_object('bytes', coalesce(sum(f.bytes_read), 0),
                             'rows', coalesce(sum(greatest(f.rows_read, f.total_rows)), 0))
    FROM job_file f WHERE f.job_id = job.id) END`;

/** Open jobs of the partner before this one, while it is open itself. */
const jobsAhead = sql<number>`
  (SELECT count(*) FROM job ahead WHERE ahead.partner_id = job.partner_id AND ahead.seq < job.seq
     AND ahead.status IN (0, 1) AND job.status IN (0, 1))`;

const runningSeconds = sql<number | null>`extract(epoch FROM now() - job.listed_at)::float8`;

/** The partner's import logs, newest first. */
export async function selectImportLogs(
  db: Database,
  partnerId: number,
  filter: { importLogId: number } | { beforeId: number; limit: number },
): Promise<ImportLog[]> {
  let query = db
    .selectFrom('import_log as log')
    .innerJoin('job', 'job.id', 'log.job_id')
    .where('log.partner_id', '=', partnerId)
    .select(['job.id', 'job.status', 'job.created_at', 'job.updated_at'])
    .select(['log.file_path', 'log.path_type', 'log.key_type', 'log.log_type', 'log.keys'])
    .select(['log.bytes_total', 'log.total_rows', 'log.unique_devices', 'log.errors'])
    .select([filesRead.as('read'), jobsAhead.as('jobs_ahead'), runningSeconds.as('running_seconds')]);
  query =
    'importLogId' in filter
      ? query.where('log.job_id', '=', filter.importLogId)
      : query.where('log.job_id', '<', filter.beforeId).orderBy('log.job_id', 'desc').limit(filter.limit);
  return (await query.execute()).map((row) => ({
    importLogId: row.id,
    filePath: row.file_path,
    pathType: toPathType(row.path_type),
    keyType: toKeyType(row.key_type),
    status: toJobStatus(row.status),
    logType: toLogType(row.log_type),
    keys: row.keys,
    uniqueDevices: BigInt(row.unique_devices),
    totalRows: BigInt(row.total_rows),
    errors: row.errors,
    progress: progressOf(row),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }));
}

function progressOf(row: {
  status: number;
  bytes_total: number;
  total_rows: number;
  read: { bytes: number; rows: number } | null;
  jobs_ahead: number;
  running_seconds: number | null;
}): Progress {
  const isOpen = openStatuses.some((status) => status === row.status);
  const bytesRead = row.read?.bytes ?? (isOpen ? 0 : row.bytes_total);
  const left = estimateSecondsLeft({ bytes: bytesRead, total: row.bytes_total }, row.running_seconds ?? 0);
  return {
    bytesRead,
    bytesTotal: row.bytes_total,
    rowsRead: row.read?.rows ?? row.total_rows,
    queuePosition: row.jobs_ahead,
    secondsLeft: isOpen ? left : 0,
  };
}
