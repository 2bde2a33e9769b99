import type { PgBoss } from 'pg-boss';
import { openStatuses } from '../../../domain/job.ts';
import type { AudienceJob, ImportJob, LaneStep, LaneToken } from '../../../ports/lane-store.ts';
import type { Database, Tx } from '../connect.ts';
import { completeLaneToken } from '../dispatch.ts';
import { mayBegin } from '../pause.ts';
import { countsBefore } from './counts-before.ts';
import { endCancelledJobs } from './end-cancelled-jobs.ts';
import { lockLane } from './lock-lane.ts';
import { sendBatchesOut } from './send-batches-out.ts';
import { lockOldestOpenJob } from './lock-oldest-open-job.ts';
import { takeStagedLoads, whatWaits } from './take-staged-loads.ts';

/**
 * One look at the lane under its locks. Whoever could wake the lane (a new job, a file that ended) takes one of the
 * same locks before it sends a token, so either we see what it did, or it sends after our token is given back:
 * no wake-up is lost.
 */
export async function nextStep(db: Database, boss: PgBoss, token: LaneToken, filesOut: number): Promise<LaneStep> {
  return db.transaction().execute(async (tx): Promise<LaneStep> => {
    const { prefix } = await lockLane(tx, token.partnerId);
    if (!(await mayBegin(tx))) {
      // The backup wakes all lanes when it lets them go on, and should it die, the sweeper does.
      await completeLaneToken(boss, tx, token);
      return { do: 'rest' };
    }
    const cancelled = await findCancelledJob(tx, token.partnerId);
    if (cancelled) return { do: 'clean', ...cancelled };
    const found = await lockNextJob(tx, token.partnerId, prefix);
    if (found && !found.isStarted) return { do: 'prepare', job: found.job };
    if (found) {
      const { job } = found;
      if (job.kind === 'delete') return { do: 'finish', job };
      const batchesOut = await sendBatchesOut(boss, tx, job.id, filesOut);
      const settle = job.kind === 'audience' ? settleMembers(tx, job, batchesOut) : settleAttributes(tx, job);
      const step = (await settle) ?? (batchesOut === 0 ? ({ do: 'finish', job } as const) : null);
      if (step) return step;
    }
    await completeLaneToken(boss, tx, token);
    return { do: 'rest' };
  });
}

async function lockNextJob(tx: Tx, partnerId: number, prefix: string): ReturnType<typeof lockOldestOpenJob> {
  const found = await lockOldestOpenJob(tx, partnerId, prefix);
  if (!found?.isCancelled) return found;
  await endCancelledJobs(tx, partnerId);
  return lockOldestOpenJob(tx, partnerId, prefix);
}

async function settleAttributes(tx: Tx, job: ImportJob): Promise<LaneStep | null> {
  const loads = await takeStagedLoads(tx, job.id);
  return loads.length === 0 ? null : { do: 'settle', job, loads };
}

/** An audience of fewer is counted in no time: nothing waits. */
const cheapRows = 250_000;

/** So many devices are counted in some seconds: fewer can wait for others, while these are on their way. */
const fewRows = 20_000_000;

/** But not for long: one of the others may have to be tried again and again. */
const longestWaitSeconds = 60;

/**
 * Every settling may count the whole audience. So that many files do not count it over and over, they wait until there
 * is nothing else to wait for, or until they bring as much as there is, or for a minute.
 */
async function settleMembers(tx: Tx, job: AudienceJob, batchesOut: number): Promise<LaneStep | null> {
  const before = await countsBefore(tx, job.audienceId);
  const waiting = await whatWaits(tx, job.id, longestWaitSeconds);
  const isCheap = before.unique + waiting.rows < cheapRows;
  const mayWait = batchesOut > 0 && !isCheap && !waiting.isLong && waiting.rows < Math.max(fewRows, before.unique);
  const loads = mayWait ? [] : await takeStagedLoads(tx, job.id);
  return loads.length === 0 ? null : { do: 'settle', job, loads, before };
}

/** A job that a clear has cancelled may have left something in the engine. */
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
