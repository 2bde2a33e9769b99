import type { JobId, LoadId } from '../../domain/ids.ts';
import { Failure } from '../../domain/failure.ts';
import type { LaneJob, LaneStep, LaneStore, LaneToken } from '../../ports/lane-store.ts';
import type { Trace } from '../../ports/observability.ts';
import { type LoadAudienceDeps, finishAudienceLoad, prepareAudienceLoad } from './audience-job.ts';
import { type DeleteDeps, finishDelete, prepareDelete } from './delete-job.ts';
import { type FinishImportDeps, type PrepareImportDeps, finishImport, prepareImport } from './import-job.ts';
import { type PublishDeps, publishLoads } from './publish-loads.ts';

export type RunLaneDeps = PrepareImportDeps &
  FinishImportDeps &
  PublishDeps &
  LoadAudienceDeps &
  DeleteDeps & {
    readonly lanes: LaneStore;
    readonly trace: Trace;
    readonly maxBatchesPerLane: number;
    readonly stepsPerTurn: number;
  };

/**
 * Runs a partner's lane until it would have to wait. Prepares the oldest open job, dispatches its batches, publishes
 * what is staged, and finishes the job when no file is open. A lane that is waiting for files occupies no worker,
 * because a batch sends the lane's token when it commits. After a number of steps the lane yields to other partners.
 */
export async function runLane(deps: RunLaneDeps, token: LaneToken, signal: AbortSignal): Promise<void> {
  for (let count = 0; count < deps.stepsPerTurn && !signal.aborted; count++) {
    const step = await deps.lanes.nextStep(token, deps.maxBatchesPerLane);
    if (step.do === 'rest') return;
    const jobId = step.do === 'clean' ? step.jobId : step.job.id;
    await deps.trace.span(`lane ${step.do}`, { partnerId: token.partnerId, jobId }, () => runStep(deps, step));
  }
  await deps.lanes.yieldLane(token);
}

async function runStep(deps: RunLaneDeps, step: Exclude<LaneStep, { do: 'rest' }>): Promise<void> {
  if (step.do === 'clean') return cleanUp(deps, step.jobId, step.loadIds);
  if (step.do === 'publish') return publishLoads(deps, step);
  return step.do === 'prepare' ? prepare(deps, step.job) : finish(deps, step.job);
}

/** A failure that the partner must fix ends the job. Any other error is retried. */
async function prepare(deps: RunLaneDeps, job: LaneJob): Promise<void> {
  try {
    if (job.kind === 'delete') await prepareDelete(deps, job);
    else if (job.kind === 'audience') await prepareAudienceLoad(deps, job);
    else await prepareImport(deps, job);
  } catch (error) {
    if (!(error instanceof Failure && error.isFinal)) throw error;
    await deps.lanes.failJob(job.id, error);
    deps.log.info({ jobId: job.id, partnerId: job.partnerId, code: error.code }, 'job failed before it started');
  }
}

async function finish(deps: RunLaneDeps, job: LaneJob): Promise<void> {
  if (job.kind === 'delete') return finishDelete(deps, job);
  return job.kind === 'audience' ? finishAudienceLoad(deps, job) : finishImport(deps, job);
}

/** Stops the statements of a canceled job and drops its staging tables. */
async function cleanUp(deps: RunLaneDeps, jobId: JobId, loadIds: readonly LoadId[]): Promise<void> {
  for (const loadId of loadIds) await deps.stage.dropLoad(loadId);
  await deps.lanes.markCleaned(jobId);
  deps.log.info({ jobId, loads: loadIds.length }, 'canceled job cleaned up');
}
