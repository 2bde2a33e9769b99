import { importMode } from '../domain/import-log.ts';
import type { AudienceWarehouse } from '../ports/audience-warehouse.ts';
import { isTakenOver, type AudienceJob, type ImportJob, type LaneStore, type StagedLoad } from '../ports/lane-store.ts';
import type { LoadStage } from '../ports/load-stage.ts';
import type { Log } from '../ports/log.ts';
import type { Warehouse } from '../ports/warehouse.ts';
import { lookWhile } from './look-while.ts';

export type SettleDeps = {
  readonly lanes: LaneStore;
  readonly stage: LoadStage;
  readonly warehouse: Warehouse;
  readonly audienceWarehouse: AudienceWarehouse;
  readonly log: Log;
};

/**
 * Brings loads that were found good to their end; may be repeated from any point by another holder of the lane. The
 * stage goes after publishing and before the commit: when the lane moves on, nothing of these loads can still be on
 * its way into the warehouse, where a later delete might just have been. Whoever finds a stage gone has nothing left to
 * publish, because it was dropped only when all was there.
 */
export async function settleLoads(
  deps: SettleDeps,
  job: ImportJob | AudienceJob,
  loads: readonly StagedLoad[],
): Promise<void> {
  const committed =
    job.kind === 'audience'
      ? await whileWanted(deps, job, loads, () => settleAudience(deps, job, loads))
      : await settleImport(deps, job, loads);
  const loadIds = loads.map(({ load }) => load.loadId);
  deps.log.info({ jobId: job.id, partnerId: job.partnerId, loadIds, committed }, 'loads settled');
}

/** A replacing job publishes at its end, so its stages stay. */
async function settleImport(deps: SettleDeps, job: ImportJob, loads: readonly StagedLoad[]): Promise<boolean> {
  if (job.mode === importMode.merge) {
    for (const { load } of loads) await deps.warehouse.publish(load);
    await dropStages(deps.stage, loads);
  }
  return deps.lanes.settleImport(job.id, loads);
}

/** Counted after everything is published: only the holder of the lane publishes, so the count is that of these files. */
async function settleAudience(deps: SettleDeps, job: AudienceJob, loads: readonly StagedLoad[]): Promise<boolean> {
  for (const { load, fileIds } of loads) await deps.audienceWarehouse.publish(load, fileIds);
  const devices = await deps.audienceWarehouse.countDevices(job);
  await dropStages(deps.stage, loads);
  return deps.lanes.settleAudience(job, loads, devices);
}

/** After a takeover the one before may still be publishing the same rows. */
async function dropStages(stage: LoadStage, loads: readonly StagedLoad[]): Promise<void> {
  const takenOver = loads.filter(isTakenOver);
  await stage.dropStages(loads.flatMap((staged) => (isTakenOver(staged) ? [] : [staged.load.loadId])));
  for (const { load } of takenOver) await stage.dropLoad(load.loadId);
}

/** A clear does not wait for what it cancels: the job is asked for, and what runs for it stopped when nobody wants it. */
async function whileWanted(
  deps: SettleDeps,
  job: AudienceJob,
  loads: readonly StagedLoad[],
  settle: () => Promise<boolean>,
): Promise<boolean> {
  let isWanted = true;
  const look = async (): Promise<void> => {
    if (!isWanted || (await deps.lanes.isRunning(job.id))) return;
    isWanted = false;
    for (const { load } of loads) await deps.stage.dropLoad(load.loadId);
    await deps.warehouse.stopJob(job.id);
  };
  try {
    return await lookWhile(deps.log, look, settle);
  } catch (error) {
    if (await deps.lanes.isRunning(job.id)) throw error;
    return false;
  }
}
