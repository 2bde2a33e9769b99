import { z } from 'zod';

// The spec's words and codes for marketplace imports, to the letter.

const numberInString = z
  .string()
  .regex(/^\d+$/)
  .meta({ description: 'A string holding a number.', examples: ['1000000'] });
const timestamp = z.iso.datetime().meta({ description: 'ISO 8601, UTC.' });

export const importLogErrorSchema = z
  .object({
    code: z.string().meta({ description: 'A stable code: see docs/errors.md.' }),
    message: z.string(),
    file: z.string().nullable().meta({ description: 'Relative to the prefix of the partner.' }),
    row: z.int().nullable().meta({ description: 'Line number in the file, from 1; the first one with this code.' }),
    column: z.string().nullable(),
    count: z.int().meta({ description: 'How many rows (or files) the entry stands for.' }),
  })
  .meta({ id: 'ImportLogError' });

export const importLogSchema = z
  .object({
    import_log_id: z.int(),
    file_path: z.string(),
    path_type: z.union([z.literal(0), z.literal(1)]),
    key_type: z.union([z.literal(0), z.literal(1)]),
    status: z.union([z.literal(0), z.literal(1), z.literal(2), z.literal(3)]),
    log_type: z.union([z.literal(0), z.literal(1)]),
    keys: z.array(z.string()).nullable(),
    unique_devices: numberInString,
    total_rows: numberInString,
    errors: z.array(importLogErrorSchema).max(100).nullable(),
    created_at: timestamp,
    updated_at: timestamp,
  })
  .meta({ id: 'ImportLog' });

export const importLogListSchema = z.array(importLogSchema).max(100);

export const importLogIdSchema = z.object({
  import_log_id: z.coerce.number().int().positive().max(Number.MAX_SAFE_INTEGER),
});

const credentialsSchema = z
  .strictObject({
    accessKeyId: z.string().min(1).max(256),
    secretAccessKey: z.string().min(1).max(256),
    region: z.string().min(1).max(64),
  })
  .meta({ description: "Of the partner's own bucket; required when path_type is 1.", writeOnly: true });

export const queueImportBodySchema = z
  .strictObject({
    file_path: z.string().max(1024),
    key_type: z.union([z.literal(0), z.literal(1)]),
    path_type: z.union([z.literal(0), z.literal(1)]).default(0),
    credentials: credentialsSchema.optional(),
    compressed: z.boolean().optional(),
  })
  .meta({ id: 'QueueImport' });

export const queueImportAnswerSchema = z.object({ import_log_id: z.int() }).meta({ id: 'QueuedImport' });

export type ImportLogRecord = z.infer<typeof importLogSchema>;
