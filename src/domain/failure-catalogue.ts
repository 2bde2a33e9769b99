import { fileFaults } from '@inlet/row-rule/file-faults';

/** Who has to act: the caller of the API, or whoever runs Inlet. A partner's failure is final; ours is tried again. */
type Fault = 'partner' | 'operator';

export type CatalogueEntry = {
  readonly title: string;
  readonly cause: string;
  readonly remedy: string;
  readonly fault: Fault;
  /** The HTTP status of an answer with this code; absent for codes that never appear in one. */
  readonly status?: number;
  /** Why an operator's command was refused: in no answer and on no record. */
  readonly isOfCommand?: true;
};

/** What a caller who is known may still not do. A part of the failure catalogue. */
const accessFailures = {
  scope_missing: {
    title: 'The API key is not for this',
    cause: 'The key is valid, but does not have the scope that the operation needs. `detail` names it.',
    remedy: 'Use a key that has the scope, or ask the operator for one: `inlet key create --scope <scope>`.',
    fault: 'partner',
    status: 403,
  },
} as const satisfies Record<string, CatalogueEntry>;

/** What following a record can be refused for. A part of the failure catalogue. */
const followFailures = {
  too_many_streams: {
    title: 'Too many streams are open',
    cause: 'The partner, or this process of Inlet, has as many open streams and waiting requests as it may have.',
    remedy:
      'Close streams that nobody reads, follow one job at a time (the jobs of a partner end in their order), or try again after the time in `Retry-After`.',
    fault: 'partner',
    status: 429,
  },
} as const satisfies Record<string, CatalogueEntry>;

/** What an `Idempotency-Key` can lead to. A part of the failure catalogue. */
const idempotencyFailures = {
  idempotency_key_in_use: {
    title: 'A request with this Idempotency-Key is being carried out',
    cause: 'Another request with the same `Idempotency-Key` has not ended yet. Nothing was done for this one.',
    remedy: 'Send the same request again after the time in `Retry-After`: it gets the answer of the first.',
    fault: 'partner',
    status: 409,
  },
  idempotency_key_reused: {
    title: 'The Idempotency-Key was used for another request',
    cause:
      'In the last 24 hours another request was accepted with the same `Idempotency-Key`: with another body, operation, id or customer.',
    remedy: 'Use a new key for each new request, and the same one only to send the same request again.',
    fault: 'partner',
    status: 422,
  },
} as const satisfies Record<string, CatalogueEntry>;

/** What the way to the issuer of user tokens can say. A part of the failure catalogue. */
const issuerFailures = {
  issuer_away: {
    title: 'The issuer of user tokens cannot be asked',
    cause:
      'The user token is one of the OpenID Connect issuer, and whether its key is still good cannot be known: the issuer does not answer, or not as it should, and what it said before is too old.',
    remedy:
      'Try again after the time in `Retry-After`. Tokens that the operator made, and calls without one, are not concerned.',
    fault: 'operator',
    status: 503,
  },
} as const satisfies Record<string, CatalogueEntry>;

/** What the storage of a partner's own bucket, and the way to it, can say. A part of the failure catalogue. */
const partnerBucketFailures = {
  storage_credentials_rejected: {
    title: 'The credentials were rejected by the storage',
    cause: 'The access key is unknown to the storage, or its secret is wrong.',
    remedy: 'Check accessKeyId and secretAccessKey, and that the key is active, then queue the import again.',
    fault: 'partner',
  },
  bucket_not_found: {
    title: 'The bucket does not exist',
    cause: 'The storage knows no bucket of this name.',
    remedy: 'Check the name in `s3://<bucket>/<path>` and queue the import again.',
    fault: 'partner',
  },
  storage_access_denied: {
    title: 'The storage denied access',
    cause: 'The credentials are valid, but may not list or read this path.',
    remedy: 'Allow s3:ListBucket on the bucket and s3:GetObject on the path for this key, then queue the import again.',
    fault: 'partner',
  },
  storage_refused: {
    title: 'The storage refused the request',
    cause: 'The storage of the bucket answered with an error of the 400s that has no code of its own here.',
    remedy:
      'The message names the answer of the storage; look it up in its documentation, then queue the import again.',
    fault: 'partner',
  },
  bucket_in_other_region: {
    title: 'The bucket is in another region',
    cause: 'The storage answered with a redirect: the bucket is not in the region of the request. Inlet follows none.',
    remedy: 'Send the region in which the bucket was made.',
    fault: 'partner',
  },
  role_refused: {
    title: 'The role could not be assumed',
    cause: 'The role does not exist, or its trust policy does not allow Inlet with the ExternalId made for you.',
    remedy:
      'Let the trust policy of the role allow `sts:AssumeRole` for the identity and with the ExternalId that the operator gave you, then queue the import again.',
    fault: 'partner',
  },
  role_unprotected: {
    title: 'The role asks for no ExternalId',
    cause: 'The role can be assumed with any ExternalId, so that somebody else could name it and read your bucket.',
    remedy:
      'Add the condition `StringEquals` of `sts:ExternalId` with the ExternalId that the operator gave you to the trust policy of the role, then queue the import again.',
    fault: 'partner',
  },
  storage_address_refused: {
    title: 'The storage is not at a public address',
    cause:
      'The name of the storage that holds partner-owned buckets leads to an address that is not public: loopback, private, link-local, multicast or reserved. Nothing was sent to it.',
    remedy:
      'Find out who answers for this name. If it is storage on premises, or an endpoint of AWS inside of your own network, name its network in INLET_PARTNER_S3_NETWORKS.',
    fault: 'operator',
  },
} as const satisfies Record<string, CatalogueEntry>;

/** A part of the failure catalogue. */
const requestLimitFailures = {
  too_many_requests: {
    title: 'There were too many requests',
    cause:
      'The key, or all keys of the partner together, made as many requests in this minute as they may; or too many requests with a wrong key came from one address.',
    remedy:
      'Wait for the seconds in `Retry-After`. `RateLimit` in every answer tells how many requests are left, `GET /v1/limits` how many there are.',
    fault: 'partner',
    status: 429,
  },
} as const satisfies Record<string, CatalogueEntry>;

/** Every failure that Inlet can report, once. `docs/errors.md` is generated from this table. */
export const failureCatalogue = {
  invalid_request: {
    title: 'The request is not valid',
    cause: 'A field is missing, has the wrong type or breaks a rule. `errors` names each one.',
    remedy: 'Correct the fields named in `errors` and send the request again.',
    fault: 'partner',
    status: 400,
  },
  invalid_file_path: {
    title: 'The file path is not valid',
    cause: 'The path is empty, leaves the partner prefix, is absolute, is too long or holds control characters.',
    remedy:
      'Give a path relative to your prefix, without `..` and a leading `/`; or `s3://<bucket>/<path>` with path_type 1.',
    fault: 'partner',
    status: 400,
  },
  compressed_required: {
    title: 'The field `compressed` is required for a prefix',
    cause: 'A prefix has no extension from which Inlet could tell whether its files are gzipped.',
    remedy: 'Send `compressed: true` or `compressed: false` with the prefix.',
    fault: 'partner',
    status: 400,
  },
  credentials_required: {
    title: 'Credentials are required for a bucket of your own',
    cause: '`path_type` is 1 and the request has no `credentials`; or `path_type` is 0 and it has some.',
    remedy: 'Send `credentials` with accessKeyId, secretAccessKey and region when `path_type` is 1, and only then.',
    fault: 'partner',
    status: 400,
  },
  invalid_region: {
    title: 'The region is not known',
    cause: 'The region of the credentials is not one in which partner buckets can be read.',
    remedy: 'Send the region identifier of the bucket, for example `eu-central-1`.',
    fault: 'partner',
    status: 400,
  },
  invalid_role_arn: {
    title: 'The role is not valid',
    cause: 'The text in `roleArn` is not the ARN of a role.',
    remedy: 'Send the ARN of the role as IAM shows it, for example `arn:aws:iam::123456789012:role/inlet`.',
    fault: 'partner',
    status: 400,
  },
  roles_not_available: {
    title: 'Roles cannot be used here',
    cause: 'This installation of Inlet has no identity with which it could assume a role.',
    remedy: 'Send accessKeyId and secretAccessKey, or ask the operator to set `INLET_ROLE_ACCESS_KEY_ID`.',
    fault: 'partner',
    status: 400,
  },
  unknown_keys: {
    title: 'A key is unknown',
    cause: 'A key of the request is not an attribute id or foreign key of this partner.',
    remedy: 'Compare the keys named in `errors` with `GET /v1/marketplace/attributes`.',
    fault: 'partner',
    status: 422,
  },
  ...idempotencyFailures,
  unauthenticated: {
    title: 'The API key is missing or wrong',
    cause:
      'The `Authorization` header is missing, is not `Bearer <API_KEY>`, or the key is unknown, expired or revoked.',
    remedy: 'Send `Authorization: Bearer <API_KEY>` with a key that was issued to you.',
    fault: 'partner',
    status: 401,
  },
  invalid_user_token: {
    title: 'The user token is not valid',
    cause:
      'The `x-user-token` header is empty, or its token is unknown, revoked, expired or of another partner than the API key.',
    remedy: 'Send a user token that was issued for one of your customers; or no such header, to act for yourself.',
    fault: 'partner',
    status: 401,
  },
  ...accessFailures,
  not_found: {
    title: 'Not found',
    cause: 'There is no such thing, or it belongs to someone else.',
    remedy: 'Check the id and the path.',
    fault: 'partner',
    status: 404,
  },
  method_not_allowed: {
    title: 'The path does not have this method',
    cause: 'There is such a path, but not with the method of the request.',
    remedy: 'Use one of the methods named in the header `Allow`.',
    fault: 'partner',
    status: 405,
  },
  request_timeout: {
    title: 'The request took too long to arrive',
    cause: 'The request was not complete in time.',
    remedy: 'Send the whole request at once, on a new connection.',
    fault: 'partner',
    status: 408,
  },
  payload_too_large: {
    title: 'The request body is too large',
    cause: 'The body is larger than the limit of the service.',
    remedy: 'Send a smaller body. Data belongs into a file, not into the request.',
    fault: 'partner',
    status: 413,
  },
  unsupported_media_type: {
    title: 'The media type is not supported',
    cause: 'The body is not `application/json`.',
    remedy: 'Send JSON with `Content-Type: application/json`.',
    fault: 'partner',
    status: 415,
  },
  headers_too_large: {
    title: 'The headers of the request are too large',
    cause: 'The headers, with the address, are larger than 16 KiB.',
    remedy: 'Send fewer or shorter headers.',
    fault: 'partner',
    status: 431,
  },
  too_many_open_jobs: {
    title: 'Too many jobs are open',
    cause: 'The partner has as many unfinished jobs as it may have.',
    remedy: 'Wait until earlier jobs are done, or load many files with one prefix.',
    fault: 'partner',
    status: 429,
  },
  ...requestLimitFailures,
  ...followFailures,
  internal: {
    title: 'Something went wrong inside Inlet',
    cause: 'An error that Inlet did not expect. It is logged with the request id.',
    remedy: 'Try again. If it stays, tell the operator the request id.',
    fault: 'operator',
    status: 500,
  },
  unavailable: {
    title: 'A part of Inlet is away',
    cause: 'PostgreSQL, the engine or the object storage does not answer.',
    remedy: 'Try again after the time in `Retry-After`.',
    fault: 'operator',
    status: 503,
  },
  report_not_ready: {
    title: 'The report is not ready yet',
    cause: 'The report is being computed, and that takes longer than a request may.',
    remedy: 'Ask again after the time in `Retry-After`: the computation goes on, and its result is kept.',
    fault: 'operator',
    status: 503,
  },
  no_files: {
    title: 'No file was found',
    cause: 'No object has this path, and none begins with it.',
    remedy: 'Check the path: it is relative to your prefix and is compared to the letter. Upload first, then import.',
    fault: 'partner',
  },
  too_many_files: {
    title: 'The prefix holds too many files',
    cause: 'More files begin with the path than one job may load.',
    remedy: 'Import narrower prefixes, one request each.',
    fault: 'partner',
  },
  ...fileFaults,
  ...issuerFailures,
  ...partnerBucketFailures,
  file_changed: {
    title: 'The file changed while it was read',
    cause: 'The object was overwritten or deleted after the job listed it.',
    remedy: 'Import it again when the upload is complete.',
    fault: 'partner',
  },
  file_failed: {
    title: 'A file of the job failed',
    cause:
      'At least one file of the job could not be loaded. Files that succeeded are loaded, unless the job replaces.',
    remedy: 'Look at the failed files, correct them and import them again.',
    fault: 'partner',
  },
  load_abandoned: {
    title: 'The load was given up',
    cause: 'The file could not be loaded after several attempts, for reasons on our side.',
    remedy: 'Import the file again. If it stays, tell the operator the import log id.',
    fault: 'operator',
  },
  job_cancelled: {
    title: 'The job was cancelled',
    cause:
      'The operator ended the job. Files that were not read to their end by then are not loaded; with `mode: "replace"` none is.',
    remedy: 'Ask the operator why. Then ask for the same again; or the operator does, with `inlet jobs retry <id>`.',
    fault: 'partner',
  },
  job_not_cancellable: {
    title: 'The job cannot be cancelled any more',
    cause: 'It has ended, it deletes and has begun to, or each of its files is loaded or about to be.',
    remedy: 'Look at it with `inlet jobs show <id>`. What it loads can be removed afterwards: by a delete, or a clear.',
    fault: 'operator',
    isOfCommand: true,
  },
  job_not_retryable: {
    title: 'The job cannot be asked for again by an operator',
    cause: 'It has not failed; or what it needs is gone; or only its partner can say whether it is still wanted.',
    remedy: 'Look at it with `inlet jobs show <id>`. The partner can always send its request again.',
    fault: 'operator',
    isOfCommand: true,
  },
} as const satisfies Record<string, CatalogueEntry>;

export type FailureCode = keyof typeof failureCatalogue;

export function isFailureCode(text: string): text is FailureCode {
  return Object.hasOwn(failureCatalogue, text);
}
