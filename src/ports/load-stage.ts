import type { RejectReason } from '@inlet/row-rule/reject-reason';
import type { RowLayout } from '@inlet/row-rule/row-layout';
import type { Readable } from 'node:stream';
import type { JobVersions } from '../domain/device-version.ts';

/** Where the rows of a load go when it is published. */
export type LoadTarget =
  | {
      readonly kind: 'attributes';
      readonly versions: JobVersions;
      /** Published with the other loads of its job, all at once. */
      readonly isReplacing: boolean;
    }
  | { readonly kind: 'audience'; readonly audienceId: number; readonly generation: number };

/** One attempt to load one batch of files. Every attempt has a load id of its own. */
export type Load = {
  readonly loadId: number;
  readonly jobId: number;
  readonly partnerId: number;
  readonly target: LoadTarget;
  /** Of its files, as they are stored. */
  readonly bytes: number;
};

type FileToStage = { readonly fileId: number; readonly layout: RowLayout };

/** A file of any size: its bytes flow through. */
export type StreamedFile = FileToStage & { readonly body: Readable; readonly isGzip: boolean };

/** A small file, unpacked. */
export type WholeFile = FileToStage & { readonly content: Uint8Array };

type RejectCount = { readonly reason: RejectReason; readonly rows: number; readonly firstRow: number };
export type LoadCounts = { readonly accepted: number; readonly rejects: readonly RejectCount[] };

export const noRows: LoadCounts = { accepted: 0, rejects: [] };

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
  /** The files, and the loads that brought them: a load may have brought others too. */
  readonly fileIds: readonly number[];
  readonly loadIds: readonly number[];
  /** Only rows behind this one, in the order of file and row. */
  readonly after: { readonly fileId: number; readonly row: number };
  readonly limit: number;
};

/** The engine's waiting room: rows are judged and counted here, and visible nowhere else. */
export interface LoadStage {
  /** Pushes the bytes into the engine, which judges every line. */
  stage(load: Load, file: StreamedFile, maxLineBytes: number, signal: AbortSignal): Promise<void>;
  /** The same for many small files at once, as they come. */
  stageTogether(load: Load, files: AsyncIterable<WholeFile>, maxLineBytes: number, signal: AbortSignal): Promise<void>;
  /** How far the engine is with a load that is being staged. */
  readSoFar(load: Load): Promise<{
    readonly rows: number;
    /** Of these rows, after unpacking. */
    readonly bytes: number;
    /** A bound for the lines, blank ones included: at least as many, at most a few times as many. */
    readonly rowsHandled: number;
  }>;
  /** By file id; a file without any row is missing. */
  countRows(loadId: number): Promise<ReadonlyMap<number, LoadCounts>>;
  /** The first refused rows of each file and reason, in the order of file and row. */
  listRejects(page: RejectPage): Promise<readonly RejectedRow[]>;
  /** Removes the stages of loads that have ended. */
  dropStages(loadIds: readonly number[]): Promise<void>;
  /** Stops whatever still runs for the load and removes its stage. Afterwards a late publish finds nothing. */
  dropLoad(loadId: number): Promise<void>;
  /** What is staged at the moment, for the sweeper. */
  listStaged(): Promise<{ readonly loadIds: readonly number[]; readonly jobIds: readonly number[] }>;
}
