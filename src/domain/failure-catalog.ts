import { type CatalogEntry, jobFailures } from './job-failures.ts';

/** Every failure that Inlet can report. `docs/errors.md` is generated from this table. */
export const failureCatalog = {
  // Requests

  invalid_request: {
    title: 'Invalid request',
    cause: 'A field is missing, has the wrong type, or violates a rule. `errors` lists every invalid field.',
    remedy: 'Correct the fields listed in `errors` and send the request again.',
    fault: 'partner',
    isRetryable: false,
    status: 400,
  },
  invalid_file_path: {
    title: 'Invalid file path',
    cause: 'The path is empty, absolute, or too long, contains a `.` or `..` segment, or contains control characters.',
    remedy:
      'Send a path relative to your prefix, without a leading `/`. With `path_type` 1, send `s3://<bucket>/<path>`.',
    fault: 'partner',
    isRetryable: false,
    status: 400,
  },
  compressed_required: {
    title: 'The `compressed` field is required for a prefix',
    cause: 'A prefix has no file extension, so Inlet cannot tell whether its files are gzip-compressed.',
    remedy: 'Send `compressed: true` or `compressed: false` with the prefix.',
    fault: 'partner',
    isRetryable: false,
    status: 400,
  },
  credentials_required: {
    title: 'Credentials are required for this path type',
    cause: '`path_type` is 1, and `credentials` is missing or incomplete.',
    remedy:
      'Send `credentials` with `path_type` 1: either `accessKeyId`, `secretAccessKey`, and `region`, or `roleArn` and `region`.',
    fault: 'partner',
    isRetryable: false,
    status: 400,
  },
  credentials_not_allowed: {
    title: 'Credentials are not allowed for this path type',
    cause: '`path_type` is 0, and `credentials` is present. Inlet reads the shared bucket with its own credentials.',
    remedy:
      'Omit `credentials`. To import from your own bucket, send `path_type` 1 and a path that starts with `s3://`.',
    fault: 'partner',
    isRetryable: false,
    status: 400,
  },
  invalid_region: {
    title: 'Unknown region',
    cause: 'The region in `credentials` is not an AWS region that Inlet can read from.',
    remedy: "Send the bucket's region identifier, for example `eu-central-1`.",
    fault: 'partner',
    isRetryable: false,
    status: 400,
  },
  invalid_role_arn: {
    title: 'Invalid role ARN',
    cause: '`roleArn` is not the ARN of an IAM role.',
    remedy: 'Send the ARN as IAM shows it, for example `arn:aws:iam::123456789012:role/inlet`.',
    fault: 'partner',
    isRetryable: false,
    status: 400,
  },
  roles_not_available: {
    title: 'Roles are not available',
    cause: 'This installation of Inlet has no AWS identity that can assume a role.',
    remedy: 'Send `accessKeyId` and `secretAccessKey`, or ask the operator to set `INLET_ROLE_ACCESS_KEY_ID`.',
    fault: 'partner',
    isRetryable: false,
    status: 400,
  },
  unknown_keys: {
    title: 'Unknown keys',
    cause: 'At least one key in the request is not one of your attribute IDs or foreign keys.',
    remedy: 'Compare the keys listed in `errors` with `GET /v1/marketplace/attributes`.',
    fault: 'partner',
    isRetryable: false,
    status: 422,
  },
  file_not_failed: {
    title: 'The file entry has not failed',
    cause: 'Only an entry with status 3 can be dismissed.',
    remedy: 'Wait until the file is loaded. To remove loaded devices, clear the audience.',
    fault: 'partner',
    isRetryable: false,
    status: 422,
  },
  import_not_cancelable: {
    title: 'The import can no longer be canceled',
    cause: 'The import has finished, is a delete that has started, or has no files left to cancel.',
    remedy: 'Read the import log to see its state. To remove loaded data, send a delete with its keys.',
    fault: 'partner',
    isRetryable: false,
    status: 422,
  },
  import_not_retryable: {
    title: 'The import cannot be retried',
    cause:
      'The import has not failed, has no failed files, is a delete, was created by a subscription that is deleted, or uses `mode: "replace"`, which cannot be applied to some of the files.',
    remedy:
      'Wait until the import has finished. If it has failed, retry it. With `mode: "replace"`, retry all files. Send a delete again as a new request.',
    fault: 'partner',
    isRetryable: false,
    status: 422,
  },
  append_not_cancelable: {
    title: 'The append can no longer be canceled',
    cause: 'The append has finished, was canceled by a clear, or has no files left to cancel.',
    remedy: 'Read the history of the audience to see its state. To remove loaded devices, clear the audience.',
    fault: 'partner',
    isRetryable: false,
    status: 422,
  },
  append_not_retryable: {
    title: 'The append cannot be retried',
    cause: 'The append has not failed, has no failed files, or belongs to data that was cleared.',
    remedy: 'Wait until the append has finished. To load other files, or files of a cleared audience, append them.',
    fault: 'partner',
    isRetryable: false,
    status: 422,
  },
  rejects_not_available: {
    title: 'Rejected rows are not available',
    cause: 'The import or the file of the audience has not finished, or it is a delete, which reads no files.',
    remedy: 'Wait until the import or the file has finished, then request its rejected rows again.',
    fault: 'partner',
    isRetryable: false,
    status: 422,
  },
  webhook_disabled: {
    title: 'The webhook is disabled',
    cause: 'Nothing is sent to a disabled webhook. Its `disabled_reason` says why it was disabled.',
    remedy:
      'Correct the receiver, enable the webhook with `PATCH /v1/webhooks/<id>` and `{"enabled": true}`, and send the request again.',
    fault: 'partner',
    isRetryable: false,
    status: 422,
  },
  event_not_replayable: {
    title: 'The event cannot be sent again',
    cause: 'The event does not exist, is more than 30 days old, or has a type that the webhook does not get.',
    remedy: 'Compare the sequence number with `GET /v1/events`, and the type with the `event_types` of the webhook.',
    fault: 'partner',
    isRetryable: false,
    status: 422,
  },
  idempotency_key_in_use: {
    title: 'A request with this Idempotency-Key is in progress',
    cause: 'Another request with the same `Idempotency-Key` has not finished. This request changed nothing.',
    remedy: 'Send the same request again after the time in `Retry-After`. You get the response to the first request.',
    fault: 'partner',
    isRetryable: true,
    status: 409,
  },
  idempotency_key_reused: {
    title: 'Idempotency-Key was used for a different request',
    cause:
      'A request with the same `Idempotency-Key` but a different body, operation, ID, or customer was accepted in the last 24 hours.',
    remedy: 'Use a new key for each new request. Reuse a key only to send the same request again.',
    fault: 'partner',
    isRetryable: false,
    status: 422,
  },

  quota_exceeded: {
    title: 'Quota exceeded',
    cause:
      'You store as much as one of your quotas allows. `detail` names the quota, its limit, and the current usage.',
    remedy:
      'Ask the operator for a higher quota. To free rows and bytes, delete data or clear audiences that you no longer need. `GET /v1/limits` shows your usage, which is measured every five minutes. For the quota `idempotency_keys`, send the request without `Idempotency-Key`.',
    fault: 'partner',
    isRetryable: false,
    status: 422,
  },

  // Authentication and authorization

  unauthenticated: {
    title: 'API key is missing or invalid',
    cause:
      'The `Authorization` header is missing, is not `Bearer <API_KEY>`, or contains an unknown, expired, or revoked key. In the console, the session has ended.',
    remedy: 'Send `Authorization: Bearer <API_KEY>` with one of your API keys. In the console, sign in again.',
    fault: 'partner',
    isRetryable: false,
    status: 401,
  },
  invalid_user_token: {
    title: 'User token is invalid',
    cause:
      'The `x-user-token` header is empty, or the token is unknown, expired, or revoked, or belongs to a different partner than the API key.',
    remedy: 'Send a user token that was issued for one of your customers, or omit the header to act for yourself.',
    fault: 'partner',
    isRetryable: false,
    status: 401,
  },
  partner_suspended: {
    title: 'The partner is suspended',
    cause: 'The operator has suspended the partner. Its data is kept, its jobs wait, and its keys are rejected.',
    remedy: 'Contact the operator. Requests work again when the operator resumes the partner.',
    fault: 'partner',
    isRetryable: false,
    status: 403,
  },
  scope_missing: {
    title: 'API key lacks the required scope',
    cause: 'The API key is valid but lacks the scope that the operation requires. `detail` names the scope.',
    remedy: 'Use a key with that scope, or ask the operator for one: `inlet key create --scope <scope>`.',
    fault: 'partner',
    isRetryable: false,
    status: 403,
  },
  scope_not_grantable: {
    title: 'The key would have more scopes than the caller',
    cause: 'A caller cannot create or rotate a key that has a scope which the caller lacks. `detail` names the scopes.',
    remedy: 'Request only scopes that you have, or use a key with more scopes.',
    fault: 'partner',
    isRetryable: false,
    status: 403,
  },
  last_managing_key: {
    title: 'The last key that can manage keys',
    cause: 'After the revocation, no API key could create or revoke keys.',
    remedy:
      'Create another key with the scope `keys:write` first. If the key is compromised, revoke it with `force=true` and ask the operator for a new one.',
    fault: 'partner',
    isRetryable: false,
    status: 422,
  },
  storage_keys_not_available: {
    title: 'Storage keys cannot be managed here',
    cause: 'This installation of Inlet does not manage the storage credentials of partners.',
    remedy: 'Ask the operator for new storage credentials, or upload files over HTTP, which needs none.',
    fault: 'partner',
    isRetryable: false,
    status: 400,
  },
  customer_in_use: {
    title: 'The customer still has audiences',
    cause:
      'A customer with audiences or other data cannot be removed, because nobody could read or delete them afterward.',
    remedy: 'Delete the audiences of the customer first. To stop its access, revoke its user tokens.',
    fault: 'partner',
    isRetryable: false,
    status: 422,
  },
  csrf_token_invalid: {
    title: 'CSRF token is missing or invalid',
    cause:
      'The request is authenticated by a session cookie. It could change data and has no `x-csrf-token`, or the token is not that of the session, for example because the user has signed in again in another tab.',
    remedy: 'Send the `csrf_token` of `GET /console/auth/session` as the header `x-csrf-token`.',
    fault: 'partner',
    isRetryable: false,
    status: 403,
  },
  console_link_invalid: {
    title: 'Console link is invalid',
    cause: 'The link is unknown, was already used, or has expired. Each link can be used once, within 60 seconds.',
    remedy: 'Open the report again in the application that you came from. It creates a new link.',
    fault: 'partner',
    isRetryable: false,
    status: 401,
  },
  console_not_available: {
    title: 'The console is not available',
    cause: 'This installation of Inlet has no console, or the console does not allow this way to sign in.',
    remedy: 'Ask the operator to set `INLET_CONSOLE_URL`, and the settings of the way to sign in.',
    fault: 'partner',
    isRetryable: false,
    status: 400,
  },
  issuer_away: {
    title: 'Identity provider is unavailable',
    cause:
      "The OpenID Connect issuer's signing keys cannot be fetched and the cached copy has expired, so the user token cannot be verified.",
    remedy:
      'Try again after the time in `Retry-After`. Calls without a user token, or with a token that the operator issued, still work.',
    fault: 'operator',
    isRetryable: true,
    status: 503,
  },

  // HTTP

  not_found: {
    title: 'Not found',
    cause: 'The path or the resource does not exist, or the resource belongs to another account.',
    remedy: 'Check the path and the ID.',
    fault: 'partner',
    isRetryable: false,
    status: 404,
  },
  method_not_allowed: {
    title: 'Method not allowed',
    cause: 'The path exists but does not support the HTTP method of the request.',
    remedy: 'Use a method listed in the `Allow` header.',
    fault: 'partner',
    isRetryable: false,
    status: 405,
  },
  request_timeout: {
    title: 'Request timeout',
    cause: 'The complete request did not arrive in time.',
    remedy: 'Send the whole request without pauses on a new connection.',
    fault: 'partner',
    isRetryable: true,
    status: 408,
  },
  payload_too_large: {
    title: 'Request body is too large',
    cause: 'The request body exceeds the size limit.',
    remedy: 'Send a smaller body. Upload data as a file instead of sending it in the request.',
    fault: 'partner',
    isRetryable: false,
    status: 413,
  },
  unsupported_media_type: {
    title: 'Unsupported media type',
    cause: 'The request body is not `application/json`.',
    remedy: 'Send JSON with `Content-Type: application/json`.',
    fault: 'partner',
    isRetryable: false,
    status: 415,
  },
  headers_too_large: {
    title: 'Request headers are too large',
    cause: 'The request line and headers exceed 16 KiB.',
    remedy: 'Send fewer or shorter headers.',
    fault: 'partner',
    isRetryable: false,
    status: 431,
  },

  // Limits

  too_many_open_jobs: {
    title: 'Too many unfinished jobs',
    cause: 'You have reached the limit on unfinished jobs.',
    remedy: 'Wait until earlier jobs finish, or load many files with one prefix import.',
    fault: 'partner',
    isRetryable: true,
    status: 429,
  },
  too_many_uploads: {
    title: 'Too many open uploads',
    cause: 'You have reached the limit on uploads that are neither completed, aborted, nor expired.',
    remedy: 'Complete or abort earlier uploads, or wait until one expires, 24 hours after it was started.',
    fault: 'partner',
    isRetryable: true,
    status: 429,
  },
  upload_incomplete: {
    title: 'The upload is incomplete',
    cause: 'A part of the file has not been uploaded, or has the wrong size.',
    remedy: 'Get the upload, send the missing parts to its URLs, and complete it again.',
    fault: 'partner',
    isRetryable: false,
    status: 422,
  },
  too_many_requests: {
    title: 'Too many requests',
    cause:
      'The API key or your account exceeded its limit of requests per minute, one address sent too many requests with invalid keys, or too many responses have not been read.',
    remedy:
      'Wait for the number of seconds in `Retry-After`. The `RateLimit` header shows how many requests are left, and `GET /v1/limits` shows your limits.',
    fault: 'partner',
    isRetryable: true,
    status: 429,
  },
  too_many_streams: {
    title: 'Too many open streams',
    cause:
      'Your account or the Inlet process that received the request has reached its limit on open streams and waiting requests.',
    remedy:
      'Close unused streams, or try again after the time in `Retry-After`. Your jobs finish in submission order, so you need to follow only one job at a time.',
    fault: 'partner',
    isRetryable: true,
    status: 429,
  },
  report_limit_reached: {
    title: 'Privacy budget is spent',
    cause:
      'Every new report reveals a little more about single devices, so the number of new reports is limited: per customer in 30 days, and per partner and day.',
    remedy:
      'Reports that are already computed can still be read. Request new ones after the time in `Retry-After`, or ask the operator for a higher limit. `GET /v1/limits` shows the budget.',
    fault: 'partner',
    isRetryable: true,
    status: 429,
  },

  // Service

  internal: {
    title: 'Internal error',
    cause: 'An unexpected error occurred. Inlet logged it with the request ID.',
    remedy: 'Try again. If the error persists, contact the operator and include the request ID.',
    fault: 'operator',
    isRetryable: true,
    status: 500,
  },
  unavailable: {
    title: 'Service temporarily unavailable',
    cause: 'PostgreSQL, ClickHouse, or the object storage is not responding, or the process is overloaded.',
    remedy: 'Try again after the time in `Retry-After`.',
    fault: 'operator',
    isRetryable: true,
    status: 503,
  },
  topology_mismatch: {
    title: 'ClickHouse topology mismatch',
    cause:
      'The configured shards, the cluster definition on a shard, and the recorded topology are not the same. Loads and reports are stopped, because they could lose rows or count devices twice.',
    remedy:
      'Try again later. The operator runs `inlet topology` to see the differences, and fixes INLET_CLICKHOUSE_URLS, INLET_CLICKHOUSE_CLUSTER, or the cluster definition.',
    fault: 'operator',
    isRetryable: true,
    status: 503,
  },
  report_not_ready: {
    title: 'Report is not ready',
    cause: 'The report is still being computed.',
    remedy:
      'Send the request again after the time in `Retry-After`. The computation continues, and its result is cached.',
    fault: 'operator',
    isRetryable: true,
    status: 503,
  },

  ...jobFailures,
} as const satisfies Record<string, CatalogEntry>;

export type FailureCode = keyof typeof failureCatalog;

export function isFailureCode(text: string): text is FailureCode {
  return Object.hasOwn(failureCatalog, text);
}
