import { z } from 'zod';

/** No object has a longer key. */
const maxKeyLength = 1_024;

const objectSchema = z.object({ bucket: z.object({ name: z.string() }), object: z.object({ key: z.string() }) });

/** The format of S3, in which Ceph sends notifications. */
const recordsSchema = z
  .object({ Records: z.array(z.object({ s3: objectSchema })).max(1_000) })
  .transform(({ Records: records }) => records.map(({ s3 }) => s3));

/** The format of Amazon EventBridge. Each request has one event, and its key is not URL-encoded. */
const eventSchema = z
  .object({ source: z.literal('aws.s3'), 'detail-type': z.literal('Object Created'), detail: objectSchema })
  .transform(({ detail }) => [detail]);

const notificationSchema = z.union([recordsSchema, eventSchema]);

/** Returns the keys of the objects in the bucket, or null if the body is not a notification about new objects. */
export function keysInNotification(body: string, bucket: string): string[] | null {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    return null;
  }
  const found = notificationSchema.safeParse(parsed);
  if (!found.success) return null;
  return found.data
    .filter((one) => one.bucket.name === bucket && mayBeKey(one.object.key))
    .map(({ object }) => object.key);
}

/** PostgreSQL rejects the whole query, with all of its keys, if one key contains a NUL character. */
function mayBeKey(key: string): boolean {
  return key.length <= maxKeyLength && !key.includes('\0');
}
