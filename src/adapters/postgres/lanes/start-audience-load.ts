import type { AudienceJob, FileToLoad } from '../../../ports/lane-store.ts';
import type { Database } from '../connect.ts';
import { insertFiles } from './insert-files.ts';
import { markStarted } from './mark-started.ts';
import { supersedeFiles, supersedeLoads } from './supersede.ts';

/** As for an import; and what was said before of the same paths is no longer shown. */
export async function startAudienceLoad(
  db: Database,
  job: AudienceJob,
  batches: readonly (readonly FileToLoad[])[],
): Promise<number> {
  return db.transaction().execute(async (tx) => {
    const started = await markStarted(tx, job.id);
    if (!started) return 0;
    await supersedeFiles(tx, job, batches.flat());
    // Its own path was superseded when it was asked for; a file that was missing before is there now.
    await supersedeLoads(
      tx,
      job,
      batches.flat().map(({ key }) => key.slice(job.prefix.length)),
    );
    const audience = { id: job.audienceId, generation: job.generation };
    return insertFiles(tx, { jobId: job.id, partnerId: job.partnerId, audience }, batches);
  });
}
