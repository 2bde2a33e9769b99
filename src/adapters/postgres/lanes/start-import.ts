import type { FileToLoad } from '../../../ports/lane-store.ts';
import type { Database } from '../connect.ts';
import { insertFiles } from './insert-files.ts';
import { markStarted } from './mark-started.ts';

/** Writes the list of files, once: a second holder of the lane finds the job listed and changes nothing. */
export async function startImport(
  db: Database,
  jobId: number,
  batches: readonly (readonly FileToLoad[])[],
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const started = await markStarted(tx, jobId);
    if (!started) return;
    const bytesTotal = batches.flat().reduce((sum, { size }) => sum + size, 0);
    await tx.updateTable('import_log').set({ bytes_total: bytesTotal }).where('job_id', '=', jobId).execute();
    await insertFiles(tx, { jobId, partnerId: started.partnerId, audience: null }, batches);
  });
}
