import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { firstJobsWithin } from './retention.ts';

describe('the jobs that one transaction removes', () => {
  it.each([
    ['all jobs if their files fit', [2, 0, 3], 5, [1, 2, 3]],
    ['the jobs before the one that exceeds the limit', [2, 0, 4], 5, [1, 2]],
    ['a single job with more files than the limit', [9, 1], 5, [1]],
    ['jobs without files', [0, 0], 5, [1, 2]],
    ['no jobs', [], 5, []],
  ])('are %s', (_name, files, maxFiles, expected) => {
    const jobIds = files.map((_, index) => index + 1);
    expect(firstJobsWithin(jobIds, new Map(jobIds.map((id, index) => [id, files[index] ?? 0])), maxFiles)).toEqual(
      expected,
    );
  });

  it('never exceed the limit, even if the files were counted only up to the limit', () => {
    fc.assert(
      fc.property(
        fc.array(fc.nat(20), { minLength: 1, maxLength: 30 }),
        fc.integer({ min: 1, max: 50 }),
        (files, maxFiles) => {
          const jobIds = files.map((_, index) => index + 1);
          const owners = files.flatMap((count, index) => Array.from({ length: count }, () => index + 1));
          const counted = Map.groupBy(owners.slice(0, maxFiles + 1), (jobId) => jobId);
          const taken = firstJobsWithin(
            jobIds,
            new Map([...counted].map(([jobId, entries]) => [jobId, entries.length])),
            maxFiles,
          );
          expect(taken).toEqual(jobIds.slice(0, taken.length));
          expect(taken.length).toBeGreaterThan(0);
          const total = taken.reduce((sum, jobId) => sum + (files[jobId - 1] ?? 0), 0);
          expect(taken.length === 1 || total <= maxFiles).toBe(true);
        },
      ),
    );
  });
});
