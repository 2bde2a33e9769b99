import type { PgBoss } from 'pg-boss';
import { openStatuses } from '../../../domain/job.ts';
import type { Tx } from '../connect.ts';
import { sendFileTokens } from '../dispatch.ts';

/**
 * Sends the first batches of a job that are not staged yet; gives how many that are. Also those that are out already: it
 * changes nothing, and mends one whose token was lost. The caller holds the job's row.
 */
export async function sendBatchesOut(boss: PgBoss, tx: Tx, jobId: number, limit: number): Promise<number> {
  const batches = await tx
    .selectFrom('job_file')
    .select('batch_id')
    .where('job_id', '=', jobId)
    .where('status', 'in', openStatuses)
    .where('staged', '=', false)
    .groupBy('batch_id')
    .orderBy('batch_id')
    .limit(limit)
    .execute();
  await sendFileTokens(
    boss,
    tx,
    batches.map(({ batch_id }) => batch_id),
  );
  return batches.length;
}
