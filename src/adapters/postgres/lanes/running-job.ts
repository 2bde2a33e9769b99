import { jobStatus } from '../../../domain/job.ts';
import type { Database, Tx } from '../connect.ts';

/** Finds the job while it goes on: neither waiting, nor ended, nor cancelled. */
export function runningJob(db: Database | Tx, jobId: number) {
  return db
    .selectFrom('job')
    .select('id')
    .where('id', '=', jobId)
    .where('status', '=', jobStatus.running)
    .where('cancelled', '=', false);
}
