import { sql } from 'kysely';
import { jobStatus } from '../../../domain/job.ts';
import type { FileToLoad } from '../../../ports/lane-store.ts';
import type { Database } from '../connect.ts';

/** Writes the list of files, once: a second holder of the lane finds the job listed and changes nothing. */
export async function startJob(db: Database, jobId: number, files: readonly FileToLoad[]): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const started = await tx
      .updateTable('job')
      .set({ status: jobStatus.running, listed_at: sql`now()`, updated_at: sql`now()` })
      .where('id', '=', jobId)
      .where('status', '=', jobStatus.pending)
      .where('listed_at', 'is', null)
      .returning('partner_id')
      .executeTakeFirst();
    if (!started) return;
    await sql`
      INSERT INTO job_file (job_id, partner_id, key, etag, size, gzip)
      SELECT ${jobId}, ${started.partner_id}, f.key, f.etag, f.size, f.gzip
      FROM unnest(
        ${files.map(({ key }) => key)}::text[], ${files.map(({ etag }) => etag)}::text[],
        ${files.map(({ size }) => size)}::bigint[], ${files.map(({ gzip }) => gzip)}::boolean[]
      ) WITH ORDINALITY AS f (key, etag, size, gzip, place)
      ORDER BY f.place
    `.execute(tx);
  });
}
