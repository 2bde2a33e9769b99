import { sql } from 'kysely';
import type { JobKind } from '../../../domain/job.ts';
import type { Tx } from '../connect.ts';

/**
 * Gives a new job the next place in the partner's lane. The partner's row stays locked to the commit, so that a place
 * is visible only when every place before it is. A second statement, so that the open jobs are counted as they are
 * after the wait for the lock; this job included.
 */
export async function appendJob(tx: Tx, partnerId: number, kind: JobKind): Promise<{ id: number; openJobs: number }> {
  const { seq } = await tx
    .updateTable('partner')
    .set({ next_seq: sql`next_seq + 1` })
    .where('id', '=', partnerId)
    .returning(sql<number>`next_seq - 1`.as('seq'))
    .executeTakeFirstOrThrow();
  return tx
    .insertInto('job')
    .values({ partner_id: partnerId, seq, kind })
    .returning([
      'id',
      sql<number>`(SELECT count(*) + 1 FROM job WHERE partner_id = ${partnerId} AND status IN (0, 1))`.as('openJobs'),
    ])
    .executeTakeFirstOrThrow();
}
