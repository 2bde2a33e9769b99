import { Failure } from '../domain/failure.ts';
import { failureOfRows } from '../domain/file-outcome.ts';
import type { FileClaim } from '../ports/file-store.ts';
import { rejectedRows, type LoadCounts } from '../ports/warehouse.ts';
import { publishStaged, type PublishDeps } from './publish-staged.ts';
import { stageFile, type StageFileDeps } from './stage-file.ts';

export type LoadFileDeps = StageFileDeps & PublishDeps;

const nothing: LoadCounts = { accepted: 0, rejects: [] };

/**
 * Loads one file, whole or not at all: stage, count, decide, publish, commit, drop the stage.
 *
 * Every attempt that stages has a load id of its own and first removes what the attempt before left. An attempt that
 * was believed dead and wakes up finds its stage gone, so it can publish nothing; and it can neither decide nor
 * commit, because the attempt is no longer its own. Once a load was found good, it is published and committed by
 * whoever holds the file then: a file cannot fail after any of its rows became visible.
 */
export async function loadFile(deps: LoadFileDeps, fileId: number, signal: AbortSignal): Promise<void> {
  const claim = await deps.files.claim(fileId);
  if (!claim) return;
  if (claim.isStaged) return publishStaged(deps, claim);
  if (claim.previousLoadId !== null) await deps.warehouse.dropLoad(claim.previousLoadId);
  const { failure, counts } = await stageOrDrop(deps, claim, signal);
  // From here on nothing may drop the stage before it is published: an error of `markStaged` may come after its effect.
  if (!failure && (await deps.files.markStaged(claim))) return publishStaged(deps, claim);
  if (failure) {
    const committed = await deps.files.commitFailed(claim, failure, counts);
    deps.log.info({ fileId, jobId: claim.load.jobId, code: failure.code, committed }, 'file failed');
  }
  await deps.warehouse.dropLoad(claim.load.loadId);
}

async function stageOrDrop(deps: LoadFileDeps, claim: FileClaim, signal: AbortSignal): Promise<Outcome> {
  try {
    return await stageAndJudge(deps, claim, signal);
  } catch (error) {
    await deps.warehouse.dropLoad(claim.load.loadId);
    throw error;
  }
}

type Outcome = { readonly failure: Failure | null; readonly counts: LoadCounts };

async function stageAndJudge(deps: LoadFileDeps, claim: FileClaim, signal: AbortSignal): Promise<Outcome> {
  try {
    await stageFile(deps, claim, signal);
  } catch (error) {
    if (error instanceof Failure && error.isFinal) return { failure: error, counts: nothing };
    throw error;
  }
  const counts = await deps.warehouse.countRows(claim.load);
  return { failure: failureOfRows({ accepted: counts.accepted, rejected: rejectedRows(counts) }), counts };
}
