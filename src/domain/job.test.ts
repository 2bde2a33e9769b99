import { describe, expect, it } from 'vitest';
import { jobStatus, openStatuses, statusesBefore } from './job.ts';

const { pending, running, done, failed } = jobStatus;

describe('job statuses', () => {
  it('have the numbers of the specification', () => {
    expect(jobStatus).toEqual({ pending: 0, running: 1, done: 2, failed: 3 });
  });

  it.each([
    { name: 'pending', to: pending, from: [] },
    { name: 'running', to: running, from: [pending] },
    { name: 'done', to: done, from: [running] },
    { name: 'failed', to: failed, from: [pending, running] },
  ])('reach $name only from $from', ({ to, from }) => {
    expect(statusesBefore(to)).toEqual(from);
  });

  it('are open until done or failed', () => {
    expect(openStatuses).toEqual([pending, running]);
  });

  it.each([done, failed])('never leave the final status %s', (final) => {
    for (const to of Object.values(jobStatus)) expect(statusesBefore(to)).not.toContain(final);
  });
});
