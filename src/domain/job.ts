import type { FailureCode } from './failure-catalog.ts';
import { Failure } from './failure.ts';

/** The spec's status codes, shared by import logs, audiences, and files. */
export const jobStatus = { pending: 0, running: 1, done: 2, failed: 3 } as const;
export type JobStatus = (typeof jobStatus)[keyof typeof jobStatus];

/** Decision 4: allowed status transitions. Statuses 2 and 3 cannot change. */
const allowed: Readonly<Record<JobStatus, readonly JobStatus[]>> = {
  [jobStatus.pending]: [jobStatus.running, jobStatus.failed],
  [jobStatus.running]: [jobStatus.done, jobStatus.failed],
  [jobStatus.done]: [],
  [jobStatus.failed]: [],
};

/** The statuses that can change to `to`, for the WHERE clause of an UPDATE. */
export function statusesBefore(to: JobStatus): JobStatus[] {
  return Object.values(jobStatus).filter((from) => allowed[from].includes(to));
}

/** Statuses of unfinished jobs and files. */
export const openStatuses: JobStatus[] = Object.values(jobStatus).filter((status) => allowed[status].length > 0);

export const jobKind = { import: 'import', delete: 'delete', audience: 'audience' } as const;
export type JobKind = (typeof jobKind)[keyof typeof jobKind];

// Of two rows with the same device and attribute, the row with the higher version wins. A later job has higher versions
// than an earlier one. Within one job, an add has a higher version than a delete (decision 12).

export type JobVersions = { readonly ofDeletes: number; readonly ofAdds: number };

export function versionsOfJob(seq: number): JobVersions {
  return { ofDeletes: seq * 2, ofAdds: seq * 2 + 1 };
}

/** Files up to this size share a batch, because the fixed cost of a load exceeds the cost of their rows. */
const smallFileBytes = 1024 * 1024;

/**
 * Batch limits. They let a job load several batches in parallel, and they limit how much work is repeated after a batch
 * fails.
 */
const batchBytes = 64 * 1024 * 1024;
const batchFiles = 250;

/** Groups files into batches. A large file gets its own batch, and adjacent small files share one. */
export function intoBatches<File extends { readonly size: number }>(files: readonly File[]): File[][] {
  const batches: File[][] = [];
  let open: { files: File[]; bytes: number } | null = null;
  for (const file of files) {
    if (file.size > smallFileBytes) {
      batches.push([file]);
      continue;
    }
    if (!open || open.files.length === batchFiles || open.bytes + file.size > batchBytes) {
      open = { files: [], bytes: 0 };
      batches.push(open.files);
    }
    open.files.push(file);
    open.bytes += file.size;
  }
  return batches;
}

/** A load of this size takes about a second. */
const smallLoadBytes = 8 * 1024 * 1024;

/** Small loads have their own slots, and ClickHouse runs them before large loads. */
export function isSmallLoad(bytes: number): boolean {
  return bytes <= smallLoadBytes;
}

/** A job's progress. It is read from PostgreSQL, so polling puts no load on ClickHouse. */
export type Progress = {
  readonly bytesRead: number;
  readonly bytesTotal: number;
  readonly rowsRead: number;
  /** Number of unfinished jobs ahead in the partner's lane, except canceled ones. 0 when the job is running or finished. */
  readonly queuePosition: number;
  /** Null until the job has read its first bytes, unless the partner has finished other jobs. */
  readonly secondsLeft: number | null;
};

/**
 * The progress of several open jobs in a lane, in submission order: what all of them have read, the jobs ahead of the
 * first one, and the seconds until the last one finishes.
 */
export function combineProgress(jobs: readonly Progress[]): Progress {
  const sum = (of: (progress: Progress) => number): number => jobs.reduce((all, job) => all + of(job), 0);
  const last = jobs.at(-1);
  return {
    bytesRead: sum(({ bytesRead }) => bytesRead),
    bytesTotal: sum(({ bytesTotal }) => bytesTotal),
    rowsRead: sum(({ rowsRead }) => rowsRead),
    queuePosition: jobs[0]?.queuePosition ?? 0,
    secondsLeft: last ? last.secondsLeft : 0,
  };
}

export function estimateSecondsLeft(read: { bytes: number; total: number }, secondsSoFar: number): number | null {
  if (read.total === 0 || read.bytes === 0) return null;
  return Math.ceil((secondsSoFar * (read.total - read.bytes)) / read.bytes);
}

/** The failure code of a canceled job, and of the job's files that were not loaded. */
export const cancelledCode = 'job_cancelled' satisfies FailureCode;

const remedy = 'Retry it to load what is missing.';

export function cancelledBeforeStart(): Failure {
  return new Failure(cancelledCode, `The job was canceled before it started. ${remedy}`);
}

export function cancelledFile(): Failure {
  return new Failure(cancelledCode, `The job was canceled before this file was read. ${remedy}`);
}

type Files = { readonly failedFiles: number; readonly cancelledFiles: number; readonly loadedFiles: number };

/** Derives the failure of a finished job from its files. */
export function failureOfJob({ failedFiles, cancelledFiles, loadedFiles }: Files): Failure | null {
  const all = failedFiles + loadedFiles;
  if (cancelledFiles > 0)
    return new Failure(cancelledCode, `The job was canceled: ${cancelledFiles} of ${all} files were not loaded.`);
  return failedFiles === 0 ? null : new Failure('file_failed', `${failedFiles} of ${all} files failed.`);
}
