import type { JsonObject } from './json-schemas.ts';

const text = { type: 'string' };

/** What answers carry beside their bodies; in the document under `components/headers`. */
export const headers = {
  'x-request-id': {
    description: 'The id of the request: the same as in the log and in a problem.',
    required: true,
    schema: { type: 'string', format: 'uuid' },
    example: '0b8f5c1e-6d2a-4f0e-9a53-3c1d8f1f7b42',
  },
  location: {
    description: 'Where the new record is.',
    required: true,
    schema: text,
    example: '/v1/marketplace/import/1',
  },
  'idempotent-replayed': {
    description: 'Is `true` when the request was carried out before, and this is the same answer once more.',
    schema: { const: 'true' },
    example: 'true',
  },
  link: {
    description: 'RFC 8288, `rel="next"`: where the next page is. Absent on the last page.',
    schema: text,
    example: '</v2/firstparty/audience?limit=50&cursor=YXVkaWVuY2VzLjExNw>; rel="next"',
  },
  etag: {
    description: 'RFC 9110: another one when the record says something else. For `If-None-Match`.',
    required: true,
    schema: text,
    example: 'W/"2jmj7l5rSw0yVb_vlWAYkK"',
  },
  'cache-control': {
    description: 'The caller may keep the answer, and asks with `If-None-Match` before each use.',
    required: true,
    schema: text,
    example: 'private, no-cache',
  },
  vary: {
    description: "Answers are the callers' own.",
    required: true,
    schema: text,
    example: 'Authorization, x-user-token',
  },
  'preference-applied': {
    description: 'RFC 7240: the preference that was heard, with the seconds that it may take at most.',
    schema: text,
    example: 'wait=10',
  },
  'www-authenticate': { description: 'The scheme of the API key.', required: true, schema: text, example: 'Bearer' },
  'retry-after': { description: 'Seconds to wait.', required: true, schema: text, example: '5' },
  'ratelimit-policy': {
    description:
      'draft-ietf-httpapi-ratelimit-headers: how many requests (`q`) the key, and all keys of the partner, may make in so many seconds (`w`).',
    required: true,
    schema: text,
    example: '"key";q=300;w=60, "partner";q=1200;w=60',
  },
  ratelimit: {
    description:
      'How many requests are left (`r`), and in how many seconds there are all of them again (`t`). Absent when it could not be found out.',
    schema: text,
    example: '"key";r=287;t=42, "partner";r=1187;t=42',
  },
  deprecation: {
    description: 'RFC 9745: since when the path is deprecated.',
    required: true,
    schema: text,
    example: '@1794700800',
  },
  sunset: {
    description: 'RFC 8594: when the path goes.',
    required: true,
    schema: text,
    example: 'Wed, 01 Dec 2027 00:00:00 GMT',
  },
} satisfies JsonObject;

export type HeaderName = keyof typeof headers;

export function headersNamed(names: readonly HeaderName[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
