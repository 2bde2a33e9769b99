import { z } from 'zod';
import type { LoadError } from '../../../usecases/follow/list-load-errors.ts';
import { code } from '../schemas.ts';

/** One rejected row, failed file, or failed job. */
const loadErrorSchema = z
  .object({
    file: z.string().nullable().meta({ description: 'Null if the error concerns the whole job.' }),
    row: z.int().nullable(),
    column: z.string().nullable(),
    code,
    message: z.string(),
    text: z
      .string()
      .nullable()
      .meta({ description: 'The first 200 bytes of the rejected line. Unprintable bytes are shown as \\xNN.' }),
  })
  .meta({ id: 'LoadError' });

export const loadErrorListSchema = z.array(loadErrorSchema).max(1000);

export type LoadErrorRecord = z.infer<typeof loadErrorSchema>;

export function loadErrorRecord({
  fileId,
  file,
  row,
  column,
  code: reason,
  message,
  text,
}: LoadError): LoadErrorRecord {
  return { file, row: fileId === 0 || row === 0 ? null : row, column, code: reason, message, text };
}
