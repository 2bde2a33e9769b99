import { describe, expect, it } from 'vitest';
import { jobKind, jobStatus } from '../../domain/job.ts';
import type { JobState } from '../../ports/operations.ts';
import { commandsForJob, commandsForLane, commandsForPartner } from './available-commands.ts';

const started = new Date(1);
const pending: JobState = {
  id: 12,
  partner: 'acme',
  seq: 1,
  kind: jobKind.import,
  status: jobStatus.pending,
  isCancelled: false,
  path: 'a.csv',
  failure: null,
  createdAt: new Date(0),
  startedAt: null,
  finishedAt: null,
  hasUnreadFiles: false,
  isFromPartnerBucket: false,
  isCleared: false,
};
const running = { ...pending, status: jobStatus.running, startedAt: started, hasUnreadFiles: true };
const failed = { ...pending, status: jobStatus.failed, startedAt: started, finishedAt: started };

describe('the commands for a job', () => {
  it.each<[string, JobState, string[]]>([
    ['a pending job', pending, ['show', 'cancel']],
    ['a canceled job that is still pending', { ...pending, isCancelled: true }, ['show']],
    ['a running job with unread files', running, ['show', 'cancel']],
    ['a running job without unread files', { ...running, hasUnreadFiles: false }, ['show']],
    ['a pending delete', { ...pending, kind: jobKind.delete }, ['show', 'cancel']],
    ['a running delete', { ...running, kind: jobKind.delete }, ['show']],
    ['a finished job', { ...failed, status: jobStatus.done }, ['show']],
    ['a failed import', failed, ['show', 'retry']],
    ['a failed delete', { ...failed, kind: jobKind.delete }, ['show']],
    ["a failed import from the partner's bucket", { ...failed, isFromPartnerBucket: true }, ['show']],
    ['a failed load of an audience', { ...failed, kind: jobKind.audience }, ['show', 'retry']],
    ['a failed load of a cleared audience', { ...failed, kind: jobKind.audience, isCleared: true }, ['show']],
  ])('are those that the command line accepts: %s', (_name, job, actions) => {
    expect(commandsForJob(job).map(({ action }) => action)).toEqual(actions);
  });

  it('name the job', () => {
    expect(commandsForJob(running).map(({ command }) => command)).toEqual([
      'inlet jobs show 12',
      'inlet jobs cancel 12',
    ]);
    expect(commandsForJob(failed).at(-1)?.command).toBe('inlet jobs retry 12');
  });
});

describe('the commands for a partner and its lane', () => {
  it('suspend the partner, or resume it if it is suspended', () => {
    const oldestJob = { ...pending, since: pending.createdAt };
    const last = (commands: ReturnType<typeof commandsForJob>): string | undefined => commands.at(-1)?.command;
    expect(last(commandsForLane({ partner: 'acme', isSuspended: false, oldestJob }))).toBe(
      'inlet partner suspend acme',
    );
    expect(last(commandsForLane({ partner: 'acme', isSuspended: true, oldestJob }))).toBe('inlet partner resume acme');
    expect(last(commandsForPartner({ name: 'acme', suspendedAt: null }))).toBe('inlet partner suspend acme');
    expect(last(commandsForPartner({ name: 'acme', suspendedAt: started }))).toBe('inlet partner resume acme');
  });
});
