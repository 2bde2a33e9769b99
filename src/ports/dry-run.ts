import type { FileFault } from '@inlet/row-rule/file-faults';
import type { BucketCredentials } from '../domain/partner-bucket.ts';
import type { JobSource, ObjectStore, OpenedObject } from './object-store.ts';

/** Opens the storage of an import that has not been submitted. */
export interface DryRunStorage {
  withObjects<T>(
    source: Omit<JobSource, 'jobId'>,
    credentials: BucketCredentials | null,
    run: (objects: ObjectStore) => Promise<T>,
  ): Promise<T>;
}

export type Sample = {
  /** Complete lines, decompressed. The last line of the file may lack a newline. */
  readonly content: Uint8Array;
  readonly isComplete: boolean;
  /** Why the file cannot be decompressed. */
  readonly fault: FileFault | null;
};

/** Reads the first lines of an object, up to the first limit that is reached. */
export type ReadSample = (
  opened: OpenedObject,
  object: { readonly size: number },
  limits: { readonly lines: number; readonly bytes: number },
) => Promise<Sample>;
