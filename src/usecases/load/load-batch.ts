import type { BatchId } from '../../domain/ids.ts';
import type { BatchClaim, FileOutcome } from '../../ports/load-stage.ts';
import type { Trace } from '../../ports/observability.ts';
import { decideAbandonedOutcomes, decideFileOutcomes, isReloadDue } from './decide-outcomes.ts';
import { type StageBatchDeps, stageBatch } from './stage-batch.ts';

type LoadBatchDeps = StageBatchDeps & { readonly trace: Trace };

/**
 * Loads a batch of files up to the point of no return. Stages the rows, counts them, and decides for each file. A file
 * is loaded completely or not at all, and a bad file does not fail its neighbors. The lane then publishes what was
 * staged: see lane/publish-loads.ts.
 *
 * Each attempt has its own load ID and first removes what the previous attempt left. An attempt that was presumed dead
 * and resumes cannot commit, because the claim is no longer its own, and its load is never published.
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
    deps.log.info({ batchId, jobId, loadId }, 'load stopped: its claim was lost or its job canceled');
    return false;
  }
  const hasStaged = outcomes.some(({ is }) => is === 'staged');
  // From here on, drop only a staging table that is never published: `commit` may take effect although it throws.
  const committed = await deps.files.commit(claim, outcomes);
  if (!committed || !hasStaged) await deps.stage.dropLoad(loadId);
  const failed = outcomes.flatMap((outcome) =>
    outcome.is === 'failed' ? [{ fileId: outcome.fileId, code: outcome.failure.code }] : [],
  );
  deps.log.info({ batchId, jobId, loadId, files: claim.files.length, failed, committed }, 'batch staged');
  return committed && isReloadDue(claim, outcomes);
}

/**
 * Returns null if staging failed because the claim was lost or the job was canceled. There is then nothing to retry.
 */
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
 * Ends a batch that is out of attempts, so that its job can end and the lane can continue. A staged batch is not
 * abandoned, because there is nothing left to claim.
 */
export async function abandonBatch(deps: StageBatchDeps, batchId: BatchId): Promise<void> {
  const claim = await deps.files.claim(batchId);
  if (!claim) return;
  if (claim.previousLoadId !== null) await deps.stage.dropLoad(claim.previousLoadId);
  const outcomes = decideAbandonedOutcomes(claim);
  await deps.files.commit(claim, outcomes);
  const fields = { batchId, jobId: claim.load.jobId, attempts: claim.attempt - 1, files: claim.files.length };
  if (claim.files.length > 1) deps.log.warn(fields, 'batch split: each file is retried alone');
  else deps.log.error(fields, 'batch abandoned');
}
