import type { JobId, LoadId, PartnerId } from '../domain/ids.ts';
import type { ResolvedKey } from '../domain/attribute.ts';
import type { JobVersions } from '../domain/job.ts';
import type { ShardRows } from '../domain/row-account.ts';
import type { SuppressionList } from '../domain/suppression.ts';
import type { Load } from './load-stage.ts';

export type AttributeRows = {
  readonly partnerId: PartnerId;
  readonly attributeIds: readonly number[];
  /** Rows of later jobs are kept. */
  readonly versions: JobVersions;
};

/** The rows and bytes that ClickHouse stores for a partner, on all shards. */
export type StoredData = { readonly partnerId: PartnerId; readonly rows: number; readonly bytes: number };

/** The marketplace tables in ClickHouse, which store the attributes of each device. */
export interface Warehouse {
  /** Stores which attribute each key in the job's files refers to. Idempotent. */
  writeJobKeys(jobId: JobId, keys: readonly ResolvedKey[]): Promise<void>;
  /** Adds the staged rows to the warehouse. Returns the number of rows added on each shard. Idempotent. */
  publish(load: Load): Promise<ShardRows>;
  /** Replaces the data of the attributes in these loads with the staged rows. Idempotent. */
  replaceAttributes(
    job: { readonly id: number; readonly partnerId: PartnerId; readonly versions: JobVersions },
    loadIds: readonly LoadId[],
  ): Promise<void>;
  /** Stops a replacement that an earlier holder of the lane may still be running. */
  stopJob(jobId: JobId): Promise<void>;
  /**
   * Adds the devices of these loads to the known devices. Returns the number of accepted rows that were found in the
   * stage, and the number of distinct devices in these rows. Devices on the suppression list `except` are counted, but
   * not added. Idempotent.
   */
  publishDevices(
    jobId: JobId,
    loadIds: readonly LoadId[],
    except?: SuppressionList,
  ): Promise<{ readonly rows: number; readonly devices: number }>;
  /**
   * Like `publishDevices`, but uses the published rows of a job instead of its stage. Reads all rows of the partner.
   * Returns the number of distinct devices. Idempotent.
   */
  publishDevicesOfRows(partnerId: PartnerId, versions: JobVersions): Promise<number>;
  /** Removes the job's temporary data. */
  dropJob(jobId: JobId): Promise<void>;
  countAttributeRows(rows: AttributeRows): Promise<{ readonly rows: number; readonly devices: number }>;
  /**
   * Deletes the rows from every part on every shard. Returns true when the rows are gone, or false if the deletion
   * takes longer than a few seconds. Call it again until it returns true.
   */
  deleteAttributeRows(rows: AttributeRows): Promise<boolean>;
  /** Measures the attributes and audiences of all partners, including rows that are deleted but not purged yet. */
  measureStoredData(): Promise<readonly StoredData[]>;
}

/** The devices of an audience between two clears. */
export type Generation = { readonly partnerId: PartnerId; readonly audienceId: number; readonly generation: number };

/** An audience generation and the job that counts its devices. The job's statements can be stopped. */
export type CountedJob = Generation & { readonly id: number };

export type DeviceCounts = { readonly unique: number; readonly matched: number };

/** The validated files of a load. */
export type FilesOfLoad = { readonly load: Load; readonly fileIds: readonly number[] };

/** The audience tables in ClickHouse, which store the devices of each audience. */
export interface AudienceWarehouse {
  /** Returns the number of distinct devices in each staged file, by file ID. */
  countUploaded(load: Load, fileIds: readonly number[]): Promise<ReadonlyMap<number, number>>;
  /**
   * Adds the staged rows of these files to the load's audience. Returns the number of rows added on each shard.
   * Idempotent.
   */
  publish(load: Load, fileIds: readonly number[]): Promise<ShardRows>;
  /**
   * Returns the number of distinct devices, and how many of them exist in the device warehouse. `about` is the
   * approximate number of devices.
   */
  countDevices(job: CountedJob, about: number): Promise<DeviceCounts>;
  /**
   * Like `countDevices`, but counts only the devices that the staged files would add to the audience. Returns null if
   * the files are staged on different replicas of a shard. The devices must then be counted after publishing.
   */
  countNewDevices(job: CountedJob, loads: readonly FilesOfLoad[]): Promise<DeviceCounts | null>;
  /**
   * Returns the number of rows left in each dead generation, and the total number of rows stored for each affected
   * partner.
   */
  countDead(
    generations: readonly Generation[],
  ): Promise<{ readonly rows: readonly number[]; readonly storedRows: ReadonlyMap<PartnerId, number> }>;
  /**
   * Deletes the rows of dead generations from every part on every shard. If aborted, the deletion continues in
   * ClickHouse.
   */
  purge(generations: readonly Generation[], signal: AbortSignal): Promise<void>;
}
