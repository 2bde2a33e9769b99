import { sql } from 'kysely';
import type { PgBoss } from 'pg-boss';
import type { CancelRequester, Cancellation } from '../../../domain/cancellation.ts';
import type { JobId, PartnerId } from '../../../domain/ids.ts';
import { type JobKind, cancelledCode, jobKind, openStatuses } from '../../../domain/job.ts';
import type { Tx } from '../db/tables.ts';
import { sendLaneToken } from '../queue/tokens.ts';
import { cancelFiles, toJobStatus } from './jobs.ts';
import { appendFileEvents } from './job-events.ts';
import { endCanceledJobs, lockLane } from './lane-store.ts';

type Which = {
  readonly jobId: number;
  readonly partnerId: PartnerId;
  readonly requester: CancelRequester;
  readonly kinds: readonly JobKind[];
};

/**
 * Cancels one of the partner's jobs. Locks the lane, the job, and the files in the same order as a lane step and a
 * commit do. The lane therefore sees either the job before the cancellation or the token sent here. A file is either
 * already staged or can no longer be staged. Records the first request that cancels something.
 */
export async function cancelJob(tx: Tx, boss: PgBoss, which: Which): Promise<Cancellation | null> {
  const { partnerId, kinds } = which;
  await lockLane(tx, partnerId);
  const job = await tx
    .selectFrom('job')
    .select(['id', 'kind', 'status', 'listed_at'])
    .where('id', '=', which.jobId)
    .where('partner_id', '=', partnerId)
    .where('kind', 'in', kinds)
    .forUpdate()
    .executeTakeFirst();
  if (!job) return null;
  const status = toJobStatus(job.status);
  if (!openStatuses.includes(status)) return { is: 'ended before', status };
  const isStarted = job.listed_at !== null;
  if (isStarted && job.kind === jobKind.delete) return { is: 'deleting' };
  const found = { jobId: job.id, partnerId, requester: which.requester };
  const cancellation = isStarted ? await stopFiles(tx, found) : await neverStart(tx, found);
  await sendLaneToken(boss, tx, partnerId);
  return cancellation;
}

function request(requester: CancelRequester) {
  return {
    cancel_requested_at: sql<Date>`coalesce(cancel_requested_at, now())`,
    cancel_requested_by: sql<string>`coalesce(cancel_requested_by, ${requester})`,
    canceled_by: sql<string | null>`coalesce(canceled_by, nullif(current_setting('inlet.requester', true), ''))`,
    updated_at: sql<Date>`now()`,
  };
}

type Found = { readonly jobId: JobId; readonly partnerId: PartnerId; readonly requester: CancelRequester };

async function stopFiles(tx: Tx, { jobId, requester }: Found): Promise<Cancellation> {
  const cancelledFiles = await cancelFiles(tx, jobId);
  const { all, cancelled } = await tx
    .selectFrom('job_file')
    .where('job_id', '=', jobId)
    .select([
      sql<number>`count(*)`.as('all'),
      sql<number>`count(*) FILTER (WHERE failure_code = ${cancelledCode})`.as('cancelled'),
    ])
    .executeTakeFirstOrThrow();
  if (cancelled === 0) return { is: 'loaded' };
  await tx.updateTable('job').set(request(requester)).where('id', '=', jobId).execute();
  await appendFileEvents(tx, cancelledFiles);
  return { is: 'stopped', cancelledFiles: cancelled, otherFiles: all - cancelled };
}

/** Cancels a job that has not started. Its only data in ClickHouse are its keys, which the sweeper removes. */
async function neverStart(tx: Tx, { jobId, partnerId, requester }: Found): Promise<Cancellation> {
  await tx
    .updateTable('job')
    .set({ cancelled: true, cleaned_at: sql`now()`, ...request(requester) })
    .where('id', '=', jobId)
    .execute();
  // The API cannot write the result of a job, so for a partner's request, the lane ends the job.
  if (requester === 'operator') await endCanceledJobs(tx, partnerId);
  return { is: 'never started' };
}
