import type { JobId } from '../../domain/ids.ts';
import { Failure } from '../../domain/failure.ts';
import { pathType } from '../../domain/import-log.ts';
import { jobStatus } from '../../domain/job.ts';
import type { Cancellation, Operations, JobRequest } from '../../ports/operations.ts';
import { type QueueImportDeps, queueImport } from '../accept/queue-import.ts';
import { type WriteAudienceDeps, appendAudienceFiles } from '../accept/write-audiences.ts';

/** To an operator. */
export function noSuchJob(jobId: JobId): Failure {
  return new Failure('not_found', `There is no job ${jobId}. See \`inlet jobs list\`.`);
}

type Done = Extract<Cancellation, { readonly is: 'never started' | 'stopped' }>;

/** Ends a job of whichever partner, without anything of it half-loaded; a refusal says what the job is at. */
export async function cancelJob(deps: { readonly operations: Operations }, jobId: JobId): Promise<Done> {
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

export type RetryJobDeps = QueueImportDeps & WriteAudienceDeps & { readonly operations: Operations };

/** Asks for the same again on behalf of the partner, at the end of its lane. Gives the id of the new job. */
export async function retryJob(deps: RetryJobDeps, jobId: JobId): Promise<number> {
  const found = await deps.operations.findRequest(jobId);
  if (!found) throw noSuchJob(jobId);
  const reason = whyNot(found);
  if (reason !== null) throw new Failure('job_not_retryable', `Job ${jobId} ${reason}.`);
  const { partner, asked } = found;
  if (asked.kind === 'import') return queueImport(deps, partner, { ...asked.request, credentials: null });
  if (asked.kind === 'delete') throw new Error(`job ${jobId} is a delete`);
  // With the prefix, which is taken away again: the path may by itself begin with the same letters.
  const filePath = partner.prefix + asked.filePath;
  return appendAudienceFiles(deps, { partner, scope: asked.scope }, asked.audienceId, filePath);
}

function whyNot({ status, asked }: JobRequest): string | null {
  if (status === jobStatus.done) return 'is done: there is nothing to do again';
  if (status !== jobStatus.failed) return 'has not ended; it goes on by itself';
  // At a later place it would also remove what was imported since, for good.
  if (asked.kind === 'delete') return 'is a delete: only the partner can say what is to go now, by another delete';
  if (asked.kind === 'import' && asked.request.pathType === pathType.partnerBucket)
    return 'read a bucket of the partner, whose credentials were wiped when it ended: the partner must send the import again';
  if (asked.kind === 'audience' && asked.isCleared)
    return `was for audience ${asked.audienceId} before it was cleared: what is to be in it now only the partner can say, by an append`;
  return null;
}
