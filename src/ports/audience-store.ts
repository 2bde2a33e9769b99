import type { JobId } from '../domain/ids.ts';
import type { Audience, AudienceReach, AudienceScope, AudienceSummary, FileEntryId } from '../domain/audience.ts';
import type { HistoryEntry, HistoryPosition, RetriedAppend } from '../domain/audience-history.ts';
import type { Canceled, Cancellation } from '../domain/cancellation.ts';
import type { FailureCode } from '../domain/failure-catalog.ts';
import type { IdempotentRequest } from '../domain/idempotency.ts';
import type { JobStatus } from '../domain/job.ts';
import type { AudienceFilter, ErrorFilter, FileFilter } from '../domain/list-filters.ts';
import type { AudiencePath } from '../domain/source-file.ts';
import type { FilePage, LoadedFile, RecordMark } from './records.ts';
import type { Generation } from './warehouse.ts';

/** An entry in the file list of an audience: a version of a file, or a path that has no files yet. */
export type AudienceFile = {
  readonly id: FileEntryId;
  readonly position: FilePosition;
  readonly s3Path: string;
  readonly status: JobStatus;
  /** Null for a path without files. */
  readonly etag: string | null;
  /** Null for a path without files, and for files that an earlier release listed. */
  readonly lastModified: Date | null;
  readonly rowsUploaded: number;
  readonly rowsRejected: number;
  /** Distinct devices on the suppression list. */
  readonly suppressed: number;
  readonly failure: { readonly code: string; readonly detail: string } | null;
  readonly dismissedAt: Date | null;
  /** The key or the user that dismissed the entry. Null if it is not dismissed or this is not recorded. */
  readonly dismissedBy: string | null;
  readonly updatedAt: Date;
};

/** Entries are ordered by job and file. The file ID is 0 for a path without files. */
export type FilePosition = readonly [jobId: number, fileId: number];

export type FileEntryPage = FileFilter & { readonly after: FilePosition; readonly limit: number };

export type AudienceFilePage = {
  readonly files: readonly AudienceFile[];
  /** The position of the last entry if more entries follow. */
  readonly next: FilePosition | null;
};

/** A load that failed before its files were listed. */
export type FailedLoad = {
  readonly jobId: JobId;
  readonly path: string;
  readonly failure: { readonly code: FailureCode; readonly detail: string };
};

/** A cleared generation whose rows may still be stored in ClickHouse. */
export type DeadGeneration = Generation & {
  readonly deadAt: Date;
  readonly purgedRows: number;
  readonly purgedAt: Date | null;
};

export type NewAudienceLoad = {
  readonly path: AudiencePath;
  readonly maxOpenJobs: number;
  /** Who sent the request. */
  readonly requestedBy?: string;
};

export type AppendRetry = Pick<NewAudienceLoad, 'maxOpenJobs' | 'requestedBy'> & {
  /**
   * Receives the append and its path, or null if the audience has no such append. Returns whether only its failed files are loaded.
   * If it throws, nothing is changed or recorded.
   */
  readonly accept: (found: { readonly state: RetriedAppend; readonly path: AudiencePath } | null) => {
    readonly onlyFailed: boolean;
  };
};

export interface AudienceStore {
  /** Creates the audience and the job that loads its first files, in one transaction. */
  create(
    scope: AudienceScope,
    audience: NewAudienceLoad & { readonly name: string },
    idempotency?: IdempotentRequest | null,
  ): Promise<{ readonly audienceId: number; readonly warehouseSegmentId: number }>;
  /** Returns the job's ID, or null when the scope has no such audience. */
  append(
    scope: AudienceScope,
    audienceId: number,
    load: NewAudienceLoad,
    idempotency?: IdempotentRequest | null,
  ): Promise<number | null>;
  /** Starts an empty generation and cancels the audience's open jobs. Returns false when the scope has no such audience. */
  clear(
    scope: AudienceScope,
    audienceId: number,
    idempotency?: IdempotentRequest | null,
    requestedBy?: string,
  ): Promise<boolean>;
  /** Returns false when the scope has no such audience. */
  rename(
    scope: AudienceScope,
    audienceId: number,
    name: string,
    idempotency?: IdempotentRequest | null,
  ): Promise<boolean>;
  /**
   * Does the same as a clear, and also removes the name and everything that describes the audience. No other method
   * finds the audience after this. Returns false when the scope has no such audience.
   */
  remove(
    scope: AudienceScope,
    audienceId: number,
    idempotency?: IdempotentRequest | null,
    requestedBy?: string,
  ): Promise<boolean>;
  /**
   * Cancels an append, at most once per key with `idempotency`. `accept` receives what happened, or null if the audience
   * has no such append. If it throws, nothing is changed or recorded.
   */
  cancelAppend(
    scope: AudienceScope,
    audienceId: number,
    appendId: JobId,
    accept: (found: Cancellation | null) => Canceled,
    idempotency?: IdempotentRequest | null,
  ): Promise<void>;
  /** Adds a job that loads the path of an earlier append again. Returns the job's ID. */
  retryAppend(
    scope: AudienceScope,
    audienceId: number,
    appendId: JobId,
    retry: AppendRetry,
    idempotency?: IdempotentRequest | null,
  ): Promise<JobId>;
  /**
   * Lists appends and clears, newest first. With `before`, lists only earlier entries. Returns null when the scope has
   * no such audience.
   */
  listHistory(
    scope: AudienceScope,
    audienceId: number,
    page: { readonly before: HistoryPosition | null; readonly limit: number },
  ): Promise<readonly HistoryEntry[] | null>;
  find(scope: AudienceScope, audienceId: number): Promise<Audience | null>;
  /**
   * Returns the marks of audiences of any partner. A mark covers the audience's files. Omits audiences that do not
   * exist.
   */
  marksOf(audienceIds: readonly number[]): Promise<readonly RecordMark[]>;
  /** Lists audiences with a smaller ID than the given one, newest first. */
  list(
    reach: AudienceReach,
    page: { readonly beforeId: number; readonly limit: number; readonly filter?: AudienceFilter },
  ): Promise<readonly Audience[]>;
  /** Returns the audience with a page of the file entries of its live generation, in submission order. */
  findWithFiles(
    scope: AudienceScope,
    audienceId: number,
    page: FileEntryPage,
  ): Promise<({ readonly audience: Audience } & AudienceFilePage) | null>;
  /**
   * Like `findWithFiles`, but also returns the totals over all entries of the live generation. Without a page, reads no
   * entries.
   */
  findDetails(
    scope: AudienceScope,
    audienceId: number,
    page: FileEntryPage | null,
  ): Promise<({ readonly audience: Audience; readonly summary: AudienceSummary } & AudienceFilePage) | null>;
  /**
   * Dismisses a failed entry, so that it no longer affects the audience's status. Returns `not found` if the live
   * generation has no such entry, and `not failed` if the entry has a different status.
   */
  dismissFile(
    scope: AudienceScope,
    audienceId: number,
    entry: FileEntryId,
    idempotency?: IdempotentRequest | null,
  ): Promise<'dismissed' | 'not found' | 'not failed'>;
  /** Lists the files of the live generation, with their failures. */
  listLoadedFiles(scope: AudienceScope, audienceId: number, page: FilePage): Promise<readonly LoadedFile[]>;
  /**
   * Lists failed loads of the live generation in submission order. Omits loads that were superseded by a later load.
   */
  listFailedLoads(
    scope: AudienceScope,
    audienceId: number,
    page: { readonly afterId: number; readonly limit: number; readonly error?: ErrorFilter },
  ): Promise<readonly FailedLoad[]>;
  /**
   * Claims dead generations of any partner that are due for a purge. Returns an empty list while another process holds
   * the claim or during the pause after a purge. The claim expires two minutes after its last renewal.
   */
  claimDueGenerations(limit: number): Promise<readonly DeadGeneration[]>;
  renewPurgeClaim(): Promise<void>;
  /**
   * Releases the claim. `seconds` is the duration of the purge. The pause before the next purge is a multiple of this
   * duration.
   */
  endPurge(seconds: number): Promise<void>;
  /** Lists dead generations for the operator, newest first. */
  listDead(limit: number): Promise<readonly DeadGeneration[]>;
  /**
   * Records how many rows were removed from each generation. Each generation is checked again later, before its purge
   * counts as complete.
   */
  recordPurges(purged: readonly (Generation & { readonly rows: number })[]): Promise<void>;
  /** Makes generations due again after this many seconds. */
  postponePurges(generations: readonly Generation[], seconds: number): Promise<void>;
}
