import { importMode } from '../../domain/import-log.ts';
import {
  type AudienceJob,
  type CountsBefore,
  type ImportJob,
  type LaneStep,
  type LaneStore,
  type StagedLoad,
  isTakenOver,
} from '../../ports/lane-store.ts';
import type { LoadStage } from '../../ports/load-stage.ts';
import type { Log } from '../../ports/observability.ts';
import type { AudienceWarehouse, Warehouse } from '../../ports/warehouse.ts';
import { pollWhile } from '../load/poll-while.ts';
import { publishAndCount } from './audience-job.ts';

export type PublishDeps = {
  readonly lanes: LaneStore;
  readonly stage: LoadStage;
  readonly warehouse: Warehouse;
  readonly audienceWarehouse: AudienceWarehouse;
  readonly log: Log;
};

type SettleStep = Extract<LaneStep, { readonly do: 'settle' }>;

/**
 * Brings loads that were found good to their end; may be repeated from any point by another holder of the lane. The
 * stage goes after publishing and before the commit: when the lane moves on, nothing of these loads can still be on
 * its way into the warehouse, where a later delete might just have been. Whoever finds a stage gone has nothing left to
 * publish, because it was dropped only when all was there.
 */
export async function publishLoads(deps: PublishDeps, step: SettleStep): Promise<void> {
  const { job, loads } = step;
  const committed =
    'before' in step
      ? await whileWanted(deps, step.job, loads, () => settleAudience(deps, step.job, loads, step.before))
      : await settleImport(deps, step.job, loads);
  const loadIds = loads.map(({ load }) => load.loadId);
  deps.log.info({ jobId: job.id, partnerId: job.partnerId, loadIds, committed }, 'loads settled');
}

/** A replacing job publishes at its end, so its stages stay. */
async function settleImport(deps: PublishDeps, job: ImportJob, loads: readonly StagedLoad[]): Promise<boolean> {
  if (job.mode === importMode.merge) {
    for (const { load } of loads) await deps.warehouse.publish(load);
    await dropStages(deps.stage, loads);
  }
  return deps.lanes.settleImport(job.id, loads);
}

async function settleAudience(
  deps: PublishDeps,
  job: AudienceJob,
  loads: readonly StagedLoad[],
  before: CountsBefore,
): Promise<boolean> {
  const counts = await publishAndCount(deps, job, loads, before);
  await dropStages(deps.stage, loads);
  return deps.lanes.settleAudience(job, loads, { ...counts, knownVersion: before.knownVersion });
}

/** After a takeover the one before may still be publishing the same rows. */
async function dropStages(stage: LoadStage, loads: readonly StagedLoad[]): Promise<void> {
  const takenOver = loads.filter(isTakenOver);
  await stage.dropStages(loads.flatMap((staged) => (isTakenOver(staged) ? [] : [staged.load.loadId])));
  for (const { load } of takenOver) await stage.dropLoad(load.loadId);
}

/** A clear does not wait for what it cancels: the job is asked for, and what runs for it stopped when nobody wants it. */
async function whileWanted(
  deps: PublishDeps,
  job: AudienceJob,
  loads: readonly StagedLoad[],
  settle: () => Promise<boolean>,
): Promise<boolean> {
  // Again at each look: a statement may have begun just after the others were stopped.
  const look = async (): Promise<void> => {
    if (await deps.lanes.isRunning(job.id)) return;
    for (const { load } of loads) await deps.stage.dropLoad(load.loadId);
    await deps.warehouse.stopJob(job.id);
  };
  try {
    return await pollWhile(deps.log, look, settle);
  } catch (error) {
    if (await deps.lanes.isRunning(job.id)) throw error;
    return false;
  }
}
