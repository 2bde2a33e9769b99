import { type FileLimits, defaultFileLimits } from '@inlet/row-rule/file-rule';

/** Decision 32. Each is a setting; these are the defaults. */
export type Limits = FileLimits & {
  readonly maxFilesPerPrefix: number;
  readonly maxOpenJobs: number;
};

export const defaultLimits: Limits = {
  ...defaultFileLimits,
  maxFilesPerPrefix: 10_000,
  maxOpenJobs: 200,
};

/** Decision 32: what one caller may send. Each is a setting but the size of a body; these are the defaults. */
export type RequestLimits = {
  readonly perKey: number;
  readonly perPartner: number;
  /** Requests with a wrong key from one address, in one process. */
  readonly wrongKeysPerAddress: number;
  readonly maxHeaderBytes: number;
  readonly maxBodyBytes: number;
};

export const defaultRequestLimits: RequestLimits = {
  perKey: 300,
  perPartner: 1_200,
  wrongKeysPerAddress: 60,
  maxHeaderBytes: 16_384,
  /** A delete of a thousand keys of 200 characters fits, in whatever alphabet. */
  maxBodyBytes: 1024 * 1024,
};

export const requestWindowSeconds = 60;

/** The largest portion of a limit that a process takes at a time without need: what it does not use, others miss. */
export function largestPortion(limit: number): number {
  return Math.max(1, Math.floor(limit / 30));
}

/**
 * How many requests a process takes next from a window. It begins with one and doubles, so that a process that is hardly
 * asked holds nothing back; towards the end of a limit portions get small again. Those that wait are used at once.
 */
export function nextPortion(of: { limit: number; last: number; remaining: number; waiting: number }): number {
  const most = Math.max(1, Math.min(largestPortion(of.limit), Math.floor(of.remaining / 8)));
  return Math.max(1, of.waiting, Math.min(of.last * 2, most));
}
