import { importMode } from '../domain/import-log.ts';
import type { FileClaim, FileStore } from '../ports/file-store.ts';
import type { Log } from '../ports/log.ts';
import type { Warehouse } from '../ports/warehouse.ts';

export type PublishDeps = { readonly files: FileStore; readonly warehouse: Warehouse; readonly log: Log };

/**
 * Brings a load that was found good to its end; may be repeated from any point by another attempt. The stage goes
 * after publishing and before the commit: when the lane moves on, nothing of this load can still be on its way into
 * the warehouse, where a later delete might just have been. An attempt that finds the stage gone has nothing left to
 * publish, because it was dropped only when all was there. A replacing job publishes at its end, so its stages stay.
 */
export async function publishStaged(deps: PublishDeps, claim: FileClaim): Promise<void> {
  const { load, mode, attempt } = claim;
  const { fileId, jobId, loadId } = load;
  if (mode === importMode.merge) {
    await deps.warehouse.publish(load);
    // After a takeover the attempt before may still be publishing the same rows.
    await (attempt === 1 ? deps.warehouse.dropStages([loadId]) : deps.warehouse.dropLoad(loadId));
  }
  const counts = await deps.warehouse.countRows(load);
  const committed = await deps.files.commitLoaded(claim, counts);
  deps.log.info({ fileId, jobId, loadId, attempt, accepted: counts.accepted, committed }, 'file loaded');
}
