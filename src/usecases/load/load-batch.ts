import { faultOfRows } from '@inlet/row-rule/file-rule';
import { Failure } from '../../domain/failure.ts';
import { failureOf } from '../../domain/file-failure.ts';
import { type BatchClaim, type FileOutcome, noRows, rejectedRows } from '../../ports/load-stage.ts';
import type { Trace } from '../../ports/observability.ts';
import { type StageBatchDeps, type StageResult, stageBatch } from './stage-batch.ts';

type LoadBatchDeps = StageBatchDeps & { readonly trace: Trace };

/**
 * Loads a batch of files as far as a file can go by itself: stage, count, decide. Each file is whole or not at all, and
 * a bad one does not fail its neighbours. The lane then publishes what was found good: see settle-loads.ts.
 *
 * Every attempt has a load id of its own and first removes what the attempt before left. An attempt that was believed
 * dead and wakes up can neither decide, because the attempt is no longer its own, nor does anyone publish its load.
 */
export async function loadBatch(deps: LoadBatchDeps, batchId: number, signal: AbortSignal): Promise<void> {
  const claim = await deps.files.claim(batchId);
  if (!claim) return;
  const { partnerId, jobId, loadId } = claim.load;
  const ids = { partnerId, jobId, batchId, loadId };
  const isNext = await deps.trace.span('load batch', ids, () => loadClaimed(deps, claim, signal));
  if (isNext) await loadBatch(deps, batchId, signal);
}

/** True when the batch is to be loaded once more, with what is left of it. */
async function loadClaimed(deps: LoadBatchDeps, claim: BatchClaim, signal: AbortSignal): Promise<boolean> {
  const { batchId } = claim;
  const { loadId, jobId } = claim.load;
  if (claim.previousLoadId !== null) await deps.stage.dropLoad(claim.previousLoadId);
  const outcomes = await stageOrDrop(deps, claim, signal);
  if (!outcomes) {
    deps.log.info({ batchId, jobId, loadId }, 'a load that nobody wants any more was stopped');
    return false;
  }
  const hasStaged = outcomes.some(({ is }) => is === 'staged');
  // From here on only a stage that nobody will publish may be dropped: an error of `commit` may come after its effect.
  const committed = await deps.files.commit(claim, outcomes);
  if (!committed || !hasStaged) await deps.stage.dropLoad(loadId);
  const failed = outcomes.flatMap((outcome) =>
    outcome.is === 'failed' ? [{ fileId: outcome.fileId, code: outcome.failure.code }] : [],
  );
  deps.log.info({ batchId, jobId, loadId, files: claim.files.length, failed, committed }, 'batch staged');
  // The file that gave the batch its id, and must be loaded alone, has the token that we hold: no other can be sent.
  return committed && outcomes.some(({ is, fileId }) => is === 'alone' && fileId === batchId);
}

/** Null when it failed because the claim was lost or the job cancelled: nothing is to be tried again then. */
async function stageOrDrop(
  deps: StageBatchDeps,
  claim: BatchClaim,
  signal: AbortSignal,
): Promise<FileOutcome[] | null> {
  try {
    return await judge(deps, claim, await stageBatch(deps, claim, signal));
  } catch (error) {
    await deps.stage.dropLoad(claim.load.loadId);
    if (!(await deps.files.noteProgress(claim, null))) return null;
    throw error;
  }
}

/** What the engine counted decides over the files that could be read. */
async function judge(deps: StageBatchDeps, claim: BatchClaim, read: readonly StageResult[]): Promise<FileOutcome[]> {
  if (!read.some(({ is }) => is === 'staged')) return read.flatMap(unread);
  const { load, badRowShare } = claim;
  const counted = await deps.stage.countRows(load.loadId);
  return read.flatMap((result): FileOutcome[] => {
    if (result.is !== 'staged') return unread(result);
    const { fileId } = result;
    const counts = counted.get(fileId) ?? noRows;
    const fault = faultOfRows({ accepted: counts.accepted, rejected: rejectedRows(counts) }, badRowShare);
    if (fault) return [{ is: 'failed', fileId, counts, failure: failureOf(fault) }];
    return [{ is: 'staged', fileId, counts }];
  });
}

/** What the stage itself decided over a file: it could not be read, or not here. */
function unread(result: StageResult): FileOutcome[] {
  if (result.is === 'failed') return [{ ...result, counts: noRows }];
  return result.is === 'alone' ? [result] : [];
}

/**
 * Ends a batch whose attempts are used up, so that its job can end and the lane goes on. A load that was found good is
 * not given up: there is nothing left to claim then.
 */
export async function abandonBatch(deps: StageBatchDeps, batchId: number): Promise<void> {
  const claim = await deps.files.claim(batchId);
  if (!claim) return;
  if (claim.previousLoadId !== null) await deps.stage.dropLoad(claim.previousLoadId);
  const attempts = claim.attempt - 1;
  if (claim.files.length > 1) {
    // One of them may be to blame: each is tried by itself before it is given up.
    await deps.files.commit(
      claim,
      claim.files.map(({ fileId }) => ({ is: 'alone', fileId })),
    );
    return deps.log.warn(
      { batchId, jobId: claim.load.jobId, attempts, files: claim.files.length },
      'batch taken apart',
    );
  }
  const failure = new Failure('load_abandoned', `The file could not be loaded after ${attempts} attempts.`);
  await deps.files.commit(
    claim,
    claim.files.map(({ fileId }) => ({ is: 'failed', fileId, counts: noRows, failure })),
  );
  deps.log.error({ batchId, jobId: claim.load.jobId, attempts }, 'batch given up');
}
