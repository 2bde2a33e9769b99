import { type JobKind, type JobStatus, jobKind, jobStatus, openStatuses } from '../../domain/job.ts';
import type { JobState, LaneState, PartnerState } from '../../ports/operations.ts';

/** A command that an operator can run now. The operator API only reads, so actions are commands. */
export type AvailableCommand = {
  readonly action: 'show' | 'cancel' | 'retry' | 'list_jobs' | 'list_keys' | 'suspend' | 'resume';
  readonly command: string;
};

type CancelFacts = {
  readonly kind: JobKind;
  readonly status: JobStatus;
  readonly isCancelled: boolean;
  readonly startedAt: Date | null;
  readonly hasUnreadFiles: boolean;
};

/** Follows the rules that `inlet jobs cancel` applies under the lock on the lane. */
function canCancel({ kind, status, isCancelled, startedAt, hasUnreadFiles }: CancelFacts): boolean {
  if (!openStatuses.includes(status) || isCancelled) return false;
  return startedAt === null || (kind !== jobKind.delete && hasUnreadFiles);
}

/** What prevents a retry. */
type RetryBlocker = 'done' | 'open' | 'delete' | 'partner bucket' | 'cleared audience';

export function retryBlockerOf(
  job: Pick<JobState, 'status' | 'kind' | 'isFromPartnerBucket' | 'isCleared'>,
): RetryBlocker | null {
  if (job.status === jobStatus.done) return 'done';
  if (job.status !== jobStatus.failed) return 'open';
  // A delete at a later position would also remove data that was imported in the meantime.
  if (job.kind === jobKind.delete) return 'delete';
  if (job.isFromPartnerBucket) return 'partner bucket';
  return job.isCleared ? 'cleared audience' : null;
}

export function commandsForJob(job: JobState): AvailableCommand[] {
  return [
    showJob(job.id),
    ...(canCancel(job) ? [cancelJob(job.id)] : []),
    ...(retryBlockerOf(job) === null ? [{ action: 'retry' as const, command: `inlet jobs retry ${job.id}` }] : []),
  ];
}

export function commandsForLane({
  partner,
  isSuspended,
  oldestJob,
}: Pick<LaneState, 'partner' | 'isSuspended' | 'oldestJob'>): AvailableCommand[] {
  return [
    listJobs(partner),
    showJob(oldestJob.id),
    ...(canCancel(oldestJob) ? [cancelJob(oldestJob.id)] : []),
    suspendOrResume(partner, isSuspended),
  ];
}

export function commandsForPartner({
  name,
  suspendedAt,
}: Pick<PartnerState, 'name' | 'suspendedAt'>): AvailableCommand[] {
  return [
    { action: 'show', command: `inlet partner show ${name}` },
    listJobs(name),
    { action: 'list_keys', command: `inlet key list --partner ${name}` },
    suspendOrResume(name, suspendedAt !== null),
  ];
}

const showJob = (id: number): AvailableCommand => ({ action: 'show', command: `inlet jobs show ${id}` });
const cancelJob = (id: number): AvailableCommand => ({ action: 'cancel', command: `inlet jobs cancel ${id}` });
const listJobs = (partner: string): AvailableCommand => ({
  action: 'list_jobs',
  command: `inlet jobs list --partner ${partner}`,
});

function suspendOrResume(partner: string, isSuspended: boolean): AvailableCommand {
  const action = isSuspended ? 'resume' : 'suspend';
  return { action, command: `inlet partner ${action} ${partner}` };
}
