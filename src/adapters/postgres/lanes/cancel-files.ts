import { sql } from 'kysely';
import { cancelledFile } from '../../../domain/job-outcome.ts';
import { jobStatus } from '../../../domain/job.ts';
import type { Tx } from '../connect.ts';

/**
 * Fails every file of a job that is not past the point of no return. Whoever is loading one finds that it is no longer
 * his when he looks, and can commit nothing. The caller holds the job's row; files are locked in the order in which a
 * claim locks them.
 */
export async function cancelFiles(tx: Tx, jobId: number): Promise<void> {
  const { code, detail } = cancelledFile();
  await sql`
    WITH open AS (
      SELECT id FROM job_file
      WHERE job_id = ${jobId} AND status IN (${jobStatus.pending}, ${jobStatus.running}) AND NOT staged
      ORDER BY id FOR UPDATE
    )
    UPDATE job_file f
    SET status = ${jobStatus.failed}, failure_code = ${code}, failure_detail = ${detail}, updated_at = now()
    FROM open WHERE f.id = open.id
  `.execute(tx);
}
