import type { DocumentedFailures } from './operation-documentation.ts';

// What many operations have in common.

export const failuresOfHealth: DocumentedFailures = {
  internal: { detail: 'The request could not be carried out.' },
};

export const failuresOfAll: DocumentedFailures = {
  ...failuresOfHealth,
  unavailable: { detail: 'The request could not be carried out.' },
};

export const failuresOfKeys: DocumentedFailures = {
  unauthenticated: { detail: 'Send a valid API key as "Authorization: Bearer <API_KEY>".' },
  too_many_requests: { detail: 'This key has made 300 requests in this minute, which is the most.' },
  scope_missing: { detail: 'The API key lacks the scope "audience:read".' },
};

export const failuresOfUserTokens: DocumentedFailures = {
  invalid_user_token: { detail: 'Send a valid user token as "x-user-token", or none.' },
  issuer_away: { detail: 'The issuer https://login.example.com cannot be asked for its keys.' },
};

export const failuresOfBodies: DocumentedFailures = {
  payload_too_large: { detail: 'Request body is too large' },
  unsupported_media_type: { detail: 'Unsupported Media Type' },
};

/** Of the header `Idempotency-Key`. */
export const idempotencyKey = {
  description:
    'A name of your choice for this request, for example a UUID. Sent again with the same key within 24 hours, the request is not carried out again: the answer is that of the first time, with `Idempotent-Replayed: true`. A request that was refused may be sent again with the same key.',
  example: '6f1c0d0e-4a55-4b1c-9d3f-2f6f6f0a7c11',
} as const;

export const failuresOfRepeating: DocumentedFailures = {
  idempotency_key_in_use: { detail: 'Another request with this Idempotency-Key is still running.' },
  idempotency_key_reused: { detail: 'This Idempotency-Key was used for a different request.' },
};

export const tooManyOpenJobs: DocumentedFailures = {
  too_many_open_jobs: { detail: 'The partner has 200 open jobs, which is the limit.' },
};

export const invalidFilePath: DocumentedFailures = {
  invalid_file_path: {
    detail: 'file_path contains a "." or ".." segment.',
    errors: [{ pointer: '/file_path', detail: 'file_path contains a "." or ".." segment.' }],
  },
};

/** Of the parameters `limit` and `cursor`. */
export const pageParameters = {
  limit: { description: 'How many entries a page has at most.', example: 50 },
  cursor: { description: 'Where the page begins: taken as it is from the header `Link` of the page before.' },
} as const;

export const invalidPage: DocumentedFailures = {
  invalid_request: {
    detail: 'The request breaks a rule; see errors.',
    errors: [{ pointer: '/limit', detail: 'Too big: expected number to be <=1000' }],
  },
};
