import type { Failure } from '../domain/failure.ts';
import type { StoredObject } from './object-store.ts';
import type { JobSource } from './source-storage.ts';
import type { Load, LoadCounts } from './load-stage.ts';

export type ClaimedFile = {
  readonly fileId: number;
  readonly object: StoredObject;
  /** Null: whatever its first bytes say. */
  readonly expectGzip: boolean | null;
};

/** A batch of files that this attempt may load, until another attempt claims it. Large files are alone in theirs. */
export type BatchClaim = {
  readonly batchId: number;
  readonly attempt: number;
  readonly source: JobSource;
  readonly load: Load;
  readonly files: readonly ClaimedFile[];
  /** The share of bad rows that a file may have: 1 where they are skipped. */
  readonly badRowShare: number;
  /** The load of the attempt before, which may have left something behind or may even still run. */
  readonly previousLoadId: number | null;
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
  /** Takes the batch with a new attempt and a new load id; null when nothing is left to stage. */
  claim(batchId: number): Promise<BatchClaim | null>;
  /** Notes how far a load is; it never goes back. False when the claim was lost, or its job cancelled. */
  noteProgress(claim: BatchClaim, read: { readonly bytes: number; readonly rows: number } | null): Promise<boolean>;
  /** Records what became of each file, all at once, and wakes the lane. False when the claim was lost. */
  commit(claim: BatchClaim, outcomes: readonly FileOutcome[]): Promise<boolean>;
  /** Of these loads and jobs, those that are still going on. */
  findLive(staged: { loadIds: readonly number[]; jobIds: readonly number[] }): Promise<{
    readonly loadIds: ReadonlySet<number>;
    readonly jobIds: ReadonlySet<number>;
  }>;
}
