import { Failure } from './failure.ts';

/**
 * Accepts a number of days, or "off" (null). Records of jobs are removed after `jobDays`, and without them nothing shows
 * when a device was last seen.
 */
export function toDeviceDays(text: string, jobDays: number): number | null {
  if (text === 'off') return null;
  const days = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (days >= 1 && days <= jobDays) return days;
  throw new Failure(
    'invalid_request',
    `"${text}" is not a valid number of days. Use 1 to ${jobDays} (INLET_RETENTION_DAYS), or "off".`,
  );
}

/** What the records show about the jobs in a partner's lane. A job is old if it ended more than `deviceDays` ago. */
export type LaneAge = {
  /** The last position of an old job. */
  readonly lastOldSeq: number | null;
  /** The first position of a job that is open, not cleaned up, or not old. */
  readonly firstRecentSeq: number | null;
  /** The last position whose job was removed, `jobDays` after it ended. */
  readonly forgottenSeq: number;
};

/**
 * Returns the last position in the lane whose rows have not been seen for `deviceDays`, or 0. Jobs end in the order of their
 * positions, except for canceled ones, so every earlier position must be old too. A position counts as old only if a record
 * shows it: after a restore, positions can be without a record although their jobs ended recently.
 */
export function lastUnseenSeq(
  { lastOldSeq, firstRecentSeq, forgottenSeq }: LaneAge,
  { deviceDays, jobDays }: { readonly deviceDays: number; readonly jobDays: number },
): number {
  const lastOld = Math.max(lastOldSeq ?? 0, deviceDays <= jobDays ? forgottenSeq : 0);
  return Math.max(0, Math.min(lastOld, (firstRecentSeq ?? Infinity) - 1));
}

/** A removal rewrites all of a partner's data, so it runs less often if devices are kept for longer. */
export function daysBetweenRemovals(deviceDays: number): number {
  return Math.min(7, Math.max(1, Math.floor(deviceDays / 10)));
}
