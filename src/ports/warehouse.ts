import type { Readable } from 'node:stream';
import type { ResolvedKey } from '../domain/attribute.ts';
import type { RejectReason } from '../domain/reject-reason.ts';
import type { RowLayout } from '../domain/row-layout.ts';

/** One attempt to load one file. Every attempt has a load id of its own. */
export type Load = {
  readonly loadId: number;
  readonly fileId: number;
  readonly jobId: number;
  readonly partnerId: number;
  /** The version its rows get: see `domain/device-version.ts`. */
  readonly version: number;
};

export type LoadSource = {
  readonly body: Readable;
  readonly isGzip: boolean;
  readonly layout: RowLayout;
  readonly maxLineBytes: number;
};

type RejectCount = { readonly reason: RejectReason; readonly rows: number; readonly firstRow: number };
export type LoadCounts = { readonly accepted: number; readonly rejects: readonly RejectCount[] };

export function rejectedRows({ rejects }: LoadCounts): number {
  return rejects.reduce((sum, { rows }) => sum + rows, 0);
}

/** A refused row as it stood in the file; `text` holds its first bytes, whatever they are. */
export type RejectedRow = { readonly reason: RejectReason; readonly row: number; readonly text: Uint8Array };

export interface Warehouse {
  /** Fixes what the keys in a job's files mean. Repeating it changes nothing. */
  writeJobKeys(jobId: number, keys: readonly ResolvedKey[]): Promise<void>;
  /** Pushes the bytes into the engine, which judges every line. Nothing is visible outside of the stage. */
  stage(load: Load, source: LoadSource, signal: AbortSignal): Promise<void>;
  countRows(load: Load): Promise<LoadCounts>;
  listRejects(load: Load, limit: number): Promise<readonly RejectedRow[]>;
  /** Makes the staged rows part of the warehouse. Repeating it changes nothing. */
  publish(load: Load): Promise<void>;
  /** Stops whatever still runs for the load and removes its stage. Afterwards a late publish finds nothing. */
  dropLoad(loadId: number): Promise<void>;
  /** Makes the devices of these loads known and counts them, each once. Repeating it changes nothing. */
  publishDevices(jobId: number, loadIds: readonly number[]): Promise<number>;
  /** Removes what was kept for the time of the job. */
  dropJob(jobId: number): Promise<void>;
  /** What is staged at the moment, for the sweeper. */
  listStaged(): Promise<{ readonly loadIds: readonly number[]; readonly jobIds: readonly number[] }>;
}
