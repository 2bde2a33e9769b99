import { failureOfJob } from '../domain/job-outcome.ts';
import { versionsOfJob } from '../domain/device-version.ts';
import { Failure } from '../domain/failure.ts';
import { errorOfJob, importLogErrorLimit, importMode, type ImportLogError } from '../domain/import-log.ts';
import type { ImportJob, JobSummary, LaneStore } from '../ports/lane-store.ts';
import type { LoadStage } from '../ports/load-stage.ts';
import type { Log } from '../ports/log.ts';
import type { Warehouse } from '../ports/warehouse.ts';

export type FinishImportDeps = {
  readonly lanes: LaneStore;
  readonly stage: LoadStage;
  readonly warehouse: Warehouse;
  readonly log: Log;
};

/** Swaps a replacing job in, counts the devices of the whole job, writes the result and clears what was kept for it. */
export async function finishImport(deps: FinishImportDeps, job: ImportJob): Promise<void> {
  const summary = await deps.lanes.summarizeJob(job.id);
  for (const loadId of summary.cancelledLoadIds) await deps.stage.dropLoad(loadId);
  const failure = failureOf(summary, job);
  const isReplace = job.mode === importMode.replace;
  // All or nothing: with a failed file nothing of a replacing job is kept.
  const loadIds = isReplace && failure ? [] : summary.loadIds;
  if (isReplace) await swapIn(deps, job, summary.loadIds, loadIds);
  const uniqueDevices = await deps.warehouse.publishDevices(job.id, loadIds);
  await deps.lanes.finishImport(job.id, { uniqueDevices, failure, errors: errorsOf(summary, failure) });
  await deps.warehouse.dropJob(job.id);
  deps.log.info({ jobId: job.id, partnerId: job.partnerId, uniqueDevices, code: failure?.code }, 'job finished');
}

/**
 * As with a single file, the stages go before the job is final, and only when all is there: whoever repeats this finds
 * either everything still staged or nothing left to do.
 */
async function swapIn(
  deps: FinishImportDeps,
  { id, partnerId, seq }: ImportJob,
  staged: readonly number[],
  kept: readonly number[],
): Promise<void> {
  if (kept.length > 0) await deps.warehouse.replaceAttributes({ id, partnerId, versions: versionsOfJob(seq) }, kept);
  await deps.stage.dropStages(staged);
  await deps.warehouse.stopJob(id);
}

/** In a job of several files, first what it means for the whole. */
function errorsOf(
  { failedFiles, loadedFiles, errors }: JobSummary,
  failure: Failure | null,
): readonly ImportLogError[] {
  if (!failure || failedFiles + loadedFiles === 1) return errors;
  return [errorOfJob(failure, failedFiles), ...errors].slice(0, importLogErrorLimit);
}

function failureOf(summary: JobSummary, { mode }: ImportJob): Failure | null {
  const failure = failureOfJob(summary);
  if (!failure || mode === importMode.merge) return failure;
  return new Failure(failure.code, `${failure.detail} Nothing was replaced.`);
}
