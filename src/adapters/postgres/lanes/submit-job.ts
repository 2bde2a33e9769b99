import type { PgBoss } from 'pg-boss';
import { Failure } from '../../../domain/failure.ts';
import type { JobKind } from '../../../domain/job.ts';
import type { Tx } from '../connect.ts';
import { sendLaneToken } from '../dispatch.ts';
import { appendJob } from './append-job.ts';

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
