import { z } from 'zod';
import { cancelRequesters } from '../../../domain/cancellation.ts';
import { type ImportLog, importMode } from '../../../domain/import-log.ts';
import type { LoadedFile } from '../../../ports/records.ts';
import { code, keyType, pathType, requester, status, suppressed, timestamp } from '../schemas.ts';
import { progressRecord, progressSchema } from './progress.ts';

// Field names and codes follow the specification. Additional fields never replace them.

const numberInString = z
  .string()
  .regex(/^\d+$/)
  .meta({ description: 'A number as a string.', examples: ['1000000'] });

export const importLogErrorSchema = z
  .object({
    code,
    message: z.string(),
    file: z.string().nullable().meta({
      description: 'The path of the file, as listed by GET …/files. Null if the error concerns the whole job.',
    }),
    row: z
      .int()
      .nullable()
      .meta({ description: 'Line number of the first row with this code. Line numbers start at 1.' }),
    column: z.string().nullable(),
    count: z.int().meta({ description: 'Number of rows or files with this error.' }),
  })
  .meta({ id: 'ImportLogError' });

export const importLogSchema = z
  .object({
    import_log_id: z.int(),
    file_path: z.string(),
    path_type: pathType,
    key_type: keyType,
    status,
    log_type: z.literal([0, 1]).meta({ description: '0 import, 1 delete.' }),
    mode: z
      .enum(importMode)
      .nullable()
      .meta({ description: 'Whether the import merges with or replaces the existing data. Null for a delete.' }),
    keys: z.array(z.string()).nullable().meta({ description: 'For a delete: the submitted keys.' }),
    unique_devices: numberInString,
    total_rows: numberInString,
    suppressed,
    errors: z.array(importLogErrorSchema).max(100).nullable(),
    created_at: timestamp,
    updated_at: timestamp,
    started_at: timestamp
      .nullable()
      .meta({ description: 'When the files were listed. Null while the job is waiting.' }),
    finished_at: timestamp.nullable().meta({ description: 'Null until the job has finished.' }),
    cancel_requested_at: timestamp
      .nullable()
      .meta({ description: 'When the job was canceled. Null if it was not canceled.' }),
    cancel_requested_by: z.enum(cancelRequesters).nullable().meta({ description: 'Who canceled the job.' }),
    canceled_by: requester('The API key or the user that canceled the job.'),
    requested_by: requester('The API key or the user that requested the import.'),
    retry_of: z.int().nullable().meta({ description: 'The import that this one repeats.' }),
    subscription_id: z.int().nullable().meta({ description: 'The subscription that created this import.' }),
    progress: progressSchema,
  })
  .meta({ id: 'ImportLog' });

export const importLogListSchema = z.array(importLogSchema).max(100);

export const queuedSchema = z.object({ import_log_id: z.int() }).meta({ id: 'Queued' });

const importFileSchema = z
  .object({
    file: z.string(),
    status,
    total_rows: z.int(),
    rejected_rows: z.int(),
    suppressed,
    bytes: z.int(),
    bytes_read: z.int(),
    last_modified: timestamp.nullable().meta({
      description: 'When the storage received this version of the object. Null if it is not recorded.',
    }),
    error: z.object({ code, message: z.string() }).nullable(),
    updated_at: timestamp,
  })
  .meta({ id: 'ImportFile' });

export const importFileListSchema = z.array(importFileSchema).max(1000);

export type ImportLogRecord = z.infer<typeof importLogSchema>;
export type ImportFileRecord = z.infer<typeof importFileSchema>;

export const importLogExample: ImportLogRecord = {
  import_log_id: 1,
  file_path: 'with-bad-rows.csv',
  path_type: 0,
  key_type: 1,
  status: 2,
  log_type: 0,
  mode: 'merge',
  keys: null,
  unique_devices: '2',
  total_rows: '3',
  suppressed: 0,
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
  started_at: '2026-11-15T01:12:18.301Z',
  finished_at: '2026-11-15T01:12:18.654Z',
  cancel_requested_at: null,
  cancel_requested_by: null,
  canceled_by: null,
  requested_by: 'key 1',
  retry_of: null,
  subscription_id: null,
  progress: {
    bytes_read: 113,
    bytes_total: 113,
    percent: 100,
    rows_read: 3,
    queue_position: 0,
    estimated_seconds_left: 0,
  },
};

/** Row and device counts are strings, as the specification requires. */
export function importLogRecord(log: ImportLog): ImportLogRecord {
  return {
    import_log_id: log.importLogId,
    file_path: log.filePath,
    path_type: log.pathType,
    key_type: log.keyType,
    status: log.status,
    log_type: log.logType,
    mode: log.mode,
    keys: log.keys === null ? null : [...log.keys],
    unique_devices: String(log.uniqueDevices),
    total_rows: String(log.totalRows),
    suppressed: log.suppressed,
    errors: log.errors === null ? null : [...log.errors],
    created_at: log.createdAt.toISOString(),
    updated_at: log.updatedAt.toISOString(),
    started_at: log.startedAt?.toISOString() ?? null,
    finished_at: log.finishedAt?.toISOString() ?? null,
    cancel_requested_at: log.cancelRequest?.at.toISOString() ?? null,
    cancel_requested_by: log.cancelRequest?.by ?? null,
    canceled_by: log.cancelRequest?.name ?? null,
    requested_by: log.requestedBy,
    retry_of: log.retryOf,
    subscription_id: log.subscriptionId,
    progress: progressRecord(log.progress, log.status),
  };
}

export function importFileRecord(file: LoadedFile): ImportFileRecord {
  return {
    file: file.path,
    status: file.status,
    total_rows: file.totalRows,
    rejected_rows: file.rejectedRows,
    suppressed: file.suppressed,
    bytes: file.bytes,
    bytes_read: file.bytesRead,
    last_modified: file.lastModified?.toISOString() ?? null,
    error: file.failure && { code: file.failure.code, message: file.failure.detail },
    updated_at: file.updatedAt.toISOString(),
  };
}
