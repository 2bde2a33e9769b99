import type { Failure } from '../domain/failure.ts';
import type { ImportMode } from '../domain/import-log.ts';
import type { StoredObject } from './object-store.ts';
import type { JobSource } from './source-storage.ts';
import type { Load, LoadCounts } from './warehouse.ts';

/** A file that this attempt may load, until another attempt claims it. */
export type FileClaim = {
  readonly attempt: number;
  readonly object: StoredObject;
  readonly source: JobSource;
  readonly mode: ImportMode;
  readonly expectGzip: boolean;
  readonly load: Load;
  /** An attempt before found the load good and began to publish it: this one must carry that on, not begin again. */
  readonly isStaged: boolean;
  /** The load of the attempt before, which may have left something behind or may even still run. */
  readonly previousLoadId: number | null;
};

export interface FileStore {
  /** Takes the file with a new attempt and, unless it is staged, a new load id; null when nothing is left to do. */
  claim(fileId: number): Promise<FileClaim | null>;
  /** The point of no return: the load is good and will be published. False when the claim was lost. */
  markStaged(claim: FileClaim): Promise<boolean>;
  /** Notes how far the load is. It never goes back, also when a new attempt begins again. */
  noteProgress(claim: FileClaim, read: { readonly bytes: number; readonly rows: number }): Promise<void>;
  /** Records the result and wakes the lane. False when the claim was lost; then nothing was written. */
  commitLoaded(claim: FileClaim, counts: LoadCounts): Promise<boolean>;
  commitFailed(claim: FileClaim, failure: Failure, counts: LoadCounts): Promise<boolean>;
  /** Of these loads and jobs, those that are still going on. */
  findLive(staged: { loadIds: readonly number[]; jobIds: readonly number[] }): Promise<{
    readonly loadIds: ReadonlySet<number>;
    readonly jobIds: ReadonlySet<number>;
  }>;
}
