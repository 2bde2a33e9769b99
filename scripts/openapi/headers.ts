const text = { type: 'string' };

/** Response headers; `components/headers` in the OpenAPI document. */
export const headers = {
  'x-request-id': {
    description: 'ID of the request. The log and problem responses contain the same ID.',
    required: true,
    schema: { type: 'string', format: 'uuid' },
    example: '0b8f5c1e-6d2a-4f0e-9a53-3c1d8f1f7b42',
  },
  location: {
    description: 'Path of the new record.',
    required: true,
    schema: text,
    example: '/v1/marketplace/import/1',
  },
  'idempotent-replayed': {
    description: '`true` if the request was executed before and this is the original response.',
    schema: { const: 'true' },
    example: 'true',
  },
  link: {
    description: 'RFC 8288, `rel="next"`: the next page. Absent on the last page.',
    schema: text,
    example: '</v2/firstparty/audience?limit=50&cursor=YXVkaWVuY2VzLjExNw>; rel="next"',
  },
  etag: {
    description: 'RFC 9110: changes whenever the record changes. Send it in `If-None-Match`.',
    required: true,
    schema: text,
    example: 'W/"2jmj7l5rSw0yVb_vlWAYkK"',
  },
  'cache-control': {
    description: 'Clients may cache the response, but must revalidate it with `If-None-Match` before each use.',
    required: true,
    schema: text,
    example: 'private, no-cache',
  },
  vary: {
    description: 'Responses depend on the caller.',
    required: true,
    schema: text,
    example: 'Authorization, x-user-token, Cookie',
  },
  'preference-applied': {
    description: 'RFC 7240: the preference that was applied, with the maximum number of seconds.',
    schema: text,
    example: 'wait=10',
  },
  'www-authenticate': {
    description: 'Authentication scheme of API keys.',
    required: true,
    schema: text,
    example: 'Bearer',
  },
  'retry-after': { description: 'Seconds to wait before a retry.', required: true, schema: text, example: '5' },
  'ratelimit-policy': {
    description:
      "draft-ietf-httpapi-ratelimit-headers: the quota (`q`) per window of `w` seconds, for the API key and for all of the partner's API keys. In the console, these are `session`, for the user, and `sessions`, for all of the partner's users.",
    required: true,
    schema: text,
    example: '"key";q=300;w=60, "partner";q=1200;w=60',
  },
  ratelimit: {
    description: 'Remaining requests (`r`), and seconds until the quota resets (`t`). Absent if unknown.',
    schema: text,
    example: '"key";r=287;t=42, "partner";r=1187;t=42',
  },
  deprecation: {
    description: 'RFC 9745: when the path was deprecated.',
    required: true,
    schema: text,
    example: '@1794700800',
  },
  sunset: {
    description: 'RFC 8594: when the path will be removed.',
    required: true,
    schema: text,
    example: 'Wed, 01 Dec 2027 00:00:00 GMT',
  },
};

export type HeaderName = keyof typeof headers;

export function headerReferences(names: readonly HeaderName[]): object {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
