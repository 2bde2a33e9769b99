import type { PgBoss } from 'pg-boss';
import { openStatuses } from '../../../domain/job.ts';
import type { LaneStep, LaneToken } from '../../../ports/lane-store.ts';
import type { Database, Tx } from '../connect.ts';
import { completeLaneToken } from '../dispatch.ts';
import { lockLane } from './lock-lane.ts';
import { sendBatchesOut } from './send-batches-out.ts';
import { lockOldestOpenJob } from './lock-oldest-open-job.ts';
import { takeStagedLoads } from './take-staged-loads.ts';

/**
 * One look at the lane under its locks. Whoever could wake the lane (a new job, a file that ended) takes one of the
 * same locks before it sends a token, so either we see what it did, or it sends after our token is given back:
 * no wake-up is lost.
 */
export async function nextStep(db: Database, boss: PgBoss, token: LaneToken, filesOut: number): Promise<LaneStep> {
  return db.transaction().execute(async (tx): Promise<LaneStep> => {
    const { prefix } = await lockLane(tx, token.partnerId);
    const cancelled = await findCancelledJob(tx, token.partnerId);
    if (cancelled) return { do: 'clean', ...cancelled };
    const found = await lockOldestOpenJob(tx, token.partnerId, prefix);
    if (found && !found.isStarted) return { do: 'prepare', job: found.job };
    if (found) {
      const { job } = found;
      if (job.kind === 'delete') return { do: 'finish', job };
      const batchesOut = await sendBatchesOut(boss, tx, job.id, filesOut);
      const loads = await takeStagedLoads(tx, job.id);
      if (loads.length > 0) return { do: 'settle', job, loads };
      if (batchesOut === 0) return { do: 'finish', job };
    }
    await completeLaneToken(boss, tx, token);
    return { do: 'rest' };
  });
}

/** A job that was cancelled may have left something in the engine. */
async function findCancelledJob(tx: Tx, partnerId: number): Promise<{ jobId: number; loadIds: number[] } | null> {
  const job = await tx
    .selectFrom('job')
    .select('id')
    .where('partner_id', '=', partnerId)
    .where('cancelled', '=', true)
    .where('cleaned_at', 'is', null)
    .orderBy('id')
    .executeTakeFirst();
  if (!job) return null;
  const loads = await tx
    .selectFrom('job_file')
    .select('load_id')
    .distinct()
    .where('job_id', '=', job.id)
    .where('status', 'in', openStatuses)
    .where('load_id', 'is not', null)
    .execute();
  return { jobId: job.id, loadIds: loads.flatMap(({ load_id }) => load_id ?? []) };
}
