import type { Failure } from '../domain/failure.ts';
import type { ImportLogError, ImportMode, KeyType } from '../domain/import-log.ts';
import type { JobKind } from '../domain/job.ts';
import type { PartnerId } from '../domain/partner.ts';
import type { JobSource } from './source-storage.ts';

/** The right to move a partner's lane, as the dispatcher handed it out. */
export type LaneToken = { readonly partnerId: PartnerId; readonly id: string; readonly retryCount: number };

export type LaneJob = {
  readonly id: number;
  readonly kind: JobKind;
  readonly partnerId: PartnerId;
  /** Its place in the partner's lane. */
  readonly seq: number;
  readonly source: JobSource;
  /** The partner's prefix in the shared bucket. */
  readonly prefix: string;
  readonly keyType: KeyType;
  readonly compressed: boolean | null;
  readonly mode: ImportMode;
  /** Of a delete: the attributes whose data goes. */
  readonly attributeIds: readonly number[];
};

/** What the lane has to do now. `rest`: nothing until a file or a new job wakes it; the token is given back. */
export type LaneStep = { readonly do: 'prepare' | 'finish'; readonly job: LaneJob } | { readonly do: 'rest' };

export type FileToLoad = {
  readonly key: string;
  readonly path: string;
  readonly etag: string;
  readonly size: number;
  readonly gzip: boolean;
};

export type JobSummary = {
  readonly loadIds: readonly number[];
  readonly failedFiles: number;
  /** At most as many as stand on a record. */
  readonly errors: readonly ImportLogError[];
};

export interface LaneStore {
  /** Decides the next step in one transaction, sending files out on the way. See docs/architecture.md, "Lanes". */
  nextStep(token: LaneToken, filesOut: number): Promise<LaneStep>;
  /** Gives the token back and sends it again, behind those of other partners. */
  yieldLane(token: LaneToken): Promise<void>;
  /** Fixes the job's files, once. */
  startImport(jobId: number, files: readonly FileToLoad[]): Promise<void>;
  /** Fixes how much a delete removes, once: afterwards it can no longer be counted. */
  startDelete(jobId: number, found: { readonly rows: number; readonly devices: number }): Promise<void>;
  summarizeJob(jobId: number): Promise<JobSummary>;
  finishImport(jobId: number, result: ImportResult): Promise<void>;
  finishDelete(jobId: number): Promise<void>;
  /** Ends a job that could not start. */
  failJob(jobId: number, failure: Failure): Promise<void>;
  /** True for one caller per period: for what any worker may do, but one should. */
  takeTurn(task: string, everySeconds: number): Promise<boolean>;
  /** Sends a token to every lane that has open jobs and none. */
  wakeLanes(): Promise<void>;
}

type ImportResult = {
  readonly uniqueDevices: number;
  readonly failure: Failure | null;
  readonly errors: readonly ImportLogError[];
};
