import type { JobId, LoadId, PartnerId } from '../domain/ids.ts';
import type { Failure } from '../domain/failure.ts';
import type { ImportLogError, ImportMode, KeyType } from '../domain/import-log.ts';
import type { LoadAccount } from '../domain/row-account.ts';
import type { SuppressionList } from '../domain/suppression.ts';
import type { Load } from './load-stage.ts';
import type { JobSource } from './object-store.ts';
import type { DeviceCounts } from './warehouse.ts';

/** The right to run a partner's lane, issued by the queue. */
export type LaneToken = { readonly partnerId: PartnerId; readonly id: string; readonly retryCount: number };

type Job = { readonly id: JobId; readonly partnerId: PartnerId; /** Position in the lane. */ readonly seq: number };

/** A job that loads files. `prefix` is the partner's prefix in the shared bucket. */
type LoadingJob = Job & {
  readonly source: JobSource;
  readonly prefix: string;
  /** Set if the job loads only the failed files of this job. */
  readonly onlyFailedOf: JobId | null;
};

export type ImportJob = LoadingJob & {
  readonly kind: 'import';
  /** Whether a subscription created the job, which then loads the object versions that were marked for it. */
  readonly isOfSubscription: boolean;
  readonly keyType: KeyType;
  readonly compressed: boolean | null;
  readonly mode: ImportMode;
};

export type AudienceJob = LoadingJob & {
  readonly kind: 'audience';
  readonly audienceId: number;
  /** The submitted path if it starts with the partner's prefix. It is tried before the path without the prefix. */
  readonly literalPath: string | null;
  readonly generation: number;
};

export type DeleteJob = Job & {
  readonly kind: 'delete';
  /** The attributes whose data is deleted. */
  readonly attributeIds: readonly number[];
};

export type LaneJob = ImportJob | AudienceJob | DeleteJob;

/** A validated load that is waiting to be published. */
export type StagedLoad = {
  readonly load: Load;
  readonly fileIds: readonly number[];
  /** Number of accepted rows in these files. */
  readonly rows: number;
  /** Whether the distinct devices of each file are already recorded. For audience loads only. */
  readonly isCounted: boolean;
  /** Number of times the load was claimed for publishing. Only the latest claim can commit. */
  readonly publishAttempt: number;
  /** Null if the previous release staged the load. The rows of such a load are not verified. */
  readonly account: LoadAccount | null;
};

/** An audience's counts before the staged loads are published. */
export type CountsBefore = DeviceCounts & {
  /** Version of the device warehouse, which imports increment. It may be slightly out of date. */
  readonly knownVersion: number;
  /** Whether the matched devices were counted at that version. */
  readonly isMatchedCurrent: boolean;
};

/** Counts to store. `knownVersion` is a lower bound for the warehouse version at which they were counted. */
export type CountsAfter = DeviceCounts & { readonly knownVersion: number };

/**
 * The lane's next step. `publish`: publish the staged loads while other files load. `clean`: drop the staged data of a
 * canceled job. `rest`: nothing to do, so this token is completed. A staged file or a new job will send a new token.
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
  /** Null if the storage does not tell it, or if an earlier release listed the file. */
  readonly lastModified: Date | null;
};

/** An object version that a job was created for. */
export type GivenObject = Pick<FileToLoad, 'key' | 'etag' | 'size'>;

/** A given version that the storage no longer has. */
export type LostObject = Pick<FileToLoad, 'key'> & { readonly state: 'overwritten' | 'deleted' };

export type JobSummary = {
  readonly loadIds: readonly LoadId[];
  /** The row counts recorded when these loads were staged. Loads staged by the previous release have none. */
  readonly accounts: ReadonlyMap<LoadId, LoadAccount>;
  /** The current suppression list. */
  readonly suppression: SuppressionList;
  /** Number of accepted rows in the loaded files. */
  readonly acceptedRows: number;
  /** Loads of canceled files. A worker may still be staging them. */
  readonly cancelledLoadIds: readonly LoadId[];
  readonly cancelledFiles: number;
  /** Includes canceled files. */
  readonly failedFiles: number;
  readonly loadedFiles: number;
  /** Limited to the number of errors that a record can list. */
  readonly errors: readonly JobError[];
};

/** An error with the file that it is about and the load that read the file. */
export type JobError = ImportLogError & { readonly fileId: number; readonly loadId: LoadId | null };

export interface LaneStore {
  /** Decides the next step and dispatches batches, in one transaction. See "Lanes" in docs/architecture.md. */
  nextStep(token: LaneToken, maxBatches: number): Promise<LaneStep>;
  /**
   * Completes the token and sends a new one, which is queued behind the tokens of other partners. No worker claims the
   * new token before the delay has passed.
   */
  yieldLane(token: LaneToken, afterSeconds: number): Promise<void>;
  /**
   * Lists the failed files of an ended job, as they were loaded. Omits audience files that were dismissed or loaded
   * later. Returns null if the files were never listed.
   */
  listFailedFiles(jobId: JobId): Promise<readonly FileToLoad[] | null>;
  /** Lists the object versions that a subscription marked for the job, in key order. */
  listGivenObjects(jobId: JobId): Promise<readonly GivenObject[]>;
  /** Records the given versions that the job cannot load, because they were overwritten or deleted before it started. */
  recordLostObjects(jobId: JobId, lost: readonly LostObject[]): Promise<void>;
  /** Records the job's files and batches. Has no effect if they are already recorded. */
  startImport(jobId: JobId, batches: readonly (readonly FileToLoad[])[]): Promise<void>;
  /**
   * Like `startImport`, but omits files that are already loaded into the generation. Returns the number of files left
   * to load.
   */
  startAudienceLoad(job: AudienceJob, batches: readonly (readonly FileToLoad[])[]): Promise<number>;
  /**
   * Records how many rows and devices a delete removes, because they cannot be counted after the delete. Has no effect
   * if they are already recorded.
   */
  startDelete(jobId: JobId, found: { readonly rows: number; readonly devices: number }): Promise<void>;
  /**
   * Records the number of distinct devices in each staged file, by file ID. The devices cannot be counted after the
   * staging table is dropped.
   */
  recordUploadedDevices(loadId: LoadId, devices: ReadonlyMap<number, number>): Promise<void>;
  /**
   * Records the audience's device count as the count of its only file. Returns false and writes nothing if another
   * holder of the lane has claimed the load, because the count may then include another file.
   */
  recordOnlyFile(
    jobId: JobId,
    staged: StagedLoad,
    file: { readonly id: number; readonly devices: number },
  ): Promise<boolean>;
  /** Records that all rows of the loads are published. After this, their staging tables may be dropped. */
  recordPublished(loadIds: readonly LoadId[]): Promise<void>;
  /** Returns the loads that are recorded as published. */
  findPublished(loadIds: readonly LoadId[]): Promise<ReadonlySet<LoadId>>;
  /**
   * Discards staged loads whose rows are incomplete. Their files are loaded again from the source. A file fails with
   * `rows_missing` if it was already reloaded `maxReloads` times or if the job has canceled files. Has no effect on a
   * load that another holder of the lane has claimed.
   */
  reloadFiles(jobId: JobId, loads: readonly StagedLoad[], maxReloads: number): Promise<void>;
  /**
   * Discards loads that were checked against an earlier version of the suppression list and are not published. Their files
   * are staged again from the source. Has no effect on loads that another holder of the lane has published or discarded.
   */
  restageFiles(jobId: JobId, loadIds: readonly LoadId[]): Promise<void>;
  /**
   * Marks the files of the loads as loaded. Returns false and writes nothing if another holder of the lane has claimed
   * one of the loads.
   */
  commitImportLoads(jobId: JobId, loads: readonly StagedLoad[]): Promise<boolean>;
  /**
   * Like `commitImportLoads`, but also stores the audience's new counts. Also returns false if the audience was cleared
   * in the meantime.
   */
  commitAudienceLoads(job: AudienceJob, loads: readonly StagedLoad[], counts: CountsAfter): Promise<boolean>;
  /** Returns false once the job has ended or is canceled. */
  isRunning(jobId: JobId): Promise<boolean>;
  markCleaned(jobId: JobId): Promise<void>;
  summarizeJob(jobId: JobId): Promise<JobSummary>;
  finishImport(jobId: JobId, result: ImportResult): Promise<void>;
  finishAudienceLoad(jobId: JobId, failure: Failure | null): Promise<void>;
  finishDelete(jobId: JobId): Promise<void>;
  /** Fails a job that could not start. */
  failJob(jobId: JobId, failure: Failure): Promise<void>;
  /** Returns true for only one caller per period. Used for tasks that only one worker should run. */
  claimTurn(task: string, everySeconds: number): Promise<boolean>;
  /** Sends a token to every lane that has open jobs but no token. */
  requeueIdleLanes(): Promise<void>;
}

type ImportResult = {
  readonly uniqueDevices: number;
  readonly failure: Failure | null;
  readonly errors: readonly ImportLogError[];
};
