import type { Failure } from '../domain/failure.ts';
import type { StoredObject } from './object-store.ts';
import type { Load, LoadCounts } from './warehouse.ts';

/** A file that this attempt may load, until another attempt claims it. */
export type FileClaim = {
  readonly attempt: number;
  readonly object: StoredObject;
  readonly expectGzip: boolean;
  readonly load: Load;
  /** The load of the attempt before, which may have left something behind or may even still run. */
  readonly previousLoadId: number | null;
};

export interface FileStore {
  /** Takes the file with a new attempt and a new load id; null when there is nothing left to do for it. */
  claim(fileId: number): Promise<FileClaim | null>;
  isStillMine(claim: FileClaim): Promise<boolean>;
  /** Records the result and wakes the lane. False when the claim was lost; then nothing was written. */
  commitLoaded(claim: FileClaim, counts: LoadCounts): Promise<boolean>;
  commitFailed(claim: FileClaim, failure: Failure, counts: LoadCounts): Promise<boolean>;
  /** Of these loads and jobs, those that are still going on. */
  findLive(staged: { loadIds: readonly number[]; jobIds: readonly number[] }): Promise<{
    readonly loadIds: ReadonlySet<number>;
    readonly jobIds: ReadonlySet<number>;
  }>;
}
