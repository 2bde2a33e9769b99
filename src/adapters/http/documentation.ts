import type { DocumentedProblems, Operation } from './operation.ts';

// Documentation that several operations share.

export const tooManyOpenJobs: DocumentedProblems = {
  too_many_open_jobs: { detail: 'The partner has 200 open jobs, which is the limit.' },
};

export const invalidFilePath: DocumentedProblems = {
  invalid_file_path: {
    detail: 'file_path contains a "." or ".." segment.',
    errors: [{ pointer: '/file_path', detail: 'file_path contains a "." or ".." segment.' }],
  },
};

export const importLogNotFound: DocumentedProblems = { not_found: { detail: 'Import log 1 does not exist.' } };

export const uploadNotFound: DocumentedProblems = {
  not_found: { detail: 'The upload does not exist, has expired, or was aborted.' },
};

export const audienceNotFound: DocumentedProblems = { not_found: { detail: 'Audience 1 does not exist.' } };

export const attributeNotFound: DocumentedProblems = { not_found: { detail: 'Attribute 1004 does not exist.' } };

export const keyNotFound: DocumentedProblems = { not_found: { detail: 'Key 17 does not exist.' } };

export const customerNotFound: DocumentedProblems = { not_found: { detail: 'Customer 31 does not exist.' } };

/** Example of a change that would exceed a quota. */
export function ownQuota(detail: string): DocumentedProblems {
  return { quota_exceeded: { detail } };
}
export const appendNotFound: DocumentedProblems = { not_found: { detail: 'Audience 1 has no append 72.' } };

/** Example of a validation problem with these field errors. */
export function invalidRequest(...errors: readonly { pointer: string; detail: string }[]): DocumentedProblems {
  return { invalid_request: { detail: 'The request is invalid; see errors.', errors } };
}

/** Example of a validation problem in this query parameter. */
export function invalidQuery(parameter: string, detail: string): DocumentedProblems {
  const errors = [{ pointer: `/${parameter}`, parameter, detail }];
  return { invalid_request: { detail: 'The request is invalid; see errors.', errors } };
}

/** A session names the customer itself, so a request with a session must have no user token. */
export const userTokenWithSession: DocumentedProblems = invalidQuery(
  'x-user-token',
  'The session names the customer, so a user token is not allowed.',
);

export function invalidPage(max: number): DocumentedProblems {
  return invalidQuery('limit', `limit must be a whole number from 1 to ${max.toLocaleString('en-US')}.`);
}

/** Request headers for a conditional GET with long polling. */
export const conditionalGetHeaders = {
  'If-None-Match': {
    description:
      'The ETags that the client already has (RFC 9110), or `*`. If the record still has one of them, the response is 304.',
    example: 'W/"2jmj7l5rSw0yVb_vlWAYkK"',
  },
  Prefer: {
    description:
      '`wait=N` (RFC 7240) enables long polling for up to N seconds (maximum 60). Without `If-None-Match`, the response is sent when the record is final (status 2 or 3). With `If-None-Match`, it is sent when the ETag changes. After N seconds, the current record is sent. `Preference-Applied` confirms that the server waited. When too many clients are waiting, the server responds immediately without that header.',
    example: 'wait=10',
  },
} as const;

export const notModified = {
  304: { description: 'The record has not changed.', isConditional: true },
} as const;

/** Request headers for an event stream. */
export const eventStreamHeaders = {
  'Last-Event-ID': {
    description: 'The ID of the last event that the client received. That event is not sent again.',
    example: '2jmj7l5rSw0yVb_vlWAYkK',
  },
} as const;

export const noMoreEvents = {
  204: { description: 'The record is final, and the client already received its last event.' },
} as const;

export const tooManyStreams: DocumentedProblems = {
  too_many_streams: { detail: 'The maximum number of open streams has been reached.' },
};

export const eventStreamDescription =
  'Sends server-sent events. A `progress` event contains the same record as `GET`. It is sent at the start and after each change, at most about once per second. The `done` event contains the final record (status 2 or 3) and ends the stream. The event `id` is the ETag of the record without quotes. A comment is sent at least every 15 seconds. The server closes a stream after several minutes or when it shuts down. Reconnect with `Last-Event-ID`.';

export function eventStreamExample(record: { readonly status: number }): string {
  const event = (name: string, id: string, data: object): string =>
    `event: ${name}\nid: ${id}\ndata: ${JSON.stringify(data)}\n\n`;
  return [
    'retry: 1000\n\n',
    event('progress', '2jmj7l5rSw0yVb_vlWAYkK', { ...record, status: 1 }),
    ':\n\n',
    event('done', 'Dj1Zf0bCqXhV8k3mP6rT9w', record),
  ].join('');
}

/** The `Idempotency-Key` header of every operation that changes data. */
export const idempotencyKeyDocumentation = {
  description:
    'A unique value for this request, for example a UUID. If you repeat the request with the same key within 24 hours, it is not executed again, and you get the original response with `Idempotent-Replayed: true`. A request that was rejected can be sent again with the same key.',
  example: '6f1c0d0e-4a55-4b1c-9d3f-2f6f6f0a7c11',
} as const;

type Repetition = Pick<Operation, 'method' | 'isRead' | 'isRepeatable'>;

/** Whether the operation accepts an `Idempotency-Key`. */
export function isIdempotent({ method, isRead, isRepeatable }: Repetition): boolean {
  return method !== 'GET' && isRead !== true && isRepeatable !== true;
}

export function acceptsUserToken({ tag }: Pick<Operation, 'tag'>): boolean {
  return tag === 'audiences' || tag === 'uploads' || tag === 'events' || tag === 'limits';
}

/** Problems that any operation can return. */
export function commonProblems(operation: Operation): DocumentedProblems {
  const internal = { internal: { detail: 'The request could not be completed.' } };
  if (operation.tag === 'health') return internal;
  return {
    unauthenticated: { detail: 'Send a valid API key as "Authorization: Bearer <API_KEY>".' },
    ...(operation.tag === 'operator'
      ? {}
      : { too_many_requests: { detail: 'This key has made 300 requests in this minute, which is the limit.' } }),
    scope_missing: { detail: 'The API key lacks the scope "audience:read".' },
    ...(operation.tag === 'operator'
      ? {}
      : { partner_suspended: { detail: 'The operator has suspended the partner "acme".' } }),
    ...(acceptsUserToken(operation) ? userTokenProblems : {}),
    ...(operation.body ? bodyProblems : {}),
    ...(isIdempotent(operation) ? idempotencyProblems : {}),
    ...internal,
    unavailable: { detail: 'The request could not be completed.' },
  };
}

const userTokenProblems: DocumentedProblems = {
  invalid_user_token: { detail: 'Send a valid user token as "x-user-token", or omit the header.' },
  issuer_away: { detail: 'The keys of the issuer https://login.example.com cannot be fetched.' },
};

const bodyProblems: DocumentedProblems = {
  payload_too_large: { detail: 'Request body is too large' },
  unsupported_media_type: { detail: 'Unsupported Media Type' },
};

const idempotencyProblems: DocumentedProblems = {
  idempotency_key_in_use: { detail: 'Another request with this Idempotency-Key is still running.' },
  idempotency_key_reused: { detail: 'This Idempotency-Key was used for a different request.' },
  quota_exceeded: { detail: 'The quota stored_rows is 10000000000. 10000000345 are used.' },
};
