import type { JobId, LoadId, PartnerId } from '../domain/ids.ts';
import type { ResolvedKey } from '../domain/attribute.ts';
import type { CompositionCounts, Counting } from '../domain/composition/counts.ts';
import type { JobVersions } from '../domain/job.ts';
import type { Load } from './load-stage.ts';

export type AttributeRows = {
  readonly partnerId: PartnerId;
  readonly attributeIds: readonly number[];
  /** Rows of later jobs are left alone. */
  readonly versions: JobVersions;
};

/** The marketplace's part of the engine: which attributes a device has. */
export interface Warehouse {
  /** Fixes what the keys in a job's files mean. Repeating it with the same keys changes nothing. */
  writeJobKeys(jobId: JobId, keys: readonly ResolvedKey[]): Promise<void>;
  /** Makes the staged rows part of the warehouse. Repeating it changes nothing. */
  publish(load: Load): Promise<void>;
  /** Makes the staged rows of these loads all that their attributes have. Repeating it changes nothing. */
  replaceAttributes(
    job: { readonly id: number; readonly partnerId: PartnerId; readonly versions: JobVersions },
    loadIds: readonly LoadId[],
  ): Promise<void>;
  /** Stops a replacement that another holder of the lane may still be running. */
  stopJob(jobId: JobId): Promise<void>;
  /** Makes the devices that these loads add known, and counts all their devices, each once. Can be repeated. */
  publishDevices(jobId: JobId, loadIds: readonly LoadId[]): Promise<number>;
  /** Removes what was kept for the time of the job. */
  dropJob(jobId: JobId): Promise<void>;
  countAttributeRows(rows: AttributeRows): Promise<{ readonly rows: number; readonly devices: number }>;
  /** Removes the rows from every part on every shard. When it returns they are gone. */
  deleteAttributeRows(rows: AttributeRows): Promise<void>;
}

/** The devices of an audience between two clears. */
export type Generation = { readonly partnerId: PartnerId; readonly audienceId: number; readonly generation: number };

/** An audience as a job has it; what runs for the job can be stopped. */
export type CountedJob = Generation & { readonly id: number };

export type DeviceCounts = { readonly unique: number; readonly matched: number };

/** The validated files of a load. */
export type FilesOfLoad = { readonly load: Load; readonly fileIds: readonly number[] };

/** The audiences' part of the engine: which devices are in them. */
export interface AudienceWarehouse {
  /** Distinct devices in each of the files that were staged, by file id. */
  countUploaded(load: Load, fileIds: readonly number[]): Promise<ReadonlyMap<number, number>>;
  /** Makes the staged rows of these files part of the load's audience. Repeating it changes nothing. */
  publish(load: Load, fileIds: readonly number[]): Promise<void>;
  /** Distinct devices, about so many, and those of them that are known to the device warehouse. */
  countDevices(job: CountedJob, about: number): Promise<DeviceCounts>;
  /** Both for the devices that staged files would add to those that the audience has. */
  countNewDevices(job: CountedJob, loads: readonly FilesOfLoad[]): Promise<DeviceCounts>;
  /** Rows of a dead generation that still stand somewhere. */
  countDead(generation: Generation): Promise<number>;
  /** Removes the rows of dead generations from every part on every shard. Goes on when it is aborted. */
  purge(generations: readonly Generation[], signal: AbortSignal): Promise<void>;
}

export type WarehouseAttribute = { readonly id: number; readonly partnerId: PartnerId };

export interface AudienceProfiler {
  /** Counts, for every attribute that has live rows, its devices in the warehouse and among the matched members. */
  profile(
    members: Generation,
    counting: Counting,
    attributes: readonly WarehouseAttribute[],
    signal: AbortSignal,
  ): Promise<CompositionCounts>;
}
