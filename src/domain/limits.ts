import { type FileLimits, defaultFileLimits } from '@inlet/row-rule/file-rule';

/** Decision 32: limits per file and job. All are configurable. */
export type Limits = FileLimits & {
  readonly maxFilesPerPrefix: number;
  readonly maxOpenJobs: number;
};

export const defaultLimits: Limits = {
  ...defaultFileLimits,
  maxFilesPerPrefix: 10_000,
  maxOpenJobs: 200,
};

/** The number of additional deletes that a partner can submit after reaching the maximum number of open jobs. */
export const openDeletesAboveLimit = 20;

/**
 * A job that is canceled before its start stays open until the jobs before it end. It makes room for another job, until
 * the partner has this many times the maximum number of open jobs.
 */
export const openJobsWithCanceled = 5;

/** The body of a delete request with this many keys fits into the maximum body size. */
export const maxKeysPerDelete = 1_000;

/** Decision 32: limits per caller. All but the body size are configurable. */
export type RequestLimits = {
  readonly perKey: number;
  readonly perPartner: number;
  /** Requests with an invalid key from one address, per process and window. */
  readonly wrongKeysPerAddress: number;
  readonly maxHeaderBytes: number;
  readonly maxBodyBytes: number;
};

export const defaultRequestLimits: RequestLimits = {
  perKey: 300,
  perPartner: 1_200,
  wrongKeysPerAddress: 60,
  maxHeaderBytes: 16_384,
  /** Large enough for a delete request with 1,000 keys of 200 characters each, in any script. */
  maxBodyBytes: 1024 * 1024,
};

export const requestWindowSeconds = 60;

/**
 * The largest portion of a limit that a process reserves in advance. Other processes cannot use the requests that this
 * process reserves but does not use.
 */
export function largestPortion(limit: number): number {
  return Math.max(1, Math.floor(limit / 30));
}

/**
 * Number of requests that a process reserves next from a window. Portions start at one and double, so an idle process
 * reserves little. They shrink again near the limit. A portion always covers the requests that are already waiting.
 */
export function nextPortion(of: { limit: number; last: number; remaining: number; waiting: number }): number {
  const most = Math.max(1, Math.min(largestPortion(of.limit), Math.floor(of.remaining / 8)));
  return Math.max(1, of.waiting, Math.min(of.last * 2, most));
}
