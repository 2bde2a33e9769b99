import { z } from 'zod';

/** A problem document (RFC 9457) with a stable code, the request ID, and a JSON pointer for every invalid field. */
export const problemSchema = z
  .object({
    type: z.string().meta({ description: '`urn:inlet:error:` followed by the code.' }),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    instance: z.string(),
    code: z.string().meta({ description: 'A stable code. See docs/errors.md.' }),
    request_id: z
      .string()
      .meta({ description: 'The value of the `x-request-id` header. The log contains the same ID.' }),
    errors: z
      .array(
        z.object({
          pointer: z.string().meta({ description: 'JSON pointer to the field (RFC 6901).' }),
          parameter: z
            .string()
            .optional()
            .meta({ description: 'Name of the query parameter or header. Absent for fields in the body.' }),
          detail: z.string(),
        }),
      )
      .optional()
      .meta({ description: 'The invalid fields.' }),
  })
  .meta({ id: 'Problem' });

export type Problem = z.infer<typeof problemSchema>;
