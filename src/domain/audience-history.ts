import type { CancelRequest } from './cancellation.ts';
import type { JobId } from './ids.ts';
import { type JobStatus, type Progress, jobStatus } from './job.ts';

// What was appended to an audience, and when it was cleared.

/** The path that was submitted, and the result of the job that loads it. */
export type Append = {
  readonly appendId: JobId;
  /** Relative to the partner's prefix, or as submitted if it starts with the prefix. */
  readonly filePath: string;
  readonly status: JobStatus;
  /** Null until the files are listed. */
  readonly files: { readonly all: number; readonly loaded: number; readonly failed: number } | null;
  /** Accepted rows of the loaded files. */
  readonly rowsUploaded: number;
  readonly progress: Progress;
  readonly failure: { readonly code: string; readonly detail: string } | null;
  /** When the files were listed. Null while the append is waiting, and if listing them failed. */
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly cancelRequest: CancelRequest | null;
  readonly retryOf: JobId | null;
  /** Whether a later clear removed what the append loaded, or canceled it. */
  readonly isCleared: boolean;
};

/** `by` is null for a request that an earlier release accepted. */
export type HistoryEntry = {
  readonly at: Date;
  readonly by: string | null;
  readonly position: HistoryPosition;
} & ({ readonly is: 'append'; readonly append: Append } | { readonly is: 'clear' });

/**
 * The order of the entries. A clear ends a generation, so it comes after the appends of that generation. The ID of the
 * append is 0 for a clear.
 */
export type HistoryPosition = readonly [generation: number, isClear: 0 | 1, appendId: number];

/** The properties that determine whether an append can be retried. */
export type RetriedAppend = Pick<Append, 'status' | 'isCleared'> & {
  /** Null until the files are listed. Counts only entries that are neither dismissed nor replaced by a later append. */
  readonly failedFiles: number | null;
};

/** Which files a retry loads. */
export const retriedFiles = ['all', 'failed'] as const;
export type RetriedFiles = (typeof retriedFiles)[number];

/** Returns why an append cannot be retried, as the end of a sentence about it. Null if it can be retried. */
export function whyNotRetried({ status, isCleared, failedFiles }: RetriedAppend, files: RetriedFiles): string | null {
  if (isCleared) return 'belongs to data that was cleared. Append the files again';
  if (status === jobStatus.done) return 'is done, so there is nothing to retry';
  if (status !== jobStatus.failed) return 'has not finished';
  return files === 'failed' && failedFiles === 0 ? 'has no failed files left to retry' : null;
}
