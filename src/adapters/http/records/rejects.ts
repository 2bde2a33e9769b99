import { z } from 'zod';
import type { RejectExport } from '../../../ports/reject-export.ts';
import type { AudienceRejects, DownloadableFile } from '../../../usecases/rejects/request-rejects.ts';
import { code, status, timestamp } from '../schemas.ts';

const errorSchema = z.object({ code, message: z.string() }).nullable();

export const rejectsSchema = z
  .object({
    status,
    files_total: z.int().meta({ description: 'Number of files with rejected rows. 0 until the export starts.' }),
    files_done: z.int(),
    files_failed: z.int(),
    bytes_read: z.int(),
    bytes_total: z.int().meta({ description: 'Total size of the files that are read again.' }),
    rows: z.int().meta({ description: 'Number of rejected rows in the files that are done.' }),
    error: errorSchema,
    requested_at: timestamp,
    finished_at: timestamp.nullable(),
    expires_at: timestamp
      .nullable()
      .meta({ description: 'When the exported files are removed. Null until the export has finished.' }),
  })
  .meta({ id: 'Rejects' });

const fileSchema = z
  .object({
    file: z.string(),
    status,
    rows: z.int().meta({ description: 'Number of rejected rows.' }),
    rejects_path: z
      .string()
      .nullable()
      .meta({ description: "Path of the exported file, relative to the partner's prefix in the shared bucket." }),
    bytes: z.int().meta({ description: 'Size of the exported file, gzipped.' }),
    url: z
      .string()
      .nullable()
      .meta({ description: 'Downloads the exported file without credentials for up to one hour.' }),
    error: errorSchema,
  })
  .meta({ id: 'RejectsFile' });

export const rejectsFileListSchema = z.array(fileSchema).max(1000);
export const audienceRejectsSchema = rejectsSchema
  .extend({ file: fileSchema.nullable() })
  .meta({ id: 'AudienceRejects' });

type RejectsRecord = z.input<typeof rejectsSchema>;
type RejectsFileRecord = z.input<typeof fileSchema>;

export function rejectsRecord(found: RejectExport): RejectsRecord {
  return {
    status: found.status,
    files_total: found.files.total,
    files_done: found.files.done,
    files_failed: found.files.failed,
    bytes_read: found.bytesRead,
    bytes_total: found.bytesTotal,
    rows: found.rows,
    error: errorOf(found.failure),
    requested_at: found.requestedAt.toISOString(),
    finished_at: found.finishedAt?.toISOString() ?? null,
    expires_at: found.expiresAt?.toISOString() ?? null,
  };
}

export function rejectsFileRecord(prefix: string, file: DownloadableFile): RejectsFileRecord {
  return {
    file: file.path,
    status: file.status,
    rows: file.rows,
    rejects_path: file.object && file.object.key.slice(prefix.length),
    bytes: file.object?.bytes ?? 0,
    url: file.url,
    error: errorOf(file.failure),
  };
}

export function audienceRejectsRecord(prefix: string, found: AudienceRejects): z.input<typeof audienceRejectsSchema> {
  return { ...rejectsRecord(found), file: found.file && rejectsFileRecord(prefix, found.file) };
}

function errorOf(failure: RejectExport['failure']): z.input<typeof errorSchema> {
  return failure && { code: failure.code, message: failure.detail };
}

export const rejectsExample: RejectsRecord = {
  status: 2,
  files_total: 1,
  files_done: 1,
  files_failed: 0,
  bytes_read: 113,
  bytes_total: 113,
  rows: 1,
  error: null,
  requested_at: '2026-11-15T01:14:02.120Z',
  finished_at: '2026-11-15T01:14:03.301Z',
  expires_at: '2026-11-22T01:14:03.301Z',
};

export const rejectsFileExample: RejectsFileRecord = {
  file: 'with-bad-rows.csv',
  status: 2,
  rows: 1,
  rejects_path: 'rejects/1/1/with-bad-rows.csv.csv.gz',
  bytes: 121,
  url: 'https://storage.example.com/inlet/acme/rejects/1/1/with-bad-rows.csv.csv.gz?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Expires=3600&X-Amz-SignedHeaders=host&X-Amz-Signature=6f0e',
  error: null,
};
