import { describe, expect, it } from 'vitest';
import { failureOfJob } from './job-outcome.ts';

describe('the failure of a job', () => {
  it.each([
    [{ failedFiles: 0, cancelledFiles: 0, loadedFiles: 3 }, undefined],
    [{ failedFiles: 0, cancelledFiles: 0, loadedFiles: 0 }, undefined],
    [{ failedFiles: 1, cancelledFiles: 0, loadedFiles: 2 }, 'file_failed: 1 of 3 files failed.'],
    [
      { failedFiles: 3, cancelledFiles: 2, loadedFiles: 1 },
      'job_cancelled: The operator canceled the job: 2 of 4 files were not loaded.',
    ],
  ])('derives from %o the failure %s', (files, message) => {
    expect(failureOfJob(files)?.message).toBe(message);
  });
});
