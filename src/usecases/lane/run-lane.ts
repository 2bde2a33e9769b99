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
    readonly filesOutPerLane: number;
    readonly stepsPerTurn: number;
  };

/**
 * Moves a partner's lane as far as it goes without waiting: prepare the oldest open job, send its files out, settle
 * those that are staged, finish it when none is open. A lane that waits for files holds no process: the last act of
 * every file is to wake it. After some steps it lets other partners' lanes go first.
 */
export async function runLane(deps: RunLaneDeps, token: LaneToken, signal: AbortSignal): Promise<void> {
  for (let count = 0; count < deps.stepsPerTurn && !signal.aborted; count++) {
    const step = await deps.lanes.nextStep(token, deps.filesOutPerLane);
    if (step.do === 'rest') return;
    const jobId = step.do === 'clean' ? step.jobId : step.job.id;
    await deps.trace.span(`lane ${step.do}`, { partnerId: token.partnerId, jobId }, () => takeStep(deps, step));
  }
  await deps.lanes.yieldLane(token);
}

async function takeStep(deps: RunLaneDeps, step: Exclude<LaneStep, { do: 'rest' }>): Promise<void> {
  if (step.do === 'clean') return clean(deps, step.jobId, step.loadIds);
  if (step.do === 'settle') return publishLoads(deps, step);
  return step.do === 'prepare' ? prepare(deps, step.job) : finish(deps, step.job);
}

/** What the partner has to mend ends the job; everything else is tried again. */
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

/** Stops what still runs for a cancelled job and removes what it had staged. */
async function clean(deps: RunLaneDeps, jobId: number, loadIds: readonly number[]): Promise<void> {
  for (const loadId of loadIds) await deps.stage.dropLoad(loadId);
  await deps.lanes.markCleaned(jobId);
  deps.log.info({ jobId, loads: loadIds.length }, 'cancelled job cleaned');
}
