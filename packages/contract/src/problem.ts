import { z } from 'zod';

/** RFC 9457, with a stable code, the request's id and a JSON pointer for every invalid field. */
export const problemSchema = z
  .object({
    type: z.string().meta({ description: 'urn:inlet:error: and the code.' }),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    instance: z.string(),
    code: z.string().meta({ description: 'A stable code: see docs/errors.md.' }),
    request_id: z.string().meta({ description: 'The same as in the header x-request-id, and in the log.' }),
    errors: z
      .array(z.object({ pointer: z.string().meta({ description: 'RFC 6901.' }), detail: z.string() }))
      .optional()
      .meta({ description: 'Every field that is wrong, by its JSON pointer.' }),
  })
  .meta({ id: 'Problem' });

export type Problem = z.infer<typeof problemSchema>;
