import type { JobId } from './ids.ts';

/** How long records of finished work are kept, in days. */
export type Retention = {
  readonly jobDays: number;
  readonly auditLogDays: number;
};

/** Replayed requests refer to jobs from the last day, and clients need time to read the results of their jobs. */
export const minJobDays = 30;

/** A trigger in PostgreSQL enforces this minimum. */
export const minAuditLogDays = 90;

export const defaultRetention: Retention = { jobDays: 400, auditLogDays: 400 };

/** Purged generations stay in `inlet audience purges` for this long. */
export const purgedGenerationDays = 30;

/**
 * Returns the first jobs that together have at most `maxFiles` files, but always at least one job. Counting stops after
 * `maxFiles` files, so only the counts of jobs before that point are known to be complete.
 */
export function firstJobsWithin(
  jobIds: readonly JobId[],
  filesOf: ReadonlyMap<JobId, number>,
  maxFiles: number,
): readonly JobId[] {
  let files = 0;
  const end = jobIds.findIndex((jobId) => {
    files += filesOf.get(jobId) ?? 0;
    return files > maxFiles;
  });
  return end === -1 ? jobIds : jobIds.slice(0, Math.max(1, end));
}
