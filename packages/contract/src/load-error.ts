import { z } from 'zod';
import { code, cursor } from './codes.ts';

/** One refused row, or what failed as a whole. */
export const loadErrorSchema = z
  .object({
    file: z.string().nullable().meta({ description: 'Null when it is about the whole job.' }),
    row: z.int().nullable(),
    column: z.string().nullable(),
    code,
    message: z.string(),
    text: z
      .string()
      .nullable()
      .meta({ description: 'The first 200 bytes of the refused line; what cannot be printed stands as \\xNN.' }),
  })
  .meta({ id: 'LoadError' });

export const loadErrorListSchema = z.array(loadErrorSchema).max(1000);

export const pageQuerySchema = z.strictObject({
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  cursor,
});

export type LoadErrorRecord = z.infer<typeof loadErrorSchema>;
