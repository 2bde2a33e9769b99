import type { ImportLogRecord } from '@inlet/contract/import-log';
import type { ImportLog } from '../../../domain/import-log.ts';
import { jobStatus } from '../../../domain/job.ts';

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
    progress: progressRecord(log),
  };
}

/** Bytes are all read before the result is counted and written: 100 is said only when it is. */
function progressRecord({ progress, status }: ImportLog): ImportLogRecord['progress'] {
  const isDone = status === jobStatus.done || status === jobStatus.failed;
  const share = progress.bytesTotal === 0 ? 0 : progress.bytesRead / progress.bytesTotal;
  return {
    bytes_read: progress.bytesRead,
    bytes_total: progress.bytesTotal,
    percent: isDone ? 100 : Math.min(99, Math.floor(share * 1000) / 10),
    rows_read: progress.rowsRead,
    queue_position: progress.queuePosition,
    estimated_seconds_left: progress.secondsLeft,
  };
}
