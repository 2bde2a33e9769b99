import type { JobId, LoadId, PartnerId } from '../domain/ids.ts';
import type { Failure } from '../domain/failure.ts';
import type { ImportLogError, ImportMode, KeyType } from '../domain/import-log.ts';
import type { Load } from './load-stage.ts';
import type { JobSource } from './object-store.ts';
import type { DeviceCounts } from './warehouse.ts';

/** The right to move a partner's lane, as the dispatcher handed it out. */
export type LaneToken = { readonly partnerId: PartnerId; readonly id: string; readonly retryCount: number };

type Job = { readonly id: JobId; readonly partnerId: PartnerId; /** Its place in the lane. */ readonly seq: number };

/** A job that loads files. `prefix`: the partner's, in the shared bucket. */
type LoadingJob = Job & { readonly source: JobSource; readonly prefix: string };

export type ImportJob = LoadingJob & {
  readonly kind: 'import';
  readonly keyType: KeyType;
  readonly compressed: boolean | null;
  readonly mode: ImportMode;
};

export type AudienceJob = LoadingJob & {
  readonly kind: 'audience';
  readonly audienceId: number;
  readonly generation: number;
};

export type DeleteJob = Job & {
  readonly kind: 'delete';
  /** The attributes whose data goes. */
  readonly attributeIds: readonly number[];
};

export type LaneJob = ImportJob | AudienceJob | DeleteJob;

/** A load that was found good and waits to be published. */
export type StagedLoad = {
  readonly load: Load;
  readonly fileIds: readonly number[];
  /** Good rows of these files. */
  readonly rows: number;
  /** Of an audience: the distinct devices of each file are written down. */
  readonly isCounted: boolean;
  /** How often it was taken to be published. Only the last who took it may commit. */
  readonly publishAttempt: number;
};

/** Somebody took it before, and may still be publishing it. */
export function isTakenOver({ publishAttempt }: StagedLoad): boolean {
  return publishAttempt > 1;
}

/** What an audience has without the loads that wait, as it was last counted. */
export type CountsBefore = DeviceCounts & {
  /** The state of the device warehouse now, or some moments ago; it grows with what imports bring. */
  readonly knownVersion: number;
  /** Whether the matched devices were counted with that state. */
  readonly isMatchedCurrent: boolean;
};

/** Counts to be written, and the state of the warehouse that they were counted with, at least. */
export type CountsAfter = DeviceCounts & { readonly knownVersion: number };

/**
 * The lane's next step. `publish`: publish the staged loads while other files load. `clean`: drop what a canceled job had
 * staged. `rest`: nothing to do until a staged file or a new job sends a token; this token is completed.
 */
export type LaneStep =
  | { readonly do: 'prepare' | 'finish'; readonly job: LaneJob }
  | { readonly do: 'publish'; readonly job: ImportJob; readonly loads: readonly StagedLoad[] }
  | {
      readonly do: 'publish';
      readonly job: AudienceJob;
      readonly loads: readonly StagedLoad[];
      readonly before: CountsBefore;
    }
  | { readonly do: 'clean'; readonly jobId: JobId; readonly loadIds: readonly LoadId[] }
  | { readonly do: 'rest' };

export type FileToLoad = {
  readonly key: string;
  readonly path: string;
  readonly etag: string;
  readonly size: number;
  readonly gzip: boolean | null;
};

export type JobSummary = {
  readonly loadIds: readonly LoadId[];
  /** Of files that the operator cancelled: somebody may still be staging them. */
  readonly cancelledLoadIds: readonly LoadId[];
  readonly cancelledFiles: number;
  /** Those included. */
  readonly failedFiles: number;
  readonly loadedFiles: number;
  /** At most as many as stand on a record. */
  readonly errors: readonly ImportLogError[];
};

export interface LaneStore {
  /** Decides the next step in one transaction, sending files out on the way. See docs/architecture.md, "Lanes". */
  nextStep(token: LaneToken, filesOut: number): Promise<LaneStep>;
  /** Gives the token back and sends it again, behind those of other partners. */
  yieldLane(token: LaneToken): Promise<void>;
  /** Fixes the job's files and which of them are loaded together, once. */
  startImport(jobId: JobId, batches: readonly (readonly FileToLoad[])[]): Promise<void>;
  /** The same, without the files that the generation has already. Gives how many are left to load. */
  startAudienceLoad(job: AudienceJob, batches: readonly (readonly FileToLoad[])[]): Promise<number>;
  /** Fixes how much a delete removes, once: afterwards it can no longer be counted. */
  startDelete(jobId: JobId, found: { readonly rows: number; readonly devices: number }): Promise<void>;
  /** Writes down the distinct devices of staged files, by file id: once the stage is gone they cannot be counted. */
  recordUploadedDevices(jobId: JobId, devices: ReadonlyMap<number, number>): Promise<void>;
  /** The files of these loads are loaded. False, and nothing written, when another holder took one of them since. */
  commitImportLoads(jobId: JobId, loads: readonly StagedLoad[]): Promise<boolean>;
  /** The same, with the counts that they make true. Also false when the audience was cleared meanwhile. */
  commitAudienceLoads(job: AudienceJob, loads: readonly StagedLoad[], counts: CountsAfter): Promise<boolean>;
  /** Whether the job still goes on: it may have been cancelled. */
  isRunning(jobId: JobId): Promise<boolean>;
  markCleaned(jobId: JobId): Promise<void>;
  summarizeJob(jobId: JobId): Promise<JobSummary>;
  finishImport(jobId: JobId, result: ImportResult): Promise<void>;
  finishAudienceLoad(jobId: JobId, failure: Failure | null): Promise<void>;
  finishDelete(jobId: JobId): Promise<void>;
  /** Ends a job that could not start. */
  failJob(jobId: JobId, failure: Failure): Promise<void>;
  /** True for one caller per period: for what any worker may do, but one should. */
  claimTurn(task: string, everySeconds: number): Promise<boolean>;
  /** Sends a token to every lane that has open jobs and none. */
  wakeLanes(): Promise<void>;
}

type ImportResult = {
  readonly uniqueDevices: number;
  readonly failure: Failure | null;
  readonly errors: readonly ImportLogError[];
};
