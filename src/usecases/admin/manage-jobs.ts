import type { JobId } from '../../domain/ids.ts';
import { Failure } from '../../domain/failure.ts';
import { pathType } from '../../domain/import-log.ts';
import { jobStatus } from '../../domain/job.ts';
import type { Cancellation, Operations, JobRequest } from '../../ports/operations.ts';
import { type QueueImportDeps, queueImport } from '../accept/queue-import.ts';
import { type WriteAudienceDeps, appendAudienceFiles } from '../accept/write-audiences.ts';

export function noSuchJob(jobId: JobId): Failure {
  return new Failure('not_found', `Job ${jobId} does not exist. Run \`inlet jobs list\` to see the jobs.`);
}

type Done = Extract<Cancellation, { readonly is: 'never started' | 'stopped' }>;

/** Cancels a job without leaving partial loads. If the job cannot be canceled, the failure describes its state. */
export async function cancelJob(deps: { readonly operations: Operations }, jobId: JobId): Promise<Done> {
  const cancelled = await deps.operations.cancelJob(jobId);
  if (!cancelled) throw noSuchJob(jobId);
  if (cancelled.is === 'never started' || cancelled.is === 'stopped') return cancelled;
  throw new Failure('job_not_cancellable', `Job ${jobId} ${describeState(cancelled)}.`);
}

function describeState(state: Exclude<Cancellation, Done>): string {
  if (state.is === 'deleting') return 'has started to delete rows, which cannot be undone';
  if (state.is === 'loaded') return 'has no files left to cancel; all have failed, are loaded, or are being published';
  return state.status === jobStatus.done ? 'is done' : 'has already failed (status 3)';
}

export type RetryJobDeps = QueueImportDeps & WriteAudienceDeps & { readonly operations: Operations };

/** Submits the job's request again, at the end of the partner's lane. Returns the ID of the new job. */
export async function retryJob(deps: RetryJobDeps, jobId: JobId): Promise<number> {
  const found = await deps.operations.findRequest(jobId);
  if (!found) throw noSuchJob(jobId);
  const reason = reasonNotToRetry(found);
  if (reason !== null) throw new Failure('job_not_retryable', `Job ${jobId} ${reason}.`);
  const { partner, original } = found;
  if (original.kind === 'import') return queueImport(deps, partner, { ...original.request, credentials: null });
  if (original.kind === 'delete') throw new Error(`job ${jobId} is a delete`);
  return appendAudienceFiles(deps, { partner, scope: original.scope }, original.audienceId, original.filePath);
}

function reasonNotToRetry({ status, original }: JobRequest): string | null {
  if (status === jobStatus.done) return 'is done; there is nothing to retry';
  if (status !== jobStatus.failed) return 'is not finished; Inlet retries it automatically';
  // A delete at a later position would also remove data that was imported in the meantime.
  if (original.kind === 'delete')
    return 'is a delete; only the partner can decide what to delete now and submit a new request';
  if (original.kind === 'import' && original.request.pathType === pathType.partnerBucket)
    return 'reads a partner-owned bucket, and its credentials were deleted when it finished; the partner must submit the import again';
  if (original.kind === 'audience' && original.isCleared)
    return `belongs to audience ${original.audienceId}, which has been cleared; the partner must append the files again`;
  return null;
}
