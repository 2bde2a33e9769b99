import type { PathType } from '../domain/import-log.ts';
import type { PartnerId } from '../domain/partner.ts';
import type { ObjectStore } from './object-store.ts';

/** Where the files of a job are. */
export type JobSource = {
  readonly jobId: number;
  readonly partnerId: PartnerId;
  readonly pathType: PathType;
  readonly filePath: string;
};

export interface SourceStorage {
  /** Gives the storage of the job's files for as long as `run` takes. */
  withObjects<T>(source: JobSource, run: (objects: ObjectStore) => Promise<T>): Promise<T>;
}
