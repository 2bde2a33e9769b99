import { resolveKeys } from '../../domain/attribute.ts';
import { Failure } from '../../domain/failure.ts';
import { expectGzip } from '../../domain/file-failure.ts';
import { type ImportLogError, errorOfJob, importLogErrorLimit, importMode, pathType } from '../../domain/import-log.ts';
import { failureOfJob } from '../../domain/job-outcome.ts';
import { intoBatches, versionsOfJob } from '../../domain/job.ts';
import type { Limits } from '../../domain/limits.ts';
import { parsePartnerPath } from '../../domain/partner-bucket.ts';
import { keyInPrefix } from '../../domain/source-path.ts';
import type { FileToLoad, ImportJob, LaneStore, JobSummary } from '../../ports/lane-store.ts';
import type { LoadStage } from '../../ports/load-stage.ts';
import type { SourceStorage } from '../../ports/object-store.ts';
import type { Log } from '../../ports/observability.ts';
import type { AttributeStore } from '../../ports/partner-store.ts';
import type { Warehouse } from '../../ports/warehouse.ts';
import { listSourceFiles } from './list-source-files.ts';

export type PrepareImportDeps = {
  readonly lanes: LaneStore;
  readonly attributes: AttributeStore;
  readonly sources: SourceStorage;
  readonly warehouse: Warehouse;
  readonly limits: Limits;
  readonly log: Log;
};

/** Lists the job's files and resolves its keys, once, when the job reaches the head of the lane. */
export async function prepareImport(deps: PrepareImportDeps, job: ImportJob): Promise<void> {
  const files = await listFiles(deps, job);
  const attributes = await deps.attributes.list(job.partnerId, { retired: false });
  await deps.warehouse.writeJobKeys(job.id, resolveKeys(attributes, job.keyType));
  await deps.lanes.startImport(job.id, intoBatches(files));
  deps.log.info({ jobId: job.id, partnerId: job.partnerId, files: files.length }, 'job started');
}

async function listFiles(deps: PrepareImportDeps, job: ImportJob): Promise<readonly FileToLoad[]> {
  const { filePath } = job.source;
  const isShared = job.source.pathType === pathType.sharedBucket;
  const key = isShared ? keyInPrefix(job.prefix, filePath) : parsePartnerPath(filePath).key;
  const { objects, isSingle } = await deps.sources.withObjects(job.source, (store) =>
    listSourceFiles(store, deps.limits, { key, filePath }),
  );
  return objects.map((object) => ({
    ...object,
    path: isShared ? object.key.slice(job.prefix.length) : object.key,
    gzip: expectGzip(job.compressed, { key: object.key, isSingle }),
  }));
}

export type FinishImportDeps = {
  readonly lanes: LaneStore;
  readonly stage: LoadStage;
  readonly warehouse: Warehouse;
  readonly log: Log;
};

/** Publishes a replacing job, counts the job's devices, stores the result, and removes the job's temporary data. */
export async function finishImport(deps: FinishImportDeps, job: ImportJob): Promise<void> {
  const summary = await deps.lanes.summarizeJob(job.id);
  for (const loadId of summary.cancelledLoadIds) await deps.stage.dropLoad(loadId);
  const failure = failureOf(summary, job);
  const isReplace = job.mode === importMode.replace;
  // One failed file discards the whole replacing job.
  const loadIds = isReplace && failure ? [] : summary.loadIds;
  if (isReplace) await swapIn(deps, job, summary.loadIds, loadIds);
  const uniqueDevices = await deps.warehouse.publishDevices(job.id, loadIds);
  await deps.lanes.finishImport(job.id, { uniqueDevices, failure, errors: errorsOf(summary, failure) });
  await deps.warehouse.dropJob(job.id);
  deps.log.info({ jobId: job.id, partnerId: job.partnerId, uniqueDevices, code: failure?.code }, 'job finished');
}

/**
 * As with a single load, the staging tables are dropped after publishing and before the job ends. A retry finds either
 * all of the tables or nothing left to do.
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

/** For a job of several files, the job's own failure comes first. */
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
