import type { Attribute } from '../domain/attribute.ts';
import type { IdempotentRequest } from '../domain/idempotency.ts';
import type { ImportLog, ImportMode, KeyType, PathType } from '../domain/import-log.ts';
import type { ImportLogFilter } from '../domain/list-filters.ts';
import type { Canceled, Cancellation } from '../domain/cancellation.ts';
import type { BucketCredentials } from '../domain/partner-bucket.ts';
import type { PartnerId } from '../domain/ids.ts';
import type { JobStatus } from '../domain/job.ts';
import type { FilePage, LoadedFile, RecordMark } from './records.ts';

export type NewImport = {
  readonly filePath: string;
  readonly pathType: PathType;
  readonly keyType: KeyType;
  readonly compressed: boolean | null;
  readonly mode: ImportMode;
  /** Credentials for the partner's own bucket. They are stored encrypted and deleted when the job ends. */
  readonly credentials: BucketCredentials | null;
  /** The import that this one repeats. */
  readonly retryOf?: number;
  /** Whether only the files of `retryOf` that failed are loaded. */
  readonly onlyFailed?: boolean;
};

/** The request of an import that has been submitted before. Its credentials were deleted when the import ended. */
export type SubmittedImport = Omit<NewImport, 'credentials' | 'retryOf' | 'onlyFailed'> & {
  readonly status: JobStatus;
  /** Null if the files were never listed. */
  readonly failedFiles: number | null;
};

export type NewDelete = {
  readonly keyType: KeyType;
  readonly keys: readonly string[];
  /**
   * Maps the keys in the request to the partner's attributes. Throws if a key is unknown. Called only when the request
   * runs. A replayed request gets the first response, even if its keys now map to other attributes.
   */
  readonly attributeIdsIn: (attributes: readonly Attribute[]) => readonly number[];
};

export interface ImportLogStore {
  /**
   * Writes the record, appends the job to the partner's lane, and sends the lane's token, in one transaction. Returns
   * the log's ID. With `idempotency`, runs at most once per key.
   */
  submitImport(
    partnerId: PartnerId,
    request: NewImport,
    maxOpenJobs: number,
    idempotency?: IdempotentRequest | null,
  ): Promise<number>;
  submitDelete(
    partnerId: PartnerId,
    request: NewDelete,
    maxOpenJobs: number,
    idempotency?: IdempotentRequest | null,
  ): Promise<number>;
  /**
   * Cancels the job, at most once per key with `idempotency`. `accept` receives what happened, or null if the partner has
   * no such import log. If it throws, nothing is changed or recorded.
   */
  cancel(
    partnerId: PartnerId,
    importLogId: number,
    accept: (found: Cancellation | null) => Canceled,
    idempotency?: IdempotentRequest | null,
  ): Promise<void>;
  /** Returns null for a delete, and if the partner has no such import log. */
  findSubmitted(partnerId: PartnerId, importLogId: number): Promise<SubmittedImport | null>;
  find(partnerId: PartnerId, importLogId: number): Promise<ImportLog | null>;
  /** Returns the marks of these import logs, regardless of partner. Omits logs that do not exist. */
  marksOf(importLogIds: readonly number[]): Promise<readonly RecordMark[]>;
  /** Lists logs, newest first. With `beforeId`, lists only logs with a smaller ID. */
  listNewest(
    partnerId: PartnerId,
    limit: number,
    beforeId?: number,
    filter?: ImportLogFilter,
  ): Promise<readonly ImportLog[]>;
  /** Lists files by ID, which is also the byte order of their object keys. */
  listFiles(partnerId: PartnerId, importLogId: number, page: FilePage): Promise<readonly LoadedFile[]>;
}
