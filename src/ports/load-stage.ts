import type { BatchId, JobId, LoadId, PartnerId } from '../domain/ids.ts';
import type { RejectReason } from '@inlet/row-rule/reject-reason';
import type { RowLayout } from '@inlet/row-rule/row-layout';
import type { Readable } from 'node:stream';
import type { Failure } from '../domain/failure.ts';
import type { JobVersions } from '../domain/job.ts';
import type { StoredObject, JobSource } from './object-store.ts';

/** Where the rows of a load go when it is published. */
export type LoadTarget =
  | {
      readonly kind: 'attributes';
      readonly versions: JobVersions;
      /** Published with the other loads of its job, all at once. */
      readonly isReplacing: boolean;
    }
  | { readonly kind: 'audience'; readonly audienceId: number; readonly generation: number };

/** One attempt to load one batch of files. Every attempt has a load id of its own. */
export type Load = {
  readonly loadId: LoadId;
  readonly jobId: JobId;
  readonly partnerId: PartnerId;
  readonly target: LoadTarget;
  /** Of its files, as they are stored. */
  readonly bytes: number;
};

type FileToStage = { readonly fileId: number; readonly layout: RowLayout };

/** A file of any size: its bytes flow through. */
export type StreamedFile = FileToStage & { readonly body: Readable; readonly isGzip: boolean };

/** A small file, unpacked. */
export type WholeFile = FileToStage & { readonly content: Uint8Array };

type RejectCount = { readonly reason: RejectReason; readonly rows: number; readonly firstRow: number };
export type LoadCounts = { readonly accepted: number; readonly rejects: readonly RejectCount[] };

export const noRows: LoadCounts = { accepted: 0, rejects: [] };

export function rejectedRows({ rejects }: LoadCounts): number {
  return rejects.reduce((sum, { rows }) => sum + rows, 0);
}

/** A rejected row. `text` holds its first raw bytes. */
export type RejectedRow = {
  readonly fileId: number;
  readonly row: number;
  readonly reason: RejectReason;
  readonly text: Uint8Array;
};

export type RejectPage = {
  /** The files, and the loads that brought them: a load may have brought others too. */
  readonly fileIds: readonly number[];
  readonly loadIds: readonly LoadId[];
  /** Only rows behind this one, in the order of file and row. */
  readonly after: { readonly fileId: number; readonly row: number };
  readonly limit: number;
};

/** Staging tables: the engine validates and counts rows here. Staged rows are not visible anywhere else. */
export interface LoadStage {
  /** Streams the bytes into the engine, which validates every line. */
  stage(load: Load, file: StreamedFile, maxLineBytes: number, signal: AbortSignal): Promise<void>;
  /** The same for many small files together, as they arrive. */
  stageTogether(load: Load, files: AsyncIterable<WholeFile>, maxLineBytes: number, signal: AbortSignal): Promise<void>;
  /** How far the engine is with a load that is being staged. */
  readSoFar(load: Load): Promise<{
    readonly rows: number;
    /** Of these rows, after unpacking. */
    readonly bytes: number;
    /** A bound for the lines, blank ones included: at least as many, at most a few times as many. */
    readonly rowsHandled: number;
  }>;
  /** By file id; a file without any row is missing. */
  countRows(loadId: LoadId): Promise<ReadonlyMap<number, LoadCounts>>;
  /** The first rejected rows of each file and reason, ordered by file and row. */
  listRejects(page: RejectPage): Promise<readonly RejectedRow[]>;
  /** Drops the staging tables of loads that have ended. */
  dropStages(loadIds: readonly LoadId[]): Promise<void>;
  /** Stops the load's running statements and drops its staging table, so that a late publish finds no rows. */
  dropLoad(loadId: LoadId): Promise<void>;
  /** All staging tables that exist now, for the sweeper. */
  listStaged(): Promise<{ readonly loadIds: readonly LoadId[]; readonly jobIds: readonly JobId[] }>;
}

export type ClaimedFile = {
  readonly fileId: number;
  readonly object: StoredObject;
  /** Null: decided by the first bytes. */
  readonly expectGzip: boolean | null;
};

/** A batch of files that this attempt may load, until another attempt claims it. Large files are alone in theirs. */
export type BatchClaim = {
  readonly batchId: BatchId;
  readonly attempt: number;
  readonly source: JobSource;
  readonly load: Load;
  readonly files: readonly ClaimedFile[];
  /** The share of bad rows that a file may have: 1 where they are skipped. */
  readonly badRowShare: number;
  /** The load of the attempt before, which may have left something behind or may even still run. */
  readonly previousLoadId: LoadId | null;
};

/**
 * What became of a file of a batch. `staged` is the point of no return: the file is good and will be published.
 * `alone`: it has to be loaded in a batch of its own.
 */
export type FileOutcome =
  | { readonly is: 'staged'; readonly fileId: number; readonly counts: LoadCounts }
  | { readonly is: 'failed'; readonly fileId: number; readonly counts: LoadCounts; readonly failure: Failure }
  | { readonly is: 'alone'; readonly fileId: number };

export interface FileStore {
  /** Claims the batch with a new attempt and load ID. Returns null when nothing is left to stage. */
  claim(batchId: BatchId): Promise<BatchClaim | null>;
  /** Notes how far a load is; it never goes back. False when the claim was lost, or its job cancelled. */
  recordProgress(claim: BatchClaim, read: { readonly bytes: number; readonly rows: number } | null): Promise<boolean>;
  /** Records what became of each file, all at once, and wakes the lane. False when the claim was lost. */
  commit(claim: BatchClaim, outcomes: readonly FileOutcome[]): Promise<boolean>;
  /** Of these loads and jobs, those that are still going on. */
  findLive(staged: { loadIds: readonly LoadId[]; jobIds: readonly JobId[] }): Promise<{
    readonly loadIds: ReadonlySet<LoadId>;
    readonly jobIds: ReadonlySet<JobId>;
  }>;
}
