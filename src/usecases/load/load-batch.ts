import type { BatchId } from '../../domain/ids.ts';
import type { BatchClaim, FileOutcome } from '../../ports/load-stage.ts';
import type { Trace } from '../../ports/observability.ts';
import { decideAbandonedOutcomes, decideFileOutcomes, isReloadDue } from './decide-outcomes.ts';
import { type StageBatchDeps, stageBatch } from './stage-batch.ts';

type LoadBatchDeps = StageBatchDeps & { readonly trace: Trace };

/**
 * Loads a batch of files up to the point of no return. Stages the rows, counts them, and decides the outcome of each
 * file. A file is loaded completely or not at all, and an invalid file does not affect other files. The lane then
 * publishes the staged files (see lane/publish-loads.ts).
 *
 * Each attempt has its own load ID and first removes the data that the previous attempt left. If a worker that was
 * presumed dead resumes its attempt, the attempt cannot commit, because another attempt has claimed the batch. Its load
 * is never published.
 */
export async function loadBatch(deps: LoadBatchDeps, batchId: BatchId, signal: AbortSignal): Promise<void> {
  const claim = await deps.files.claim(batchId);
  if (!claim) return;
  const { partnerId, jobId, loadId } = claim.load;
  const ids = { partnerId, jobId, batchId, loadId };
  const isDue = await deps.trace.span('load batch', ids, () => loadClaimed(deps, claim, signal));
  if (isDue) await loadBatch(deps, batchId, signal);
}

/** Returns true if the rest of the batch must be loaded again immediately. */
async function loadClaimed(deps: LoadBatchDeps, claim: BatchClaim, signal: AbortSignal): Promise<boolean> {
  const { batchId } = claim;
  const { loadId, jobId } = claim.load;
  if (claim.previousLoadId !== null) await deps.stage.dropLoad(claim.previousLoadId);
  const outcomes = await stageOrDrop(deps, claim, signal);
  if (!outcomes) {
    deps.log.info({ batchId, jobId, loadId }, 'load stopped because its claim was lost or its job was canceled');
    return false;
  }
  const hasStaged = outcomes.some(({ is }) => is === 'staged');
  // `commit` may take effect even if it throws. From here on, drop a staging table only if it is certain that it is
  // never published.
  const committed = await deps.files.commit(claim, outcomes);
  if (!committed || !hasStaged) await deps.stage.dropLoad(loadId);
  const failed = outcomes.flatMap((outcome) =>
    outcome.is === 'failed' ? [{ fileId: outcome.fileId, code: outcome.failure.code }] : [],
  );
  deps.log.info({ batchId, jobId, loadId, files: claim.files.length, failed, committed }, 'batch staged');
  return committed && isReloadDue(claim, outcomes);
}

/** Returns null if staging failed because the claim was lost or the job was canceled. Such a failure is not retried. */
async function stageOrDrop(
  deps: StageBatchDeps,
  claim: BatchClaim,
  signal: AbortSignal,
): Promise<FileOutcome[] | null> {
  const { loadId } = claim.load;
  try {
    const results = await stageBatch(deps, claim, signal);
    const hasStaged = results.some(({ is }) => is === 'staged');
    const counted = hasStaged ? await deps.stage.countRows(loadId) : new Map();
    return decideFileOutcomes(results, counted, claim.badRowShare);
  } catch (error) {
    await deps.stage.dropLoad(loadId);
    if (!(await deps.files.recordProgress(claim, null))) return null;
    throw error;
  }
}

/**
 * Ends a batch that has no attempts left, so that its job can end and the lane can continue. A staged batch is not
 * abandoned, because it cannot be claimed again.
 */
export async function abandonBatch(deps: StageBatchDeps, batchId: BatchId): Promise<void> {
  const claim = await deps.files.claim(batchId);
  if (!claim) return;
  if (claim.previousLoadId !== null) await deps.stage.dropLoad(claim.previousLoadId);
  const outcomes = decideAbandonedOutcomes(claim);
  await deps.files.commit(claim, outcomes);
  const fields = { batchId, jobId: claim.load.jobId, attempts: claim.attempt - 1, files: claim.files.length };
  if (claim.files.length > 1) deps.log.warn(fields, 'batch split; each file is retried alone');
  else deps.log.error(fields, 'batch abandoned');
}
