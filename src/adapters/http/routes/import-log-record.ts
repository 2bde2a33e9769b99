import type { ImportLogRecord } from '@inlet/contract/import-log';
import { operations } from '@inlet/contract/operations';
import type { FastifyReply } from 'fastify';
import type { ImportLog } from '../../../domain/import-log.ts';
import { jobStatus } from '../../../domain/job.ts';
import type { Partner } from '../../../domain/partner.ts';
import type { ImportLogStore } from '../../../ports/import-log-store.ts';
import type { FollowedRecords } from '../../../usecases/follow/followed-records.ts';
import { getImportLog, noSuchImportLog } from '../../../usecases/follow/read-import-logs.ts';
import { type Followable, memoizeShown } from '../answer-record.ts';
import type { DocumentedFailures } from '../operation-documentation.ts';

// What the operations on imports have in common.

export const importLogIdParameter = {
  import_log_id: { description: 'The id that the import or the delete was answered with.', example: 1 },
};

export const noSuchImport: DocumentedFailures = { not_found: { detail: 'There is no import log 1.' } };

export const importLogExample: ImportLogRecord = {
  import_log_id: 1,
  file_path: 'with-bad-rows.csv',
  path_type: 0,
  key_type: 1,
  status: 2,
  log_type: 0,
  keys: null,
  unique_devices: '2',
  total_rows: '3',
  errors: [
    {
      code: 'invalid_id',
      message: 'The advertising ID does not have the form 8-4-4-4-12 hexadecimal digits.',
      file: 'with-bad-rows.csv',
      row: 2,
      column: 'id',
      count: 1,
    },
  ],
  created_at: '2026-11-15T01:12:18.268Z',
  updated_at: '2026-11-15T01:12:18.654Z',
  progress: {
    bytes_read: 113,
    bytes_total: 113,
    percent: 100,
    rows_read: 3,
    queue_position: 0,
    estimated_seconds_left: 0,
  },
};

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

export type OneImportLogDeps = {
  readonly importLogs: ImportLogStore;
  readonly following: Pick<FollowedRecords, 'imports'>;
};

/** The estimate grows with the clock while nothing happens: it is no change of the record. */
const shown = memoizeShown(importLogRecord, (record: ImportLogRecord) => ({
  ...record,
  progress: { ...record.progress, estimated_seconds_left: undefined },
}));

export function oneImportLog(
  deps: OneImportLogDeps,
  partner: Partner,
  importLogId: number,
): Followable<ImportLog, ImportLogRecord> {
  return {
    read: () => getImportLog(deps, partner, importLogId),
    follow: (wants) => deps.following.imports.follow({ partnerId: partner.id, importLogId }, wants),
    missing: () => noSuchImportLog(importLogId),
    shown,
  };
}

/** Decision 21: accepted, and where to follow it. */
export function answerQueued(reply: FastifyReply, importLogId: number): { import_log_id: number } {
  // The line that ties the request's id to the job's.
  reply.log.info({ jobId: importLogId }, 'job accepted');
  reply.code(202).header('location', operations.getImportLog.path.replace(':import_log_id', String(importLogId)));
  return { import_log_id: importLogId };
}
