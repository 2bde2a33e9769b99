import type { ImportLogRecord } from '@inlet/contract/import-log';
import type { ImportLog } from '../../../domain/import-log.ts';

/** The record as the spec spells it: counts are strings holding numbers. */
export function importLogRecord(log: ImportLog): ImportLogRecord {
  return {
    import_log_id: log.importLogId,
    file_path: log.filePath,
    path_type: log.pathType,
    key_type: log.keyType,
    status: log.status,
    log_type: log.logType,
    keys: log.keys === null ? null : [...log.keys],
    unique_devices: String(log.uniqueDevices),
    total_rows: String(log.totalRows),
    errors: log.errors === null ? null : [...log.errors],
    created_at: log.createdAt.toISOString(),
    updated_at: log.updatedAt.toISOString(),
  };
}
