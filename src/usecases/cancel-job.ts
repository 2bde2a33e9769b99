import { Failure } from '../domain/failure.ts';
import { jobStatus } from '../domain/job.ts';
import type { Cancellation, Operations } from '../ports/operations.ts';
import { noSuchJob } from './no-such-job.ts';

type Done = Extract<Cancellation, { readonly is: 'never started' | 'stopped' }>;

/** Ends a job of whichever partner, without anything of it half-loaded; a refusal says what the job is at. */
export async function cancelJob(deps: { readonly operations: Operations }, jobId: number): Promise<Done> {
  const cancelled = await deps.operations.cancelJob(jobId);
  if (!cancelled) throw noSuchJob(jobId);
  if (cancelled.is === 'never started' || cancelled.is === 'stopped') return cancelled;
  throw new Failure('job_not_cancellable', `Job ${jobId} ${whatItIsAt(cancelled)}.`);
}

function whatItIsAt(refused: Exclude<Cancellation, Done>): string {
  if (refused.is === 'deleting') return 'has begun to delete in the engine, which cannot be undone';
  if (refused.is === 'loaded') return 'has no file left to cancel: each has failed, is loaded or is being published';
  return refused.status === jobStatus.done ? 'is done' : 'has ended with status 3 already';
}
