import type { JobId, PartnerId } from '../../../domain/ids.ts';
import { sql } from 'kysely';
import type { PgBoss } from 'pg-boss';
import { Failure } from '../../../domain/failure.ts';
import type { JobKind } from '../../../domain/job.ts';
import type { Tx } from '../db/tables.ts';
import { sendLaneToken } from '../queue/tokens.ts';

/**
 * Appends a job to the partner's lane, writes its record, and sends the lane's token, all in the caller's transaction.
 * The partner's row stays locked until the commit, so a job is visible only when every job before it is. The token is
 * sent last, because a concurrent sender of the same token waits for it and must not wait for the other locks.
 */
export async function submitJob<T>(
  boss: PgBoss,
  tx: Tx,
  partnerId: PartnerId,
  { kind, maxOpenJobs }: { readonly kind: JobKind; readonly maxOpenJobs: number },
  writeRecord: (jobId: JobId) => Promise<T>,
): Promise<T> {
  const { seq } = await tx
    .updateTable('partner')
    .set({ next_seq: sql`next_seq + 1` })
    .where('id', '=', partnerId)
    .returning(sql<number>`next_seq - 1`.as('seq'))
    .executeTakeFirstOrThrow();
  // Uses a separate statement, whose snapshot is taken after the wait for the lock, so that it counts this job and
  // every other open job.
  const job = await tx
    .insertInto('job')
    .values({ partner_id: partnerId, seq, kind })
    .returning([
      'id',
      sql<number>`(SELECT count(*) + 1 FROM job WHERE partner_id = ${partnerId} AND status IN (0, 1))`.as('openJobs'),
    ])
    .executeTakeFirstOrThrow();
  if (job.openJobs > maxOpenJobs) {
    throw new Failure('too_many_open_jobs', `The partner has ${maxOpenJobs} open jobs, which is the limit.`);
  }
  const written = await writeRecord(job.id);
  await sendLaneToken(boss, tx, partnerId);
  return written;
}
