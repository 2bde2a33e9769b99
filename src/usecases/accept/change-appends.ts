import type { AudienceScope } from '../../domain/audience.ts';
import { type RetriedFiles, whyNotRetried } from '../../domain/audience-history.ts';
import { isCanceled, whyNotCanceled } from '../../domain/cancellation.ts';
import { Failure } from '../../domain/failure.ts';
import type { IdempotentRequest } from '../../domain/idempotency.ts';
import type { JobId } from '../../domain/ids.ts';
import type { AudiencePath } from '../../domain/source-file.ts';
import { requireOwnFolder } from '../../domain/upload.ts';
import type { AppendRetry } from '../../ports/audience-store.ts';
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
  {
    files,
    requestedBy,
    signedInCustomerId,
  }: {
    readonly files: RetriedFiles;
    readonly requestedBy: string;
    /** The customer that is signed in to the console. Null if the partner's program makes the call. */
    readonly signedInCustomerId: number | null;
  },
  idempotency: IdempotentRequest | null = null,
): Promise<JobId> {
  const accept: AppendRetry['accept'] = (found) => {
    if (!found) throw noSuchAppend(audienceId, appendId);
    // The partner's program may have appended a path outside of the customer's folder.
    if (signedInCustomerId !== null) requireOwnPath(signedInCustomerId, found.path);
    const reason = whyNotRetried(found.state, files);
    if (reason !== null) throw new Failure('append_not_retryable', `Append ${appendId} ${reason}.`);
    return { onlyFailed: files === 'failed' && found.state.failedFiles !== null };
  };
  const retry = { accept, maxOpenJobs: deps.limits.maxOpenJobs, requestedBy };
  return deps.audiences.retryAppend(scope, audienceId, appendId, retry, idempotency);
}

function requireOwnPath(customerId: number, { relative, literal }: AudiencePath): void {
  requireOwnFolder(customerId, relative);
  if (literal !== null) requireOwnFolder(customerId, literal);
}

function noSuchAppend(audienceId: number, appendId: JobId): Failure {
  return new Failure('not_found', `Audience ${audienceId} has no append ${appendId}.`);
}
