import type { JobId } from '../domain/ids.ts';

export type ExpiredJobs = {
  /** Ordered by ID. */
  readonly jobIds: readonly JobId[];
  /** The last examined ID. Null once no remaining job can have expired. */
  readonly next: JobId | null;
};

/** Removes records of finished work. Each call is one short transaction. */
export interface RetentionStore {
  /**
   * Examines the next `limit` jobs by ID. A job has expired if it finished and was cleaned up more than `days` ago. If
   * the job belongs to an audience, its generation must also have been purged, because the jobs of the live generation
   * make up the audience's list of files.
   */
  listExpiredJobs(after: {
    readonly days: number;
    readonly afterId: JobId;
    readonly limit: number;
  }): Promise<ExpiredJobs>;
  /** Counts the files of each job, ordered by job ID, and stops at `limit` files in total. Omits jobs without files. */
  countFiles(jobIds: readonly JobId[], limit: number): Promise<ReadonlyMap<JobId, number>>;
  /** Removes the jobs and everything that belongs to them. */
  removeJobs(jobIds: readonly JobId[]): Promise<void>;
  /** Removes up to `limit` audit entries, oldest first, and returns the number removed. */
  removeAuditEntries(days: number, limit: number): Promise<number>;
  /** Removes up to `limit` generations that were purged more than `days` ago, and returns the number removed. */
  removePurgedGenerations(days: number, limit: number): Promise<number>;
  /**
   * Removes up to `limit` deleted audiences without jobs and generations, and returns the number removed. Until then,
   * their rows show that nothing is stored without a record.
   */
  removeDeletedAudiences(limit: number): Promise<number>;
  /** Removes up to `limit` sessions and links of the console that have expired, and returns the number removed. */
  removeExpiredSessions(limit: number): Promise<number>;
  /** Removes up to `limit` API keys and user tokens that ended more than `days` ago, and returns the number removed. */
  removeEndedCredentials(days: number, limit: number): Promise<number>;
}
