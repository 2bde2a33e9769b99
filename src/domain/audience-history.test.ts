import { describe, expect, it } from 'vitest';
import { type RetriedAppend, whyNotRetried } from './audience-history.ts';
import { jobStatus } from './job.ts';

const failed: RetriedAppend = { status: jobStatus.failed, isCleared: false, failedFiles: 2 };

describe('retrying an append', () => {
  it.each([
    ['a failed append', failed],
    ['an append whose files were never listed', { ...failed, failedFiles: null }],
  ])('is possible for %s', (_name, append) => {
    expect([whyNotRetried(append, 'all'), whyNotRetried(append, 'failed')]).toEqual([null, null]);
  });

  it.each([
    ['a waiting append', { ...failed, status: jobStatus.pending }, 'has not finished'],
    ['a running append', { ...failed, status: jobStatus.running }, 'has not finished'],
    ['a loaded append', { ...failed, status: jobStatus.done }, 'is done, so there is nothing to retry'],
    ['a cleared append', { ...failed, isCleared: true }, 'belongs to data that was cleared. Append the files again'],
  ])('is not possible for %s', (_name, append, reason) => {
    expect(whyNotRetried(append, 'all')).toBe(reason);
  });

  it('requires a failed file if only failed files are retried', () => {
    const append = { ...failed, failedFiles: 0 };
    expect(whyNotRetried(append, 'failed')).toBe('has no failed files left to retry');
    expect(whyNotRetried(append, 'all')).toBeNull();
  });
});
