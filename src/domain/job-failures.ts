import { fileFaults } from '@inlet/row-rule/file-faults';

export type CatalogEntry = {
  readonly title: string;
  readonly cause: string;
  readonly remedy: string;
  /** Who must act: the partner that calls the API, or the operator that runs Inlet. */
  readonly fault: 'partner' | 'operator';
  /** Whether the same request or job can succeed later without a change. */
  readonly isRetryable: boolean;
  /** The HTTP status of a response with this code. Absent for codes that never appear in a response. */
  readonly status?: number;
  /** True for failures of operator commands. They never appear in a response or a record. */
  readonly isOfCommand?: true;
};

/** The part of the failure catalog that concerns jobs, files, and buckets, not requests. */
export const jobFailures = {
  // Jobs and files

  no_files: {
    title: 'No files found',
    cause: 'No object key equals this path or starts with it.',
    remedy: 'Check the path. It is relative to your prefix and case-sensitive. Upload the file before you import it.',
    fault: 'partner',
    isRetryable: false,
  },
  too_many_files: {
    title: 'Too many files under the prefix',
    cause: 'More object keys start with this path than one job can load.',
    remedy: 'Choose narrower prefixes and send one import request for each.',
    fault: 'partner',
    isRetryable: false,
  },
  ...fileFaults,
  invalid_id_list: {
    title: 'The list of device IDs cannot be used',
    cause: 'The file of a deletion contains no device ID, or more IDs than a deletion can have.',
    remedy: 'Send one device ID per line, and split a long file into several deletions.',
    fault: 'partner',
    isRetryable: false,
  },
  file_changed: {
    title: 'File changed during the import',
    cause: 'The object was overwritten or deleted after the job listed it.',
    remedy: 'Import the file again after the upload completes.',
    fault: 'partner',
    isRetryable: false,
  },
  file_failed: {
    title: 'At least one file failed',
    cause:
      'At least one file in the job could not be loaded. The other files are loaded, unless the job uses `mode: "replace"`.',
    remedy: 'Fix the failed files and import them again.',
    fault: 'partner',
    isRetryable: false,
  },
  load_abandoned: {
    title: 'Load failed after several attempts',
    cause: 'The file could not be loaded because of repeated errors in Inlet or its dependencies.',
    remedy: 'Import the file again. If the error persists, contact the operator and include the import log ID.',
    fault: 'operator',
    isRetryable: true,
  },
  merges_behind: {
    title: 'Publishing waits for merges',
    cause: "ClickHouse has not yet merged the parts of the partner's earlier files.",
    remedy:
      'None needed. The import continues by itself. If it does not, the operator must check the merges in ClickHouse.',
    fault: 'operator',
    isRetryable: true,
  },
  replicas_behind: {
    title: 'Publishing waits for a replica',
    cause: 'Fewer replicas of a ClickHouse shard have the rows than `INLET_REPLICAS_REQUIRED` asks for.',
    remedy:
      'None needed. The import continues when the replica is available again. If it stays unavailable, the operator must restart or replace it.',
    fault: 'operator',
    isRetryable: true,
  },
  bucket_mismatch: {
    title: 'Shared bucket is not the recorded one',
    cause: 'The configured bucket or storage is not the one from which files were loaded before. Imports wait.',
    remedy:
      'None needed. The import continues after the operator fixes INLET_S3_BUCKET or INLET_S3_ENDPOINT. If the files were moved on purpose, the operator must also copy the object `.inlet/bucket-id`.',
    fault: 'operator',
    isRetryable: true,
  },
  credentials_unreadable: {
    title: 'Stored credentials cannot be decrypted',
    cause:
      "The key that encrypted the job's credentials is missing from INLET_SEALING_KEYS or was changed. The import waits.",
    remedy: 'None needed. The import continues after the operator adds the key to INLET_SEALING_KEYS.',
    fault: 'operator',
    isRetryable: true,
  },
  rows_missing: {
    title: 'Rows are missing',
    cause: 'Inlet compared the rows that it stored with the rows that it accepted, and some were missing.',
    remedy: 'Import the file again. If the error persists, contact the operator and include the import log ID.',
    fault: 'operator',
    isRetryable: true,
  },
  job_cancelled: {
    title: 'Job canceled',
    cause:
      'You or the operator canceled the job. Files that were not completely read at that time are not loaded. With `mode: "replace"`, no file is loaded.',
    remedy:
      'See `cancel_requested_by`. If it was the operator, ask for the reason. Then retry the import or the append, or dismiss the failed file of an audience.',
    fault: 'partner',
    isRetryable: false,
  },

  // Partner-owned buckets

  storage_credentials_rejected: {
    title: 'Storage rejected the credentials',
    cause: 'The access key does not exist in the storage, or the secret does not match it.',
    remedy:
      'Check `accessKeyId` and `secretAccessKey` and make sure that the key is active, then submit the import again.',
    fault: 'partner',
    isRetryable: false,
  },
  bucket_not_found: {
    title: 'Bucket does not exist',
    cause: 'The storage has no bucket with this name.',
    remedy: 'Check the bucket name in `s3://<bucket>/<path>` and submit the import again.',
    fault: 'partner',
    isRetryable: false,
  },
  storage_access_denied: {
    title: 'Storage denied access',
    cause: 'The credentials are valid but do not permit listing or reading this path.',
    remedy:
      'Allow `s3:ListBucket` on the bucket and `s3:GetObject` on the path for these credentials, then submit the import again.',
    fault: 'partner',
    isRetryable: false,
  },
  storage_refused: {
    title: 'Storage rejected the request',
    cause: 'The storage responded with a 4xx error for which Inlet has no specific code.',
    remedy:
      "Look up the error named in `message` in the storage provider's documentation. Then submit the import again.",
    fault: 'partner',
    isRetryable: false,
  },
  bucket_in_other_region: {
    title: 'Bucket is in another region',
    cause:
      'The storage redirected the request because the bucket is in another region. Inlet does not follow redirects.',
    remedy: "Send the bucket's own region and submit the import again.",
    fault: 'partner',
    isRetryable: false,
  },
  role_refused: {
    title: 'Role cannot be assumed',
    cause: 'The role does not exist, or its trust policy does not allow Inlet to assume it with your external ID.',
    remedy:
      "Allow `sts:AssumeRole` in the role's trust policy for the identity and external ID that the operator gave you, then submit the import again.",
    fault: 'partner',
    isRetryable: false,
  },
  role_unprotected: {
    title: 'Role does not require the external ID',
    cause: 'The role can be assumed with any external ID, so another partner could use it to read your bucket.',
    remedy:
      "Add a `StringEquals` condition on `sts:ExternalId` to the role's trust policy, with the external ID that the operator gave you. Then submit the import again.",
    fault: 'partner',
    isRetryable: false,
  },
  storage_address_refused: {
    title: 'Storage address is not public',
    cause:
      'The host name of the partner-owned bucket resolves to a loopback, private, link-local, multicast, or reserved address. Inlet sent nothing to it.',
    remedy:
      'Check the DNS records of the host name. If the storage is on premises or behind a private endpoint, add its network to `INLET_PARTNER_S3_NETWORKS`.',
    fault: 'operator',
    isRetryable: true,
  },

  // Operator commands

  job_not_cancellable: {
    title: 'Job can no longer be canceled',
    cause: 'The job has finished, is a delete that has started, or has no files left to cancel.',
    remedy:
      'Run `inlet jobs show <id>` to see its state. To remove loaded data, the partner can submit a delete or clear the audience.',
    fault: 'operator',
    isRetryable: false,
    isOfCommand: true,
  },
  job_not_retryable: {
    title: 'Job cannot be retried by the operator',
    cause:
      'The job has not failed, its input no longer exists, or only the partner can decide whether to submit it again.',
    remedy: 'Run `inlet jobs show <id>` to see its state. The partner can always submit the request again.',
    fault: 'operator',
    isRetryable: false,
    isOfCommand: true,
  },
} as const satisfies Record<string, CatalogEntry>;
