import type { AudienceJob, CountsBefore, ImportJob, LaneStep, LaneStore, StagedLoad } from '../../ports/lane-store.ts';
import type { LoadStage } from '../../ports/load-stage.ts';
import type { Log } from '../../ports/observability.ts';
import type { AudienceWarehouse, DeviceCounts, Warehouse } from '../../ports/warehouse.ts';
import { pollWhile } from '../load/poll-while.ts';
import { type DropPlan, planCount, planDrop, planImportPublish } from './decide-publish.ts';

export type PublishDeps = {
  readonly lanes: LaneStore;
  readonly stage: LoadStage;
  readonly warehouse: Warehouse;
  readonly audienceWarehouse: AudienceWarehouse;
  readonly log: Log;
};

type PublishStep = Extract<LaneStep, { readonly do: 'publish' }>;

/**
 * Publishes staged loads. Another holder of the lane can repeat this from any point. The staging tables are dropped after
 * publishing and before the commit: once the lane moves on, no statement can still write these rows to the warehouse,
 * possibly after a later delete. A missing staging table means that the load is already published.
 */
export async function publishLoads(deps: PublishDeps, step: PublishStep): Promise<void> {
  const { job, loads } = step;
  const committed =
    'before' in step
      ? await whileRunning(deps, step.job, loads, () => publishAudience(deps, step.job, loads, step.before))
      : await publishImport(deps, step.job, loads);
  const loadIds = loads.map(({ load }) => load.loadId);
  deps.log.info({ jobId: job.id, partnerId: job.partnerId, loadIds, committed }, 'loads published');
}

async function publishImport(deps: PublishDeps, job: ImportJob, loads: readonly StagedLoad[]): Promise<boolean> {
  const plan = planImportPublish(job, loads);
  for (const { load } of plan.publish) await deps.warehouse.publish(load);
  await dropStages(deps.stage, plan);
  return deps.lanes.commitImportLoads(job.id, loads);
}

async function publishAudience(
  deps: PublishDeps,
  job: AudienceJob,
  loads: readonly StagedLoad[],
  before: CountsBefore,
): Promise<boolean> {
  const counts = await publishAndCount(deps, job, loads, before);
  await dropStages(deps.stage, planDrop(loads));
  return deps.lanes.commitAudienceLoads(job, loads, { ...counts, knownVersion: before.knownVersion });
}

async function publishAndCount(
  deps: PublishDeps,
  job: AudienceJob,
  loads: readonly StagedLoad[],
  before: CountsBefore,
): Promise<DeviceCounts> {
  const { audienceWarehouse } = deps;
  const plan = planCount(loads, before);
  const publish = async (): Promise<void> => {
    for (const { load, fileIds } of loads) await audienceWarehouse.publish(load, fileIds);
  };
  // Runs while the staging tables still exist, because a file's devices cannot be counted later.
  const countFiles = async (): Promise<void> => {
    for (const { load, fileIds } of plan.uncounted) {
      await deps.lanes.recordUploadedDevices(job.id, await audienceWarehouse.countUploaded(load, fileIds));
    }
  };
  if (plan.method === 'incremental') {
    const [added] = await Promise.all([audienceWarehouse.countNewDevices(job, loads), countFiles()]);
    await publish();
    const unique = before.unique + added.unique;
    if (!plan.recountMatched) return { unique, matched: before.matched + added.matched };
    return { unique, matched: (await audienceWarehouse.countDevices(job, unique)).matched };
  }
  await publish();
  const [counts] = await Promise.all([audienceWarehouse.countDevices(job, plan.maxDevices), countFiles()]);
  if (plan.onlyFileId !== null) {
    await deps.lanes.recordUploadedDevices(job.id, new Map([[plan.onlyFileId, counts.unique]]));
  }
  return counts;
}

async function dropStages(stage: LoadStage, { drop, stopAndDrop }: DropPlan): Promise<void> {
  if (drop.length > 0) await stage.dropStages(drop);
  for (const loadId of stopAndDrop) await stage.dropLoad(loadId);
}

/**
 * A clear does not wait for the jobs that it cancels. This function polls the job and stops its statements once the job
 * is canceled.
 */
async function whileRunning(
  deps: PublishDeps,
  job: AudienceJob,
  loads: readonly StagedLoad[],
  run: () => Promise<boolean>,
): Promise<boolean> {
  // Runs on every poll, because a statement may have started just after the others were stopped.
  const poll = async (): Promise<void> => {
    if (await deps.lanes.isRunning(job.id)) return;
    for (const { load } of loads) await deps.stage.dropLoad(load.loadId);
    await deps.warehouse.stopJob(job.id);
  };
  try {
    return await pollWhile(deps.log, poll, run);
  } catch (error) {
    if (await deps.lanes.isRunning(job.id)) throw error;
    return false;
  }
}
