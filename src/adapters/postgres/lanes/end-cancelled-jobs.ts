import { cancelledBeforeStart } from '../../../domain/job-outcome.ts';
import { errorOfJob } from '../../../domain/import-log.ts';
import { openStatuses } from '../../../domain/job.ts';
import type { Tx } from '../connect.ts';
import { cancelFiles } from './cancel-files.ts';
import { endJobIn } from './end-job.ts';

/**
 * Ends the jobs at the head of the lane that were cancelled before they started: when their turn has come, so that the
 * jobs of a partner end in the order asked. The caller holds the lane. One that has files after all was started by a
 * worker of the version before, which did not know: nobody can claim them.
 */
export async function endCancelledJobs(tx: Tx, partnerId: number): Promise<void> {
  const failure = cancelledBeforeStart();
  for (;;) {
    const head = await tx
      .selectFrom('job')
      .select(['id', 'listed_at', 'cancelled'])
      .where('partner_id', '=', partnerId)
      .where('status', 'in', openStatuses)
      .orderBy('seq')
      .limit(1)
      .forUpdate()
      .executeTakeFirst();
    if (!head?.cancelled) return;
    if (head.listed_at !== null) return cancelFiles(tx, head.id);
    await endJobIn(tx, head.id, { failure, errors: [errorOfJob(failure)], hasStarted: false, uniqueDevices: 0 });
  }
}
