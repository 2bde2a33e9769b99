import { describe, expect, it } from 'vitest';
import { jobStatus, openStatuses, statusesBefore } from './job.ts';

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

  it.each([done, failed])('allows no status after the final status %s', (final) => {
    for (const to of Object.values(jobStatus)) expect(statusesBefore(to)).not.toContain(final);
  });
});
