import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  combineProgress,
  failureOfJob,
  intoBatches,
  jobStatus,
  openStatuses,
  statusesBefore,
  versionsOfJob,
} from './job.ts';

const { pending, running, done, failed } = jobStatus;

describe('job statuses', () => {
  it('assigns job statuses the numbers in the specification', () => {
    expect(jobStatus).toEqual({ pending: 0, running: 1, done: 2, failed: 3 });
  });

  it.each([
    { name: 'pending', to: pending, from: [] },
    { name: 'running', to: running, from: [pending] },
    { name: 'done', to: done, from: [running] },
    { name: 'failed', to: failed, from: [pending, running] },
  ])('allows the status $name only after the statuses $from', ({ to, from }) => {
    expect(statusesBefore(to)).toEqual(from);
  });

  it('treats a job as open until it is done or failed', () => {
    expect(openStatuses).toEqual([pending, running]);
  });

  it.each([done, failed])('allows no status change after the status %s', (final) => {
    for (const to of Object.values(jobStatus)) expect(statusesBefore(to)).not.toContain(final);
  });
});

const mebibyte = 1024 * 1024;
const filesOf = (...sizes: number[]): { size: number }[] => sizes.map((size) => ({ size }));

describe('batches', () => {
  it('groups small files and puts a large file into its own batch', () => {
    const batches = intoBatches(filesOf(10, mebibyte + 1, 20, mebibyte, 3 * mebibyte));
    expect(batches).toEqual([filesOf(10, 20, mebibyte), filesOf(mebibyte + 1), filesOf(3 * mebibyte)]);
  });

  it('limits a batch to 250 files and 64 MiB', () => {
    expect(intoBatches(filesOf(...Array.from({ length: 501 }, () => 1))).map(({ length }) => length)).toEqual([
      250, 250, 1,
    ]);
    expect(intoBatches(filesOf(...Array.from({ length: 68 }, () => mebibyte))).map(({ length }) => length)).toEqual([
      64, 4,
    ]);
  });

  it('puts each file into exactly one batch, in order', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 2 * mebibyte }), { maxLength: 600 }), (sizes) => {
        const given = sizes.map((size, place) => ({ size, place }));
        const batches = intoBatches(given);
        expect(batches.flat().toSorted((a, b) => a.place - b.place)).toEqual(given);
        for (const batch of batches) {
          expect(batch.map(({ place }) => place)).toEqual(batch.map(({ place }) => place).toSorted((a, b) => a - b));
          expect(batch.length === 1 || batch.every(({ size }) => size <= mebibyte)).toBe(true);
          expect(batch.reduce((sum, { size }) => sum + size, 0) <= 64 * mebibyte || batch.length === 1).toBe(true);
        }
      }),
    );
  });
});

describe('the versions of a job', () => {
  it('gives an add precedence over a delete in the same job', () => {
    const { ofAdds, ofDeletes } = versionsOfJob(7);
    expect(ofAdds).toBeGreaterThan(ofDeletes);
  });

  it('gives every row of a later job precedence over every row of an earlier job', () => {
    const place = fc.integer({ min: 1, max: 2 ** 51 });
    fc.assert(
      fc.property(place, (seq) => {
        expect(versionsOfJob(seq + 1).ofDeletes).toBeGreaterThan(versionsOfJob(seq).ofAdds);
        expect(Number.isSafeInteger(versionsOfJob(seq).ofAdds)).toBe(true);
      }),
    );
  });
});

describe('the failure of a job', () => {
  it.each([
    [{ failedFiles: 0, cancelledFiles: 0, loadedFiles: 3 }, undefined],
    [{ failedFiles: 0, cancelledFiles: 0, loadedFiles: 0 }, undefined],
    [{ failedFiles: 1, cancelledFiles: 0, loadedFiles: 2 }, 'file_failed: 1 of 3 files failed.'],
    [
      { failedFiles: 3, cancelledFiles: 2, loadedFiles: 1 },
      'job_cancelled: The job was canceled: 2 of 4 files were not loaded.',
    ],
  ])('a job with %o has the failure %s', (files, message) => {
    expect(failureOfJob(files)?.message).toBe(message);
  });
});

describe('combineProgress', () => {
  const loading = { bytesRead: 10, bytesTotal: 40, rowsRead: 2, queuePosition: 1, secondsLeft: 5 };

  it('covers what all jobs have read, the position of the first job, and the end of the last one', () => {
    const waiting = { bytesRead: 0, bytesTotal: 0, rowsRead: 0, queuePosition: 4, secondsLeft: null };
    expect(combineProgress([loading, waiting])).toEqual({ ...loading, secondsLeft: null });
    expect(combineProgress([loading, loading])).toMatchObject({ bytesRead: 20, bytesTotal: 80, rowsRead: 4 });
  });

  it('is complete if there are no jobs', () => {
    const nothing = { bytesRead: 0, bytesTotal: 0, rowsRead: 0, queuePosition: 0, secondsLeft: 0 };
    expect(combineProgress([])).toEqual(nothing);
  });
});
