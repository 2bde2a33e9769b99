import { importMode } from '../domain/import-log.ts';
import type { FileClaim, FileStore } from '../ports/file-store.ts';
import type { Log } from '../ports/log.ts';
import type { Warehouse } from '../ports/warehouse.ts';

export type PublishDeps = { readonly files: FileStore; readonly warehouse: Warehouse; readonly log: Log };

/**
 * Brings a load that was found good to its end; may be repeated from any point by another attempt. A replacing job
 * publishes all its files at its end, so here their stages stay.
 */
export async function publishStaged(deps: PublishDeps, claim: FileClaim): Promise<void> {
  const { load, mode, attempt } = claim;
  if (mode === importMode.merge) await deps.warehouse.publish(load);
  const counts = await deps.warehouse.countRows(load);
  const committed = await deps.files.commitLoaded(claim, counts);
  const { fileId, jobId, loadId } = load;
  deps.log.info({ fileId, jobId, loadId, attempt, accepted: counts.accepted, committed }, 'file loaded');
  if (mode === importMode.replace || !committed) return;
  // After a takeover the attempt before may still be publishing the same rows.
  await (attempt === 1 ? deps.warehouse.dropStage(loadId) : deps.warehouse.dropLoad(loadId));
}
