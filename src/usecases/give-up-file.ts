import { Failure } from '../domain/failure.ts';
import type { FileStore } from '../ports/file-store.ts';
import type { Log } from '../ports/log.ts';
import type { Warehouse } from '../ports/warehouse.ts';

type Deps = { readonly files: FileStore; readonly warehouse: Warehouse; readonly log: Log };

/** Ends a file whose attempts are used up, so that its job can end and the lane goes on. */
export async function giveUpFile(deps: Deps, fileId: number): Promise<void> {
  const claim = await deps.files.claim(fileId);
  if (!claim) return;
  if (claim.previousLoadId !== null) await deps.warehouse.dropLoad(claim.previousLoadId);
  const failure = new Failure('load_abandoned', `The file could not be loaded after ${claim.attempt - 1} attempts.`);
  await deps.files.commitFailed(claim, failure, { accepted: 0, rejects: [] });
  deps.log.error({ fileId, jobId: claim.load.jobId, attempts: claim.attempt - 1 }, 'file given up');
}
