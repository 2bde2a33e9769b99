import type { AudienceScope } from '../../domain/audience.ts';
import { type RetriedAppend, type RetriedFiles, whyNotRetried } from '../../domain/audience-history.ts';
import { isCanceled, whyNotCanceled } from '../../domain/cancellation.ts';
import { Failure } from '../../domain/failure.ts';
import type { IdempotentRequest } from '../../domain/idempotency.ts';
import type { JobId } from '../../domain/ids.ts';
import type { WriteAudienceDeps } from './write-audiences.ts';

type Which = { readonly scope: AudienceScope; readonly audienceId: number; readonly appendId: JobId };

/** Cancels an append. Nothing is half-loaded: a file is loaded completely or not at all. */
export async function cancelAppend(
  deps: Pick<WriteAudienceDeps, 'audiences'>,
  { scope, audienceId, appendId }: Which,
  idempotency: IdempotentRequest | null = null,
): Promise<void> {
  await deps.audiences.cancelAppend(
    scope,
    audienceId,
    appendId,
    (found) => {
      if (!found) throw noSuchAppend(audienceId, appendId);
      if (isCanceled(found)) return found;
      throw new Failure('append_not_cancelable', `Append ${appendId} ${whyNotCanceled(found)}.`);
    },
    idempotency,
  );
}

/**
 * Appends the path of a failed append again. With `failed`, loads the current versions of the files that failed or were
 * canceled. Returns the ID of the new append.
 */
export async function retryAppend(
  deps: WriteAudienceDeps,
  { scope, audienceId, appendId }: Which,
  { files, requestedBy }: { readonly files: RetriedFiles; readonly requestedBy: string },
  idempotency: IdempotentRequest | null = null,
): Promise<JobId> {
  const accept = (found: RetriedAppend | null): { readonly onlyFailed: boolean } => {
    if (!found) throw noSuchAppend(audienceId, appendId);
    const reason = whyNotRetried(found, files);
    if (reason !== null) throw new Failure('append_not_retryable', `Append ${appendId} ${reason}.`);
    return { onlyFailed: files === 'failed' && found.failedFiles !== null };
  };
  const retry = { accept, maxOpenJobs: deps.limits.maxOpenJobs, requestedBy };
  return deps.audiences.retryAppend(scope, audienceId, appendId, retry, idempotency);
}

function noSuchAppend(audienceId: number, appendId: JobId): Failure {
  return new Failure('not_found', `Audience ${audienceId} has no append ${appendId}.`);
}
