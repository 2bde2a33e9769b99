import { z } from 'zod';
import { code, cursor, pathId, status, timestamp } from './codes.ts';

// The spec's words and codes for marketplace imports, to the letter. What Inlet adds is beside them, never instead.

const numberInString = z
  .string()
  .regex(/^\d+$/)
  .meta({ description: 'A string holding a number.', examples: ['1000000'] });
const pathType = z.literal([0, 1]).meta({ description: '0 the shared bucket, 1 a bucket of the partner.' });
const keyType = z.literal([0, 1]).meta({ description: '0 attribute ids, 1 foreign keys of the partner.' });

export const importLogErrorSchema = z
  .object({
    code,
    message: z.string(),
    file: z.string().nullable().meta({ description: 'As in GET …/files; null when it is about the whole job.' }),
    row: z.int().nullable().meta({ description: 'Line number in the file, from 1; the first one with this code.' }),
    column: z.string().nullable(),
    count: z.int().meta({ description: 'How many rows (or files) the entry stands for.' }),
  })
  .meta({ id: 'ImportLogError' });

export const progressSchema = z
  .object({
    bytes_read: z.int(),
    bytes_total: z.int().meta({ description: '0 until the files are listed.' }),
    percent: z.number().min(0).max(100),
    rows_read: z.int(),
    queue_position: z.int().meta({ description: 'Open jobs of the partner before this one.' }),
    estimated_seconds_left: z.int().nullable().meta({ description: 'Null while nothing can be said.' }),
  })
  .meta({ id: 'Progress' });

export const importLogSchema = z
  .object({
    import_log_id: z.int(),
    file_path: z.string(),
    path_type: pathType,
    key_type: keyType,
    status,
    log_type: z.literal([0, 1]).meta({ description: '0 import, 1 delete.' }),
    keys: z.array(z.string()).nullable().meta({ description: 'Of a delete: the keys that were sent.' }),
    unique_devices: numberInString,
    total_rows: numberInString,
    errors: z.array(importLogErrorSchema).max(100).nullable(),
    created_at: timestamp,
    updated_at: timestamp,
    progress: progressSchema,
  })
  .meta({ id: 'ImportLog' });

export const importLogListSchema = z.array(importLogSchema).max(100);

/** What the spec calls the last 100 jobs is the first page. */
export const importLogPageSchema = z.strictObject({
  limit: z.coerce.number().int().min(1).max(100).default(100),
  cursor,
});

export const importLogIdSchema = z.object({ import_log_id: pathId });

/** Keys go into headers: no space, no control character, nothing that only looks like a letter. */
const printable = z
  .string()
  .max(256)
  .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces');

const credentialsSchema = z
  .strictObject({
    accessKeyId: printable.optional(),
    secretAccessKey: printable.optional(),
    roleArn: z.string().max(2048).optional().meta({
      description:
        'Instead of the two keys: a role that Inlet assumes, with the ExternalId that it made for the partner.',
    }),
    region: z.string().min(1).max(64),
  })
  .superRefine(({ accessKeyId, secretAccessKey, roleArn }, context) => {
    for (const [name, value] of Object.entries({ accessKeyId, secretAccessKey })) {
      if ((value === undefined) !== (roleArn === undefined)) continue;
      const message = roleArn === undefined ? 'must be given, or a roleArn' : 'must not be given beside a roleArn';
      context.addIssue({ code: 'custom', path: [name], message });
    }
  })
  .meta({ description: "Of the partner's own bucket; required when path_type is 1.", writeOnly: true });

export const queueImportBodySchema = z
  .strictObject({
    file_path: z.string().max(1200).meta({
      description:
        "A file, or the beginning of the paths of many. Relative to the partner's prefix; with path_type 1, s3://<bucket>/<path>.",
    }),
    key_type: keyType,
    path_type: pathType.default(0),
    credentials: credentialsSchema.optional(),
    compressed: z.boolean().optional().meta({
      description: 'Whether the files are gzipped. Needed for a prefix; of a file, its extension tells.',
    }),
    mode: z.enum(['merge', 'replace']).default('merge').meta({
      description: 'With replace, the attributes named in the files have these rows alone afterwards.',
    }),
  })
  .meta({ id: 'QueueImport' });

export const queueDeleteBodySchema = z
  .strictObject({
    key_type: keyType,
    keys: z.array(z.string().min(1).max(200)).min(1).max(1000).meta({
      description: 'The attributes of which all data is deleted, by what key_type says.',
    }),
  })
  .meta({ id: 'DeleteAttributeData' });

export const queuedAnswerSchema = z.object({ import_log_id: z.int() }).meta({ id: 'Queued' });

export const importFileSchema = z
  .object({
    file: z.string(),
    status,
    total_rows: z.int(),
    rejected_rows: z.int(),
    bytes: z.int(),
    bytes_read: z.int(),
    error: z.object({ code, message: z.string() }).nullable(),
    updated_at: timestamp,
  })
  .meta({ id: 'ImportFile' });

export const importFileListSchema = z.array(importFileSchema).max(1000);

export type ImportLogRecord = z.infer<typeof importLogSchema>;
export type ImportFileRecord = z.infer<typeof importFileSchema>;
