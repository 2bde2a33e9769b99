import { sql } from 'kysely';
import type { PgBoss } from 'pg-boss';
import { cancelledCode } from '../../../domain/job-outcome.ts';
import { jobKind, jobStatus, openStatuses } from '../../../domain/job.ts';
import type { Cancellation } from '../../../ports/operations.ts';
import { toJobStatus } from '../codes.ts';
import type { Database, Tx } from '../connect.ts';
import { sendLaneToken } from '../dispatch.ts';
import { cancelFiles } from '../lanes/cancel-files.ts';
import { endCancelledJobs } from '../lanes/end-cancelled-jobs.ts';
import { lockLane } from '../lanes/lock-lane.ts';

/**
 * Locks are taken in the order lane, job, files, as the lane and a commit do it. So the lane sees either the job as it was
 * or the token that is sent here, and a file is either staged before, and goes on, or can never be.
 */
export async function cancelJob(db: Database, boss: PgBoss, jobId: number): Promise<Cancellation | null> {
  return db.transaction().execute(async (tx) => {
    const found = await tx.selectFrom('job').select('partner_id').where('id', '=', jobId).executeTakeFirst();
    if (!found) return null;
    const { partner_id: partnerId } = found;
    await lockLane(tx, partnerId);
    const job = await lockJob(tx, jobId);
    const status = toJobStatus(job.status);
    if (!openStatuses.includes(status)) return { is: 'ended before', status };
    const isStarted = job.listed_at !== null;
    if (isStarted && job.kind === jobKind.delete) return { is: 'deleting' };
    const cancelled = isStarted ? await stopFiles(tx, jobId) : await neverStart(tx, { jobId, partnerId });
    await sendLaneToken(boss, tx, partnerId);
    return cancelled;
  });
}

async function lockJob(tx: Tx, jobId: number) {
  return tx
    .selectFrom('job')
    .select(['kind', 'status', 'listed_at'])
    .where('id', '=', jobId)
    .forUpdate()
    .executeTakeFirstOrThrow();
}

async function stopFiles(tx: Tx, jobId: number): Promise<Cancellation> {
  await cancelFiles(tx, jobId);
  const { all, cancelled } = await tx
    .updateTable('job')
    .set({ updated_at: sql`now()` })
    .where('id', '=', jobId)
    .returning([
      sql<number>`(SELECT count(*) FROM job_file WHERE job_id = job.id)`.as('all'),
      sql<number>`(SELECT count(*) FROM job_file WHERE job_id = job.id AND failure_code = ${cancelledCode})`.as(
        'cancelled',
      ),
    ])
    .executeTakeFirstOrThrow();
  return cancelled === 0 ? { is: 'loaded' } : { is: 'stopped', cancelledFiles: cancelled, otherFiles: all - cancelled };
}

/** It has left nothing in the engine that would have to be cleaned; what its keys mean is swept. */
async function neverStart(tx: Tx, { jobId, partnerId }: { jobId: number; partnerId: number }): Promise<Cancellation> {
  await tx
    .updateTable('job')
    .set({ cancelled: true, cleaned_at: sql`now()`, updated_at: sql`now()` })
    .where('id', '=', jobId)
    .execute();
  await endCancelledJobs(tx, partnerId);
  const { status, ahead } = await tx
    .selectFrom('job')
    .select([
      'status',
      sql<number>`(SELECT count(*) FROM job ahead WHERE ahead.partner_id = job.partner_id AND ahead.seq < job.seq
                     AND ahead.status IN (0, 1))`.as('ahead'),
    ])
    .where('id', '=', jobId)
    .executeTakeFirstOrThrow();
  return { is: 'never started', hasEnded: status === jobStatus.failed, jobsAhead: ahead };
}
