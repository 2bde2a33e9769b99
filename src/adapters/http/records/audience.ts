import { z } from 'zod';
import { type Audience, formatEntryId } from '../../../domain/audience.ts';
import type { AudienceFile } from '../../../ports/audience-store.ts';
import { type AudienceDetails, maxFilesShown } from '../../../usecases/follow/read-audiences.ts';
import { code, status, suppressed, timestamp } from '../schemas.ts';
import { importLogErrorSchema } from './import-log.ts';
import { progressRecord, progressSchema } from './progress.ts';

// Field names and codes follow the specification.

const deviceCount = z.int().min(0);

export const audienceSchema = z
  .object({
    audience_id: z.int(),
    name: z.string(),
    customer: z
      .string()
      .nullable()
      .meta({ description: 'The customer that owns the audience. Null for your own audiences.' }),
    unique_devices: deviceCount.meta({ description: 'Distinct devices in the audience.' }),
    default_warehouse_segment_id: z
      .int()
      .meta({ description: 'The segment ID to use in the deep link to the composition report.' }),
    status,
    created_at: timestamp,
    updated_at: timestamp,
    uploaded_devices: deviceCount.meta({ description: 'The sum of the distinct device counts of all loaded files.' }),
    matched_devices: deviceCount.meta({
      description:
        'Distinct devices that also exist in the device warehouse. If the audience has fewer than 1,000 devices, the number is rounded down, by default to a multiple of 50.',
    }),
    matched_at: timestamp.nullable().meta({
      description:
        'When `matched_devices` was counted. Later imports are not included. Null until a file has been loaded.',
    }),
  })
  .meta({ id: 'Audience' });

export const audienceListSchema = z.array(audienceSchema).max(1000);

const audienceFileSchema = z
  .object({
    file_id: z.string().meta({
      description:
        'ID of this entry. Use it to dismiss a failed entry. It begins with `path-` for a path without files.',
    }),
    append_id: z.int().meta({ description: 'The append that loads the entry. It can be canceled or retried.' }),
    s3_path: z.string().meta({ description: "Object key, including the partner's prefix." }),
    etag: z
      .string()
      .nullable()
      .meta({ description: 'The loaded version of the object. Null for a path without files.' }),
    last_modified: timestamp.nullable().meta({
      description:
        'When the storage received this version of the object. Null for a path without files, and if it is not recorded.',
    }),
    status,
    rows_uploaded: z.int(),
    rows_rejected: z
      .int()
      .meta({ description: 'Rows that were skipped. GET …/errors lists the first of each reason.' }),
    suppressed,
    error: z
      .object({ code, message: z.string() })
      .nullable()
      .meta({ description: 'Why the entry failed. Null unless the status is 3.' }),
    dismissed_at: timestamp.nullable().meta({
      description: 'When the failed entry was dismissed. It then no longer affects the status of the audience.',
    }),
    dismissed_by: z.string().nullable().meta({
      description:
        'Who dismissed the entry: an API key (`key 3`) or a user of the console. Null if it is not recorded.',
    }),
    updated_at: timestamp,
  })
  .meta({ id: 'AudienceFile' });

export const audienceDetailsSchema = audienceSchema
  .extend({
    total_files: z.int().meta({ description: 'Number of file entries, of which `file` contains the first 1,000.' }),
    processed_files: z.int().meta({ description: 'Number of file entries that are neither waiting nor loading.' }),
    failed_files: z.int().meta({
      description: 'Number of failed file entries, excluding those that no longer affect the status of the audience.',
    }),
    rejected_rows: z
      .int()
      .meta({ description: 'Rows that were skipped or caused their file to fail. `errors` lists the reasons.' }),
    progress: progressSchema.meta({
      description:
        'Progress of the open appends or, if none is open, of the latest one. `queue_position` is the position of the first open append, and `estimated_seconds_left` is the estimate for the last one.',
    }),
    errors: z.array(importLogErrorSchema).max(100).nullable().meta({
      description:
        'Each reason for failed files and rejected rows, with the number of files or rows and the first of them. Null if nothing failed. Dismissed entries are not counted. GET …/errors lists the files and rows.',
    }),
    file: z
      .array(audienceFileSchema)
      .max(maxFilesShown)
      .meta({ description: 'The first 1,000 entries. If there are more, the `Link` header points to the next page.' }),
  })
  .meta({ id: 'AudienceDetails' });

export const audienceFileListSchema = z.array(audienceFileSchema).max(maxFilesShown);

export const createdAudienceSchema = z
  .object({ audience_id: z.int(), default_warehouse_segment_id: z.int() })
  .meta({ id: 'CreatedAudience' });

export type AudienceRecord = z.infer<typeof audienceSchema>;
export type AudienceDetailsRecord = z.infer<typeof audienceDetailsSchema>;
export type AudienceFileRecord = z.infer<typeof audienceFileSchema>;

export const audienceExample: AudienceRecord = {
  audience_id: 1,
  name: 'Summer',
  customer: null,
  unique_devices: 1500,
  default_warehouse_segment_id: 500001,
  status: 2,
  created_at: '2026-11-15T01:12:18.268Z',
  updated_at: '2026-11-15T01:12:19.120Z',
  uploaded_devices: 2000,
  matched_devices: 1000,
  matched_at: '2026-11-15T01:12:19.120Z',
};

export const audienceFileExample: AudienceFileRecord = {
  file_id: '71',
  append_id: 72,
  s3_path: 'acme/acme/summer/1.csv',
  etag: '9b2cf535f27731c974343645a3985328',
  last_modified: '2026-11-15T01:10:44.000Z',
  status: 2,
  rows_uploaded: 2000,
  rows_rejected: 0,
  suppressed: 0,
  error: null,
  dismissed_at: null,
  dismissed_by: null,
  updated_at: '2026-11-15T01:12:19.120Z',
};

export const audienceDetailsExample: AudienceDetailsRecord = {
  ...audienceExample,
  total_files: 1,
  processed_files: 1,
  failed_files: 0,
  rejected_rows: 0,
  progress: {
    bytes_read: 81_000,
    bytes_total: 81_000,
    percent: 100,
    rows_read: 2000,
    queue_position: 0,
    estimated_seconds_left: 0,
  },
  errors: null,
  file: [audienceFileExample],
};

export function audienceRecord(audience: Audience): AudienceRecord {
  return {
    audience_id: audience.id,
    name: audience.name,
    customer: audience.customer,
    unique_devices: audience.uniqueDevices,
    default_warehouse_segment_id: audience.warehouseSegmentId,
    status: audience.status,
    created_at: audience.createdAt.toISOString(),
    updated_at: audience.updatedAt.toISOString(),
    uploaded_devices: audience.uploadedDevices,
    matched_devices: audience.matchedDevices,
    matched_at: audience.matchedAt?.toISOString() ?? null,
  };
}

export function audienceDetailsRecord({ audience, summary, files }: AudienceDetails): AudienceDetailsRecord {
  return {
    ...audienceRecord(audience),
    total_files: summary.entries,
    processed_files: summary.endedEntries,
    failed_files: summary.failedEntries,
    rejected_rows: summary.rejectedRows,
    progress: progressRecord(summary.progress, audience.status),
    errors: summary.errors && [...summary.errors],
    file: files.map(audienceFileRecord),
  };
}

export function audienceFileRecord(file: AudienceFile): AudienceFileRecord {
  return {
    file_id: formatEntryId(file.id),
    append_id: file.position[0],
    s3_path: file.s3Path,
    etag: file.etag,
    last_modified: file.lastModified?.toISOString() ?? null,
    status: file.status,
    rows_uploaded: file.rowsUploaded,
    rows_rejected: file.rowsRejected,
    suppressed: file.suppressed,
    error: file.failure && { code: file.failure.code, message: file.failure.detail },
    dismissed_at: file.dismissedAt?.toISOString() ?? null,
    dismissed_by: file.dismissedBy,
    updated_at: file.updatedAt.toISOString(),
  };
}
