import type { Load } from './load-stage.ts';

/** The devices of an audience between two clears. */
export type Generation = { readonly partnerId: number; readonly audienceId: number; readonly generation: number };

/** The audiences' part of the engine: which devices are in them. */
export interface AudienceWarehouse {
  /** Distinct devices in each staged file, by file id. */
  countUploaded(loadId: number): Promise<ReadonlyMap<number, number>>;
  /** Makes the staged rows of these files part of the load's audience. Repeating it changes nothing. */
  publish(load: Load, fileIds: readonly number[]): Promise<void>;
  /** Distinct devices, and how many of them are known to the device warehouse; for a job, with which it can be stopped. */
  countDevices(
    job: Generation & { readonly id: number },
  ): Promise<{ readonly unique: number; readonly matched: number }>;
  /** Rows of a dead generation that still stand somewhere. */
  countDead(generation: Generation): Promise<number>;
  /** Removes the rows of dead generations of one partner from every part on every shard. Goes on when it is aborted. */
  purge(partnerId: number, generations: readonly Generation[], signal: AbortSignal): Promise<void>;
}
