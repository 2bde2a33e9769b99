import type { BatchId, JobId, LoadId, PartnerId } from '../domain/ids.ts';
import type { LoadCounts } from '@inlet/row-rule/file-rule';
import type { RowLayout } from '@inlet/row-rule/row-rule';
import type { Readable } from 'node:stream';
import type { Failure } from '../domain/failure.ts';
import type { JobVersions } from '../domain/job.ts';
import type { ShardRows } from '../domain/row-account.ts';
import type { SuppressionList } from '../domain/suppression.ts';
import type { JobSource, StoredObject } from './object-store.ts';

/** The tables that receive the rows of a load when the load is published. */
export type LoadTarget =
  | {
      readonly kind: 'attributes';
      readonly versions: JobVersions;
      /** Whether the load replaces existing data. A replacing load is published together with the job's other loads. */
      readonly isReplacing: boolean;
    }
  | { readonly kind: 'audience'; readonly audienceId: number; readonly generation: number };

/** One attempt to load one batch of files. Every attempt has its own load ID. */
export type Load = {
  readonly loadId: LoadId;
  readonly jobId: JobId;
  readonly partnerId: PartnerId;
  readonly target: LoadTarget;
  /** Size of the files in storage. Files can be compressed. */
  readonly bytes: number;
  /** The suppression list when the load was claimed. */
  readonly suppression: SuppressionList;
  /** True if an earlier attempt loaded these files. Its rows may have been published. */
  readonly isRetry?: boolean;
};

type FileToStage = { readonly fileId: number; readonly layout: RowLayout };

/** A file of any size, which is streamed. */
export type StreamedFile = FileToStage & { readonly body: Readable; readonly isGzip: boolean };

/** A small file, decompressed. */
export type WholeFile = FileToStage & { readonly content: Uint8Array };

/** A rejected row. `text` contains the first bytes of the row, unmodified. */
export type RejectedRow = {
  readonly fileId: number;
  readonly row: number;
  /** A newer release may have stored a reason that this release does not know. */
  readonly reason: string;
  readonly text: Uint8Array;
};

export type RejectPage = {
  /** The files and the loads that staged them. A load can contain other files as well. */
  readonly fileIds: readonly number[];
  readonly loadIds: readonly LoadId[];
  /** Lists only the rows that were rejected for this reason. */
  readonly reason?: string | undefined;
  /** The page starts after this row. Rows are ordered by file and row number. */
  readonly after: { readonly fileId: number; readonly row: number };
  readonly limit: number;
  /** The number of rows per file and reason. By default, the first hundred. */
  readonly rowsPerReason?: number;
};

/**
 * `stagedRows` is the number of rows that the accepted lines produce: one per device and attribute, or one per member.
 */
export type StagedCounts = FileCounts & { readonly stagedRows: number };

/** Accepted rows include suppressed rows. */
export type FileCounts = LoadCounts & { readonly suppressed?: SuppressedCounts };

/** The rows of devices on the suppression list: their exact number, and the estimate that partners see. */
type SuppressedCounts = { readonly rows: number; readonly shown: number };

/** The staging tables, in which ClickHouse validates and counts rows. Staged rows are not visible anywhere else. */
export interface LoadStage {
  /** Streams the bytes into ClickHouse, which validates every line. */
  stage(load: Load, file: StreamedFile, maxLineBytes: number, signal: AbortSignal): Promise<void>;
  /** Stages many small files together, as they arrive. */
  stageTogether(load: Load, files: AsyncIterable<WholeFile>, maxLineBytes: number, signal: AbortSignal): Promise<void>;
  /** Progress of a load that is being staged. */
  readSoFar(load: Load): Promise<{
    readonly rows: number;
    /** Size of these rows, decompressed. */
    readonly bytes: number;
    /** Estimated number of lines, including blank lines. Never too low, and too high by at most a small factor. */
    readonly rowsHandled: number;
  }>;
  /** Returns the row counts by file ID. Omits files without rows. */
  countRows(load: Load): Promise<ReadonlyMap<number, StagedCounts>>;
  /** Counts the staged rows of these files on each shard. A load without a staging table has no rows. */
  countStaged(load: Load, fileIds: readonly number[]): Promise<ShardRows>;
  /** Lists the first rejected rows per file and reason, ordered by file and row. */
  listRejects(page: RejectPage): Promise<readonly RejectedRow[]>;
  /** Drops the staging tables of loads that have ended. */
  dropStages(loadIds: readonly LoadId[]): Promise<void>;
  /** Stops the load's running statements and drops its staging table. A late publish then finds no rows. */
  dropLoad(loadId: LoadId): Promise<void>;
  /**
   * True if a shard has several replicas. A replica that was unavailable can still have stages of loads that have
   * ended.
   */
  readonly hasReplicas: boolean;
  /** Lists all existing staging tables. Skips unavailable replicas, unless `servers` is `all`. */
  listStaged(
    servers: 'available' | 'all',
  ): Promise<{ readonly loadIds: readonly LoadId[]; readonly jobIds: readonly JobId[] }>;
}

export type ClaimedFile = {
  readonly fileId: number;
  readonly object: StoredObject;
  /** Whether the file must be gzip-compressed. Null if this is detected from its first bytes. */
  readonly expectGzip: boolean | null;
};

/**
 * A batch of files that was claimed for one attempt. The claim is valid until another attempt claims the batch. A large
 * file has its own batch.
 */
export type BatchClaim = {
  readonly batchId: BatchId;
  readonly attempt: number;
  readonly source: JobSource;
  readonly load: Load;
  readonly files: readonly ClaimedFile[];
  /** Maximum share of rejected rows in a file. With 1, any number of rejected rows is skipped. */
  readonly badRowShare: number;
  /** Whether the partner may send IDs without hyphens. */
  readonly unhyphenatedIds: boolean;
  /** The previous attempt's load, which may have left data behind or may still be running. */
  readonly previousLoadId: LoadId | null;
};

/**
 * The outcome of a file in a batch. `staged` means that the file is valid and will be published. This is the point of
 * no return. `alone` means that the file must be loaded in its own batch.
 */
export type FileOutcome =
  | { readonly is: 'staged'; readonly fileId: number; readonly counts: FileCounts }
  | { readonly is: 'failed'; readonly fileId: number; readonly counts: FileCounts; readonly failure: Failure }
  | { readonly is: 'alone'; readonly fileId: number };

export interface FileStore {
  /** Claims the batch for a new attempt with a new load ID. Returns null when nothing is left to stage. */
  claim(batchId: BatchId): Promise<BatchClaim | null>;
  /** Records progress, which never decreases. Returns false if the claim was lost or the job was canceled. */
  recordProgress(claim: BatchClaim, read: { readonly bytes: number; readonly rows: number } | null): Promise<boolean>;
  /**
   * Records the outcomes of all files and the load's staged rows in one transaction, and wakes the lane. `staged` is
   * null if no file is staged. Returns false if the claim was lost.
   */
  commit(claim: BatchClaim, outcomes: readonly FileOutcome[], staged: ShardRows | null): Promise<boolean>;
  /** Returns the loads and jobs that are still running. */
  findLive(staged: { loadIds: readonly LoadId[]; jobIds: readonly JobId[] }): Promise<{
    readonly loadIds: ReadonlySet<LoadId>;
    readonly jobIds: ReadonlySet<JobId>;
  }>;
}
