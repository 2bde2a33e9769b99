import { Failure } from '../domain/failure.ts';
import { publishStaged, type PublishDeps } from './publish-staged.ts';

/**
 * Ends a file whose attempts are used up, so that its job can end and the lane goes on. A load that was found good is
 * not given up: some of its rows may be visible already.
 */
export async function giveUpFile(deps: PublishDeps, fileId: number): Promise<void> {
  const claim = await deps.files.claim(fileId);
  if (!claim) return;
  if (claim.isStaged) return publishStaged(deps, claim);
  if (claim.previousLoadId !== null) await deps.warehouse.dropLoad(claim.previousLoadId);
  const failure = new Failure('load_abandoned', `The file could not be loaded after ${claim.attempt - 1} attempts.`);
  await deps.files.commitFailed(claim, failure, { accepted: 0, rejects: [] });
  deps.log.error({ fileId, jobId: claim.load.jobId, attempts: claim.attempt - 1 }, 'file given up');
}
