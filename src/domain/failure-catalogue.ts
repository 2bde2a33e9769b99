import { fileFaults } from '@inlet/row-rule/file-faults';
import { accessFailures } from './access-failures.ts';
import type { CatalogueEntry } from './catalogue-entry.ts';
import { issuerFailures } from './issuer-failures.ts';
import { idempotencyFailures } from './idempotency-failures.ts';
import { followFailures } from './follow-failures.ts';
import { partnerBucketFailures } from './partner-bucket-failures.ts';
import { requestLimitFailures } from './request-limit-failures.ts';

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
