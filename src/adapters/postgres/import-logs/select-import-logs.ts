import type { ImportLog } from '../../../domain/import-log.ts';
import { toJobStatus, toKeyType, toLogType, toPathType } from '../codes.ts';
import type { Database } from '../connect.ts';

/** The partner's import logs, newest first. */
export async function selectImportLogs(
  db: Database,
  partnerId: number,
  filter: { importLogId: number } | { limit: number },
): Promise<ImportLog[]> {
  let query = db
    .selectFrom('import_log')
    .innerJoin('job', 'job.id', 'import_log.job_id')
    .where('import_log.partner_id', '=', partnerId)
    .select([
      'job.id',
      'job.status',
      'job.created_at',
      'job.updated_at',
      'import_log.file_path',
      'import_log.path_type',
      'import_log.key_type',
      'import_log.log_type',
      'import_log.keys',
      'import_log.total_rows',
      'import_log.unique_devices',
      'import_log.errors',
    ]);
  query =
    'importLogId' in filter
      ? query.where('import_log.job_id', '=', filter.importLogId)
      : query.orderBy('import_log.job_id', 'desc').limit(filter.limit);
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
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }));
}
