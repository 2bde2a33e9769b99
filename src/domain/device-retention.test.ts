import { describe, expect, it } from 'vitest';
import { daysBetweenRemovals, lastUnseenSeq, toDeviceDays } from './device-retention.ts';

describe('the number of days for which devices are kept', () => {
  it('is at most the number of days for which jobs are kept, or off', () => {
    expect(toDeviceDays('off', 400)).toBeNull();
    expect(toDeviceDays('1', 400)).toBe(1);
    expect(toDeviceDays('400', 400)).toBe(400);
    for (const text of ['0', '401', '-1', '1.5', '90d', '', ' 90', '1e2', 'OFF'])
      expect(() => toDeviceDays(text, 400), text).toThrow(/1 to 400/);
  });

  it('determines how often rows are removed, between daily and weekly', () => {
    expect([1, 9, 10, 29, 30, 90, 400].map(daysBetweenRemovals)).toEqual([1, 1, 1, 2, 3, 7, 7]);
  });
});

describe('the last position whose rows are unseen', () => {
  const days = { deviceDays: 90, jobDays: 400 };
  const nothing = { lastOldSeq: null, firstRecentSeq: null, forgottenSeq: 0 };

  it.each([
    ['nothing is recorded', nothing, 0],
    ['all recorded jobs are old', { ...nothing, lastOldSeq: 7 }, 7],
    ['later jobs are recent', { ...nothing, lastOldSeq: 7, firstRecentSeq: 8 }, 7],
    ['an earlier job is still open', { ...nothing, lastOldSeq: 7, firstRecentSeq: 5 }, 4],
    ['the first job is still open', { ...nothing, lastOldSeq: 7, firstRecentSeq: 1 }, 0],
    ['only recent jobs are recorded', { ...nothing, firstRecentSeq: 9 }, 0],
    ['the records of old jobs are gone', { ...nothing, forgottenSeq: 6, firstRecentSeq: 9 }, 6],
    ['the records of all jobs are gone', { ...nothing, forgottenSeq: 6 }, 6],
  ])('if %s', (_name, lane, expected) => {
    expect(lastUnseenSeq(lane, days)).toBe(expected);
  });

  it('does not include positions without a record, which a restore leaves behind', () => {
    expect(lastUnseenSeq({ lastOldSeq: 3, firstRecentSeq: 20, forgottenSeq: 0 }, days)).toBe(3);
  });

  it('does not include jobs whose records were removed before their devices are due', () => {
    expect(lastUnseenSeq({ ...nothing, forgottenSeq: 6 }, { deviceDays: 90, jobDays: 60 })).toBe(0);
  });
});
