import { z } from 'zod';

// Restates what the published description of DROP's API (version 1.2.0) says about responses. The test server checks
// each of its own responses against it.

const message = z.strictObject({ message: z.string() });

const upload = z.strictObject({
  message: z.string(),
  acceptedCount: z.int(),
  rejectedCount: z.int(),
  accepted: z.array(z.strictObject({ fileName: z.string(), fileSizeBytes: z.int() })),
  rejected: z.array(z.strictObject({ fileName: z.string(), message: z.string() })),
});

const errors = { 401: message, 403: message, 404: message, 429: message, 500: message };

/** The statuses of each operation, with the schemas of their JSON bodies. */
const operations: Readonly<Record<string, Readonly<Record<number, z.ZodType>>>> = {
  'GET /data/download': { ...errors, 200: message, 202: message, 409: message },
  'POST /data/upload': { ...errors, 202: upload, 400: upload, 409: message },
  'POST /data/amend': { ...errors, 202: upload, 400: upload, 409: message },
};

type Sent = {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
};

/** Throws if the response does not match the description. */
export function requirePublished(operation: string, { status, body, headers }: Sent): void {
  const described = operations[operation] ?? { 404: message };
  const schema = described[status];
  if (!schema) throw new Error(`${operation} does not answer with ${status}`);
  if (!Buffer.isBuffer(body)) {
    schema.parse(body);
    if (status === 202 && operation.startsWith('GET')) z.coerce.number().int().min(1).parse(headers['retry-after']);
    return;
  }
  if (status !== 200 || headers['content-type'] !== 'application/zip') throw new Error('this is not an archive');
  z.string()
    .regex(/^attachment; filename="\d{8}_\d{4}_DROP\.zip"$/)
    .parse(headers['content-disposition']);
}
