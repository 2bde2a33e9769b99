import { sql } from 'kysely';
import type { PgBoss } from 'pg-boss';
import { Failure } from '../../../domain/failure.ts';
import type { JobKind } from '../../../domain/job.ts';
import type { Tx } from '../db/tables.ts';
import { sendLaneToken } from '../queue/tokens.ts';

/**
 * The job, its record and the lane's token, all or nothing. The token comes last: whoever waits to send the same one
 * must not have to wait for what is locked meanwhile.
 */
export async function submitJob<T>(
  boss: PgBoss,
  tx: Tx,
  partnerId: number,
  { kind, maxOpenJobs }: { readonly kind: JobKind; readonly maxOpenJobs: number },
  writeRecord: (jobId: number) => Promise<T>,
): Promise<T> {
  const job = await appendJob(tx, partnerId, kind);
  if (job.openJobs > maxOpenJobs) {
    throw new Failure('too_many_open_jobs', `The partner has ${maxOpenJobs} open jobs, which is the most it may have.`);
  }
  const written = await writeRecord(job.id);
  await sendLaneToken(boss, tx, partnerId);
  return written;
}

/**
 * Gives a new job the next place in the partner's lane. The partner's row stays locked to the commit, so that a place
 * is visible only when every place before it is. A second statement, so that the open jobs are counted as they are
 * after the wait for the lock; this job included.
 */
async function appendJob(tx: Tx, partnerId: number, kind: JobKind): Promise<{ id: number; openJobs: number }> {
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
