import { z } from 'zod';
import { maxForeignKeysPerRequest } from '../../domain/own-access.ts';
import { retriedFiles } from '../../domain/audience-history.ts';

// Fields that several requests and responses share.

export const timestamp = z.iso.datetime().meta({ description: 'ISO 8601, UTC.' });
export const code = z.string().meta({ description: 'A stable code. See docs/errors.md.' });
export const status = z.literal([0, 1, 2, 3]).meta({ description: '0 pending, 1 running, 2 done, 3 error.' });

export const suppressed = z.int().meta({
  description:
    'Rows whose data is not stored because a deletion or an opt-out applies to their devices. The number is an estimate in thousands, so that it does not reveal which devices these are. All other counts include these rows.',
});

/** A numeric code in a request. The error lists the valid values with their meanings. */
function codeField<const Value extends number>(choices: readonly (readonly [Value, string])[]): z.ZodLiteral<Value> {
  const list = choices.map(([value, meaning]) => `${value} (${meaning})`).join(' or ');
  return z
    .literal(
      choices.map(([value]) => value),
      {
        error: ({ path = [], input }) =>
          `${path.join('.')} ${input === undefined ? 'is required:' : 'must be'} ${list}.`,
      },
    )
    .meta({ description: `${list}.` });
}

export const keyType = codeField([
  [0, 'attribute IDs'],
  [1, 'your foreign keys'],
]);
export const pathType = codeField([
  [0, 'the shared bucket'],
  [1, 'your own bucket'],
]);

/** A numeric ID in a path. */
export function pathId(description: string, example: number) {
  return z
    .string()
    .regex(/^[1-9]\d{0,14}$/)
    .transform(Number)
    .meta({ description, examples: [example] });
}

export const importLogParams = z.object({ import_log_id: pathId('ID of the import or delete.', 1) });
export const audienceParams = z.object({ audience_id: pathId('ID of the audience.', 1) });

export const attributeParams = z.object({ attribute_id: pathId('ID of the attribute.', 1004) });
export const keyParams = z.object({ key_id: pathId('ID of the API key.', 17) });
export const storageKeyParams = z.object({
  access_key_id: z
    .string()
    .regex(/^[\x21-\x7e]{1,128}$/)
    .meta({ description: 'ID of the access key.', examples: ['7KQ2V4MZJ9T1X5B8N3WD'] }),
});
export const customerParams = z.object({ customer_id: pathId('ID of the customer.', 31) });
export const userTokenParams = customerParams.extend({ token_id: pathId('ID of the user token.', 42) });

/** Foreign keys in a request. A foreign key has at most 200 characters. */
export const foreignKeyList = z.array(z.string().max(400)).max(maxForeignKeysPerRequest);
export const appendParams = audienceParams.extend({
  append_id: pathId("The `append_id` in the audience's history or file list.", 72),
});

/**
 * The limit counts Unicode code points, because `length` counts some of them as two. Control characters are rejected,
 * because the stores do not accept NUL.
 */
export const audienceName = z
  .string()
  .trim()
  .min(1)
  .refine((text) => Array.from(text).length <= 256, 'name must have at most 256 characters.')
  .regex(/^[^\p{Cc}\p{Cs}]*$/u, 'name must not contain control characters.')
  .meta({ minLength: 1, maxLength: 256 });

/** Names the sender of a request in a record. */
export function requester(description: string) {
  return z
    .string()
    .nullable()
    .meta({
      description: `${description} Null if an operator or a subscription did it, or if it was done in an earlier release.`,
    });
}

/** The files that a retry loads. It has no default, so that the fingerprint of an earlier request stays the same. */
export const retriedFilesField = z.enum(retriedFiles, { error: 'files must be "all" or "failed".' }).optional().meta({
  description:
    '`all` (default): every file under the path. `failed`: only the files that failed or were canceled, in their current version.',
});

export const audienceFileParams = audienceParams.extend({
  file_id: z
    .string()
    .max(32)
    .meta({ description: "The entry's `file_id` in the audience's file list.", examples: ['71'] }),
});

export const uploadParams = z.object({
  upload_id: z
    .string()
    .max(4_096)
    .meta({ description: 'ID of the upload.', examples: ['k1.Ew2dBnXJ4Yh8w0aZ'] }),
});

/** A whole number in a query string. Every violation has the same message, which contains the range. */
export function queryNumber(name: string, max: number) {
  const error = `${name} must be a whole number from 1 to ${max.toLocaleString('en-US')}.`;
  return z.coerce.number({ error }).int({ error }).min(1, { error }).max(max, { error });
}

export const pageCursor = z.string().max(128).optional().meta({
  description: "The position at which the page starts. Copy it unchanged from the previous page's `Link` header.",
});

/** Query of a paged list. */
export function pageQuery(max: number, byDefault: number) {
  return z.strictObject({
    limit: queryNumber('limit', max)
      .default(byDefault)
      .meta({ description: 'Maximum number of entries per page.', examples: [50] }),
    cursor: pageCursor,
  });
}

/** A `file_path` without its description, which differs between operations. */
export const filePath = z.string().max(1200);
