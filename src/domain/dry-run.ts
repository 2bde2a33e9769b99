import type { FileFault } from '@inlet/row-rule/file-faults';
import type { RowLayout } from '@inlet/row-rule/row-rule';
import type { CountedRows } from '@inlet/row-rule/row-counts';
import type { Failure } from './failure.ts';

/** A dry run reads the first rows of the first files of an import. It changes nothing. */
export const dryRunLimits = {
  files: 20,
  rows: 1_000,
  /** Maximum number of decompressed bytes per file, because a row can have 100 KB. */
  bytes: 4 * 1024 * 1024,
  seconds: 20,
  /** Maximum number of concurrent dry runs per process, and per partner in a process. */
  concurrent: 4,
  ofPartner: 2,
} as const;

export type SampledFile = {
  readonly path: string;
  readonly bytes: number;
  /** Null if the file was not read. */
  readonly isGzip: boolean | null;
  readonly layout: RowLayout | null;
  readonly rows: CountedRows;
  /** True if the sample is the whole file. Only then is the outcome of the file certain. */
  readonly isComplete: boolean;
  /** Why the file would fail. */
  readonly fault: Pick<FileFault | Failure, 'code' | 'detail'> | null;
};

export type DryRun = {
  readonly files: number;
  readonly bytes: number;
  /** The first files, in the order in which they would be loaded. */
  readonly sampled: readonly SampledFile[];
  /** Why the whole import would fail. */
  readonly failure: Failure | null;
};
