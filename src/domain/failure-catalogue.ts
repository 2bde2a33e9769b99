/** Who has to act: the caller of the API, or whoever runs Inlet. A partner's failure is final; ours is tried again. */
type Fault = 'partner' | 'operator';

export type CatalogueEntry = {
  readonly title: string;
  readonly cause: string;
  readonly remedy: string;
  readonly fault: Fault;
  /** The HTTP status of an answer with this code; absent for codes that only appear on a record. */
  readonly status?: number;
};

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
    remedy: 'Give a path relative to your prefix, without `..`, without a leading `/` and without `s3://`.',
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
  unsupported_option: {
    title: 'The option is not supported yet',
    cause: 'The request asks for something that this version of Inlet does not do.',
    remedy: 'Leave the option out, or wait for the version that has it.',
    fault: 'partner',
    status: 422,
  },
  unauthenticated: {
    title: 'The API key is missing or wrong',
    cause: 'The `Authorization` header is missing, is not `Bearer <API_KEY>`, or the key is unknown or revoked.',
    remedy: 'Send `Authorization: Bearer <API_KEY>` with a key that was issued to you.',
    fault: 'partner',
    status: 401,
  },
  not_found: {
    title: 'Not found',
    cause: 'There is no such thing, or it belongs to someone else.',
    remedy: 'Check the id and the path.',
    fault: 'partner',
    status: 404,
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
  too_many_open_jobs: {
    title: 'Too many jobs are open',
    cause: 'The partner has as many unfinished jobs as it may have.',
    remedy: 'Wait until earlier jobs are done, or load many files with one prefix.',
    fault: 'partner',
    status: 429,
  },
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
  file_too_large: {
    title: 'The file is too large',
    cause: 'The object is larger than the limit for gzipped or plain files.',
    remedy: 'Split the file and import the parts with a prefix.',
    fault: 'partner',
  },
  empty_file: {
    title: 'The file is empty',
    cause: 'The file has no data row (nothing at all, only blank lines, or only a header).',
    remedy: 'Upload the file with its rows and import it again.',
    fault: 'partner',
  },
  no_good_row: {
    title: 'The file has no good row',
    cause: 'Every row of the file was rejected.',
    remedy: 'Look at the reasons in `errors`, correct the file, upload it and import it again.',
    fault: 'partner',
  },
  compression_mismatch: {
    title: 'The file is not compressed as announced',
    cause: '`compressed` (or the extension `.gz`) and the first bytes of the file disagree.',
    remedy: 'Send the `compressed` value that fits the file, or upload the file as announced.',
    fault: 'partner',
  },
  corrupt_gzip: {
    title: 'The gzip data is damaged',
    cause: 'The file begins like gzip but cannot be unpacked to its end.',
    remedy: 'Compress and upload the file again, and compare checksums.',
    fault: 'partner',
  },
  file_changed: {
    title: 'The file changed while it was read',
    cause: 'The object was overwritten or deleted after the job listed it.',
    remedy: 'Import it again when the upload is complete.',
    fault: 'partner',
  },
  file_failed: {
    title: 'A file of the job failed',
    cause: 'At least one file of the job could not be loaded. Files that succeeded are loaded.',
    remedy: 'Look at the failed files, correct them and import them again.',
    fault: 'partner',
  },
  load_abandoned: {
    title: 'The load was given up',
    cause: 'The file could not be loaded after several attempts, for reasons on our side.',
    remedy: 'Import the file again. If it stays, tell the operator the import log id.',
    fault: 'operator',
  },
} as const satisfies Record<string, CatalogueEntry>;

export type FailureCode = keyof typeof failureCatalogue;

export function isFailureCode(text: string): text is FailureCode {
  return Object.hasOwn(failureCatalogue, text);
}
