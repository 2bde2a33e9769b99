import type { Readable } from 'node:stream';
import type { ResolvedKey } from '../domain/attribute.ts';
import type { JobVersions } from '../domain/device-version.ts';
import type { RejectReason } from '../domain/reject-reason.ts';
import type { RowLayout } from '../domain/row-layout.ts';

/** One attempt to load one file. Every attempt has a load id of its own. */
export type Load = {
  readonly loadId: number;
  readonly fileId: number;
  readonly jobId: number;
  readonly partnerId: number;
  readonly versions: JobVersions;
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
export type RejectedRow = {
  readonly fileId: number;
  readonly row: number;
  readonly reason: RejectReason;
  readonly text: Uint8Array;
};

export type RejectPage = {
  readonly loadIds: readonly number[];
  /** Only rows behind this one, in the order of file and row. */
  readonly after: { readonly fileId: number; readonly row: number };
  readonly limit: number;
};

export type AttributeRows = {
  readonly partnerId: number;
  readonly attributeIds: readonly number[];
  /** Rows of later jobs are left alone. */
  readonly versions: JobVersions;
};

export interface Warehouse {
  /** Fixes what the keys in a job's files mean. Repeating it with the same keys changes nothing. */
  writeJobKeys(jobId: number, keys: readonly ResolvedKey[]): Promise<void>;
  /** Pushes the bytes into the engine, which judges every line. Nothing is visible outside of the stage. */
  stage(load: Load, source: LoadSource, signal: AbortSignal): Promise<void>;
  /** How far the engine is with a load that is being staged. */
  readSoFar(load: Load): Promise<{
    readonly rows: number;
    /** Of these rows, after unpacking. */
    readonly bytes: number;
    /** A bound for the lines, blank ones included: at least as many, at most a few times as many. */
    readonly rowsHandled: number;
  }>;
  countRows(load: Load): Promise<LoadCounts>;
  /** The first refused rows of each file and reason, in the order of file and row. */
  listRejects(page: RejectPage): Promise<readonly RejectedRow[]>;
  /** Makes the staged rows part of the warehouse. Repeating it changes nothing. */
  publish(load: Load): Promise<void>;
  /** Makes the staged rows of these loads all that their attributes have. Repeating it changes nothing. */
  replaceAttributes(
    job: { readonly id: number; readonly partnerId: number; readonly versions: JobVersions },
    loadIds: readonly number[],
  ): Promise<void>;
  /** Stops a replacement that another holder of the lane may still be running. */
  stopJob(jobId: number): Promise<void>;
  /** Removes the stages of loads that have ended. */
  dropStages(loadIds: readonly number[]): Promise<void>;
  /** Stops whatever still runs for the load and removes its stage. Afterwards a late publish finds nothing. */
  dropLoad(loadId: number): Promise<void>;
  /** Makes the devices that these loads add known, and counts all their devices, each once. Can be repeated. */
  publishDevices(jobId: number, loadIds: readonly number[]): Promise<number>;
  /** Removes what was kept for the time of the job. */
  dropJob(jobId: number): Promise<void>;
  countAttributeRows(rows: AttributeRows): Promise<{ readonly rows: number; readonly devices: number }>;
  /** Removes the rows from every part on every shard. When it returns they are gone. */
  deleteAttributeRows(rows: AttributeRows): Promise<void>;
  /** What is staged at the moment, for the sweeper. */
  listStaged(): Promise<{ readonly loadIds: readonly number[]; readonly jobIds: readonly number[] }>;
}
