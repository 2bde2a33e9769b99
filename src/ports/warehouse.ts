import type { ResolvedKey } from '../domain/attribute.ts';
import type { JobVersions } from '../domain/device-version.ts';
import type { Load } from './load-stage.ts';

export type AttributeRows = {
  readonly partnerId: number;
  readonly attributeIds: readonly number[];
  /** Rows of later jobs are left alone. */
  readonly versions: JobVersions;
};

/** The marketplace's part of the engine: which attributes a device has. */
export interface Warehouse {
  /** Fixes what the keys in a job's files mean. Repeating it with the same keys changes nothing. */
  writeJobKeys(jobId: number, keys: readonly ResolvedKey[]): Promise<void>;
  /** Makes the staged rows part of the warehouse. Repeating it changes nothing. */
  publish(load: Load): Promise<void>;
  /** Makes the staged rows of these loads all that their attributes have. Repeating it changes nothing. */
  replaceAttributes(
    job: { readonly id: number; readonly partnerId: number; readonly versions: JobVersions },
    loadIds: readonly number[],
  ): Promise<void>;
  /** Stops a replacement that another holder of the lane may still be running. */
  stopJob(jobId: number): Promise<void>;
  /** Makes the devices that these loads add known, and counts all their devices, each once. Can be repeated. */
  publishDevices(jobId: number, loadIds: readonly number[]): Promise<number>;
  /** Removes what was kept for the time of the job. */
  dropJob(jobId: number): Promise<void>;
  countAttributeRows(rows: AttributeRows): Promise<{ readonly rows: number; readonly devices: number }>;
  /** Removes the rows from every part on every shard. When it returns they are gone. */
  deleteAttributeRows(rows: AttributeRows): Promise<void>;
}
