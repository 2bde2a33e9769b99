import { z } from 'zod';
import { cursor, pathId, status, timestamp } from './codes.ts';

// The spec's words and codes for audiences, to the letter.

const deviceCount = z.int().min(0);

export const audienceSchema = z
  .object({
    audience_id: z.int(),
    name: z.string(),
    unique_devices: deviceCount.meta({ description: 'Distinct devices in the audience.' }),
    default_warehouse_segment_id: z.int().meta({ description: 'For the deep link to the composition report.' }),
    status,
    created_at: timestamp,
    updated_at: timestamp,
    uploaded_devices: deviceCount.meta({ description: 'Sum over the loaded files of the distinct devices in each.' }),
    matched_devices: deviceCount.meta({ description: 'Those of the unique devices that the device warehouse knows.' }),
  })
  .meta({ id: 'Audience' });

export const audienceListSchema = z.array(audienceSchema).max(1000);

export const audienceFileSchema = z
  .object({
    s3_path: z.string().meta({ description: "Begins with the partner's prefix." }),
    status,
    rows_uploaded: z.int(),
    updated_at: timestamp,
  })
  .meta({ id: 'AudienceFile' });

export const audienceDetailsSchema = audienceSchema
  .extend({ file: z.array(audienceFileSchema).max(10_000) })
  .meta({ id: 'AudienceDetails' });

export const audienceIdSchema = z.object({ audience_id: pathId });

const filePath = z.string().max(1200).meta({
  description: "A file, or the beginning of the paths of many, relative to the partner's prefix.",
});

/** Characters of Unicode (a string's own length counts some of them twice); no store takes a NUL. */
const name = z
  .string()
  .trim()
  .min(1)
  .refine((text) => Array.from(text).length <= 256, 'must have at most 256 characters')
  .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'must not hold control characters')
  .meta({ minLength: 1, maxLength: 256 });

export const createAudienceBodySchema = z.strictObject({ name, file_path: filePath }).meta({ id: 'CreateAudience' });

export const appendFilesBodySchema = z.strictObject({ file_path: filePath }).meta({ id: 'AppendFiles' });

/** The spec: no body fields. An empty object is taken as well. */
export const clearAudienceBodySchema = z.strictObject({}).nullish().meta({ id: 'ClearAudience' });

export const createdAudienceSchema = z
  .object({ audience_id: z.int(), default_warehouse_segment_id: z.int() })
  .meta({ id: 'CreatedAudience' });

export const audiencePageSchema = z.strictObject({
  limit: z.coerce.number().int().min(1).max(1000).default(1000),
  cursor,
});

export type AudienceRecord = z.infer<typeof audienceSchema>;
export type AudienceDetailsRecord = z.infer<typeof audienceDetailsSchema>;
export type AudienceFileRecord = z.infer<typeof audienceFileSchema>;
