import type { Load } from './load-stage.ts';

/** The devices of an audience between two clears. */
export type Generation = { readonly partnerId: number; readonly audienceId: number; readonly generation: number };

/** An audience as a job has it; what runs for the job can be stopped. */
export type CountedJob = Generation & { readonly id: number };

export type DeviceCounts = { readonly unique: number; readonly matched: number };

/** The files of a load that were found good. */
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
