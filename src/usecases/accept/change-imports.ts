import { isCanceled, whyNotCanceled } from '../../domain/cancellation.ts';
import { Failure } from '../../domain/failure.ts';
import type { IdempotentRequest } from '../../domain/idempotency.ts';
import { importMode } from '../../domain/import-log.ts';
import type { RetriedFiles } from '../../domain/audience-history.ts';
import { jobStatus } from '../../domain/job.ts';
import type { BucketCredentials } from '../../domain/partner-bucket.ts';
import type { Partner } from '../../domain/partner.ts';
import type { ImportLogStore, SubmittedImport } from '../../ports/import-log-store.ts';
import { noSuchImportLog } from '../follow/read-import-logs.ts';
import { type QueueImportDeps, queueImport } from './queue-import.ts';

/** Cancels an import or a delete of the partner. Nothing is half-loaded: a file is loaded completely or not at all. */
export async function cancelImport(
  deps: { readonly importLogs: ImportLogStore },
  partner: Partner,
  importLogId: number,
  idempotency: IdempotentRequest | null = null,
): Promise<void> {
  await deps.importLogs.cancel(
    partner.id,
    importLogId,
    (found) => {
      if (!found) throw noSuchImportLog(importLogId);
      if (isCanceled(found)) return found;
      throw new Failure('import_not_cancelable', `Import log ${importLogId} ${whyNotCanceled(found)}.`);
    },
    idempotency,
  );
}

/**
 * Submits a failed import again, at the end of the lane. The credentials of a partner's own bucket must be sent again,
 * because they were deleted when the import ended. Returns the ID of the new import log. With `failed`, loads the
 * current versions of the files that failed or were canceled. An import whose files were never listed has no files, so
 * its path is listed again.
 */
export async function retryImport(
  deps: QueueImportDeps,
  partner: Partner,
  importLogId: number,
  { credentials, files }: { readonly credentials: BucketCredentials | null; readonly files: RetriedFiles },
  idempotency: IdempotentRequest | null = null,
): Promise<number> {
  const submitted = await deps.importLogs.findSubmitted(partner.id, importLogId);
  if (!submitted) {
    if (!(await deps.importLogs.find(partner.id, importLogId))) throw noSuchImportLog(importLogId);
    // A delete that runs later would also remove rows that were imported in the meantime.
    throw notRetryable(importLogId, 'is a delete. Send a new delete with the keys that you want to delete now');
  }
  const reason = whyNotRetried(submitted, files);
  if (reason !== null) throw notRetryable(importLogId, reason);
  const { status: _status, failedFiles, ...request } = submitted;
  const onlyFailed = files === 'failed' && failedFiles !== null;
  return queueImport(deps, partner, { ...request, credentials, retryOf: importLogId, onlyFailed }, idempotency);
}

function whyNotRetried({ status, mode, failedFiles }: SubmittedImport, files: RetriedFiles): string | null {
  if (status === jobStatus.done) return 'is done, so there is nothing to retry';
  if (status !== jobStatus.failed) return 'has not finished';
  if (files === 'all') return null;
  // A replacing import deletes the old data of every attribute in its files, so the data of the other files would be lost.
  if (mode === importMode.replace)
    return 'replaces data, which needs all of its files. Retry all files, or queue a new import with mode "merge"';
  return failedFiles === 0 ? 'has no failed files' : null;
}

function notRetryable(importLogId: number, reason: string): Failure {
  return new Failure('import_not_retryable', `Import log ${importLogId} ${reason}.`);
}
