import { z } from 'zod';
import type { HistoryEntry } from '../../../domain/audience-history.ts';
import { cancelRequesters } from '../../../domain/cancellation.ts';
import { code, requester, status, timestamp } from '../schemas.ts';
import { progressRecord, progressSchema } from './progress.ts';

/** Every entry on a page needs its file counts. */
export const maxHistoryShown = 100;

const appendSchema = z
  .object({
    append_id: z.int().meta({ description: 'Cancel or retry the append with this ID.' }),
    file_path: z.string(),
    status,
    files: z
      .object({ all: z.int(), loaded: z.int(), failed: z.int() })
      .nullable()
      .meta({ description: 'Number of files that the append loads. Null until they are listed.' }),
    rows_uploaded: z.int().meta({ description: 'Rows of the loaded files.' }),
    progress: progressSchema,
    error: z
      .object({ code, message: z.string() })
      .nullable()
      .meta({ description: 'Why the append failed. Null unless the status is 3.' }),
    started_at: timestamp.nullable().meta({
      description: 'When the files were listed. Null while the append is waiting, and if listing the files failed.',
    }),
    finished_at: timestamp.nullable(),
    cancel_requested_at: timestamp
      .nullable()
      .meta({ description: 'When the append was canceled. Null if it was not canceled.' }),
    cancel_requested_by: z.enum(cancelRequesters).nullable().meta({ description: 'Who canceled the append.' }),
    canceled_by: requester('The API key or the user that canceled the append.'),
    retry_of: z.int().nullable().meta({ description: 'The append that this one repeats.' }),
    cleared: z.boolean().meta({ description: 'Whether a later clear removed the devices or canceled the append.' }),
  })
  .meta({ id: 'AudienceAppend' });

const historyEntrySchema = z
  .object({
    type: z.enum(['append', 'clear']),
    at: timestamp.meta({ description: 'When the request was accepted.' }),
    by: z
      .string()
      .nullable()
      .meta({
        description: 'Who sent the request: an API key (`key 3`) or a console user. Null if it is not recorded.',
        examples: ['key 3'],
      }),
    append: appendSchema.nullable().meta({ description: 'Null for a clear.' }),
  })
  .meta({ id: 'AudienceHistoryEntry' });

export const historyListSchema = z.array(historyEntrySchema).max(maxHistoryShown);

export const queuedAppendSchema = z.object({ append_id: z.int() }).meta({ id: 'QueuedAppend' });

type HistoryRecord = z.infer<typeof historyEntrySchema>;

export const historyExample: HistoryRecord[] = [
  {
    type: 'append',
    at: '2026-11-15T01:12:18.268Z',
    by: 'key 3',
    append: {
      append_id: 72,
      file_path: 'acme/summer/',
      status: 2,
      files: { all: 1, loaded: 1, failed: 0 },
      rows_uploaded: 2000,
      progress: {
        bytes_read: 81_000,
        bytes_total: 81_000,
        percent: 100,
        rows_read: 2000,
        queue_position: 0,
        estimated_seconds_left: 0,
      },
      error: null,
      started_at: '2026-11-15T01:12:18.301Z',
      finished_at: '2026-11-15T01:12:19.120Z',
      cancel_requested_at: null,
      cancel_requested_by: null,
      canceled_by: null,
      retry_of: null,
      cleared: false,
    },
  },
  { type: 'clear', at: '2026-11-14T17:40:02.001Z', by: 'user Ana Lima', append: null },
];

export function historyRecord(entry: HistoryEntry): HistoryRecord {
  const { at, by } = entry;
  if (entry.is === 'clear') return { type: 'clear', at: at.toISOString(), by, append: null };
  const { append } = entry;
  return {
    type: 'append',
    at: at.toISOString(),
    by,
    append: {
      append_id: append.appendId,
      file_path: append.filePath,
      status: append.status,
      files: append.files,
      rows_uploaded: append.rowsUploaded,
      progress: progressRecord(append.progress, append.status),
      error: append.failure && { code: append.failure.code, message: append.failure.detail },
      started_at: append.startedAt?.toISOString() ?? null,
      finished_at: append.finishedAt?.toISOString() ?? null,
      cancel_requested_at: append.cancelRequest?.at.toISOString() ?? null,
      cancel_requested_by: append.cancelRequest?.by ?? null,
      canceled_by: append.cancelRequest?.name ?? null,
      retry_of: append.retryOf,
      cleared: append.isCleared,
    },
  };
}
