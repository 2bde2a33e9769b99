import { sql } from 'kysely';
import { jobStatus } from '../../../domain/job.ts';
import type { Tx } from '../connect.ts';

/** Takes a job from pending to running, once; undefined for whoever comes second, and when it is cancelled. */
export async function markStarted(tx: Tx, jobId: number): Promise<{ partnerId: number } | undefined> {
  return tx
    .updateTable('job')
    .set({ status: jobStatus.running, listed_at: sql`now()`, updated_at: sql`now()` })
    .where('id', '=', jobId)
    .where('status', '=', jobStatus.pending)
    .where('cancelled', '=', false)
    .where('listed_at', 'is', null)
    .returning('partner_id as partnerId')
    .executeTakeFirst();
}
