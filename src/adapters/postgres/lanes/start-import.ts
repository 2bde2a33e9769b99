import { sql } from 'kysely';
import type { FileToLoad } from '../../../ports/lane-store.ts';
import type { Database } from '../connect.ts';
import { markStarted } from './mark-started.ts';

/** Writes the list of files, once: a second holder of the lane finds the job listed and changes nothing. */
export async function startImport(db: Database, jobId: number, files: readonly FileToLoad[]): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const started = await markStarted(tx, jobId);
    if (!started) return;
    const bytesTotal = files.reduce((sum, { size }) => sum + size, 0);
    await tx.updateTable('import_log').set({ bytes_total: bytesTotal }).where('job_id', '=', jobId).execute();
    await sql`
      INSERT INTO job_file (job_id, partner_id, key, path, etag, size, gzip)
      SELECT ${jobId}, ${started.partnerId}, f.key, f.path, f.etag, f.size, f.gzip
      FROM unnest(
        ${files.map(({ key }) => key)}::text[], ${files.map(({ path }) => path)}::text[],
        ${files.map(({ etag }) => etag)}::text[], ${files.map(({ size }) => size)}::bigint[],
        ${files.map(({ gzip }) => gzip)}::boolean[]
      ) WITH ORDINALITY AS f (key, path, etag, size, gzip, place)
      ORDER BY f.place
    `.execute(tx);
  });
}
