import type { JobId } from '../../domain/ids.ts';
import { type Canceled, isCanceled, whyNotCanceled } from '../../domain/cancellation.ts';
import { Failure } from '../../domain/failure.ts';
import { pathType } from '../../domain/import-log.ts';
import type { JobRequest, OperatorCancellation, Operations } from '../../ports/operations.ts';
import { type QueueImportDeps, queueImport } from '../accept/queue-import.ts';
import { type WriteAudienceDeps, appendAudienceFiles } from '../accept/write-audiences.ts';
import { retryBlockerOf } from './available-commands.ts';

export function noSuchJob(jobId: JobId): Failure {
  return new Failure('not_found', `Job ${jobId} does not exist. Run \`inlet jobs list\` to see the jobs.`);
}

/** Cancels a job without leaving partial loads. If the job cannot be canceled, the failure describes its state. */
export async function cancelJob(
  deps: { readonly operations: Operations },
  jobId: JobId,
): Promise<OperatorCancellation & Canceled> {
  const cancelled = await deps.operations.cancelJob(jobId);
  if (!cancelled) throw noSuchJob(jobId);
  if (isCanceled(cancelled)) return cancelled;
  throw new Failure('job_not_cancellable', `Job ${jobId} ${whyNotCanceled(cancelled)}.`);
}

export type RetryJobDeps = QueueImportDeps & WriteAudienceDeps & { readonly operations: Operations };

/** Submits the job's request again, at the end of the partner's lane. Returns the ID of the new job. */
export async function retryJob(deps: RetryJobDeps, jobId: JobId): Promise<number> {
  const found = await deps.operations.findRequest(jobId);
  if (!found) throw noSuchJob(jobId);
  const reason = reasonNotToRetry(found);
  if (reason !== null) throw new Failure('job_not_retryable', `Job ${jobId} ${reason}.`);
  const { partner, original } = found;
  if (original.kind === 'import')
    return queueImport(deps, partner, { ...original.request, credentials: null, retryOf: jobId });
  if (original.kind === 'delete') throw new Error(`job ${jobId} is a delete`);
  return appendAudienceFiles(
    deps,
    { partner, scope: original.scope, signedInCustomerId: null },
    original.audienceId,
    original.filePath,
  );
}

function reasonNotToRetry({ status, original }: JobRequest): string | null {
  const blocker = retryBlockerOf({
    status,
    kind: original.kind,
    isFromPartnerBucket: original.kind === 'import' && original.request.pathType === pathType.partnerBucket,
    isCleared: original.kind === 'audience' && original.isCleared,
  });
  switch (blocker) {
    case null:
      return null;
    case 'done':
      return 'is done; there is nothing to retry';
    case 'open':
      return 'is not finished; Inlet retries it automatically';
    case 'delete':
      return 'is a delete; only the partner can decide what to delete now and submit a new request';
    case 'partner bucket':
      return 'reads a partner-owned bucket, and its credentials were deleted when it finished; the partner must submit the import again';
    case 'cleared audience': {
      const audience = original.kind === 'audience' ? `audience ${original.audienceId}` : 'an audience';
      return `belongs to ${audience}, which has been cleared; the partner must append the files again`;
    }
  }
}
