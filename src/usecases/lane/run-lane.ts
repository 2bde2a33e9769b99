import { resolveKeys } from '../../domain/attribute.ts';
import { Failure } from '../../domain/failure.ts';
import type { JobId, LoadId } from '../../domain/ids.ts';
import { type ImportLogError, errorOfJob, importLogErrorLimit, importMode, pathType } from '../../domain/import-log.ts';
import { failureOfJob, intoBatches, versionsOfJob } from '../../domain/job.ts';
import type { Limits } from '../../domain/limits.ts';
import { parsePartnerPath } from '../../domain/partner-bucket.ts';
import { expectGzip, expectGzipByName, isCertainlyPrefix, keyInPrefix } from '../../domain/source-file.ts';
import type {
  AudienceJob,
  CountsBefore,
  DeleteJob,
  FileToLoad,
  ImportJob,
  JobSummary,
  LaneJob,
  LaneStep,
  LaneStore,
  LaneToken,
  StagedLoad,
} from '../../ports/lane-store.ts';
import type { LoadStage } from '../../ports/load-stage.ts';
import type { ObjectStore, SourceStorage, StoredObject } from '../../ports/object-store.ts';
import type { Log, Trace } from '../../ports/observability.ts';
import type { AttributeStore } from '../../ports/partner-store.ts';
import type { AttributeRows, AudienceWarehouse, DeviceCounts, Warehouse } from '../../ports/warehouse.ts';
import { pollWhile } from '../load/load-batch.ts';
import { type DropPlan, planCount, planDrop, planImportPublish } from './decide-next-step.ts';

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
 * Runs a partner's lane until no step is possible. Prepares the oldest open job, dispatches its batches, publishes
 * staged files, and finishes the job when all files have ended. A lane that is waiting for files occupies no worker,
 * because each batch sends the lane's token when it commits. After `stepsPerTurn` steps, the lane yields to other
 * partners.
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

/** Prepares a job. A failure that the partner must fix ends the job. Any other error is retried. */
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

export type PrepareImportDeps = {
  readonly lanes: LaneStore;
  readonly attributes: AttributeStore;
  readonly sources: SourceStorage;
  readonly warehouse: Warehouse;
  readonly limits: Limits;
  readonly log: Log;
};

/** Lists the job's files and resolves its keys. Runs once, when the job reaches the head of the lane. */
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
  // If one file fails, a replacing job publishes nothing.
  const loadIds = isReplace && failure ? [] : summary.loadIds;
  if (isReplace) await swapIn(deps, job, summary.loadIds, loadIds);
  const uniqueDevices = await deps.warehouse.publishDevices(job.id, loadIds);
  await deps.lanes.finishImport(job.id, { uniqueDevices, failure, errors: errorsOf(summary, failure) });
  await deps.warehouse.dropJob(job.id);
  deps.log.info({ jobId: job.id, partnerId: job.partnerId, uniqueDevices, code: failure?.code }, 'job finished');
}

/**
 * Replaces the old rows with the rows of the kept loads. As in `publishLoads`, the staging tables are dropped after
 * publishing and before the job ends. A retry therefore finds either all staging tables or nothing left to publish.
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

/** Returns the errors for the record. If the job has several files, the failure of the job itself is listed first. */
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

export type LoadAudienceDeps = {
  readonly lanes: LaneStore;
  readonly sources: SourceStorage;
  readonly stage: LoadStage;
  readonly limits: Limits;
  readonly log: Log;
};

/**
 * Lists the job's files when the job reaches the head of the lane, and skips files that are already loaded. A partner's
 * jobs run one after another, so the files of all earlier jobs are already recorded.
 */
export async function prepareAudienceLoad(deps: LoadAudienceDeps, job: AudienceJob): Promise<void> {
  const { filePath } = job.source;
  const key = keyInPrefix(job.prefix, filePath);
  const { objects } = await deps.sources.withObjects(job.source, (store) =>
    listSourceFiles(store, deps.limits, { key, filePath }),
  );
  const files = objects.map((object) => ({ ...object, path: object.key, gzip: expectGzipByName(object.key) }));
  const toLoad = await deps.lanes.startAudienceLoad(job, intoBatches(files));
  deps.log.info({ jobId: job.id, audienceId: job.audienceId, files: files.length, toLoad }, 'audience load started');
}

/** Finishes an audience load. The audience's counts are already stored, because each publish step stores them. */
async function finishAudienceLoad(deps: LoadAudienceDeps, job: AudienceJob): Promise<void> {
  const summary = await deps.lanes.summarizeJob(job.id);
  for (const loadId of summary.cancelledLoadIds) await deps.stage.dropLoad(loadId);
  const failure = failureOfJob(summary);
  await deps.lanes.finishAudienceLoad(job.id, failure);
  deps.log.info({ jobId: job.id, audienceId: job.audienceId, code: failure?.code }, 'audience load finished');
}

type DeleteDeps = { readonly lanes: LaneStore; readonly warehouse: Warehouse; readonly log: Log };

function rowsOf({ partnerId, attributeIds, seq }: DeleteJob): AttributeRows {
  return { partnerId, attributeIds, versions: versionsOfJob(seq) };
}

/**
 * Counts the rows before the delete starts. After a takeover, some rows may already be deleted and could not be
 * counted.
 */
async function prepareDelete(deps: DeleteDeps, job: DeleteJob): Promise<void> {
  await deps.lanes.startDelete(job.id, await deps.warehouse.countAttributeRows(rowsOf(job)));
}

/** Deletes the rows. The job finishes only after every part on every shard is free of them. */
async function finishDelete(deps: DeleteDeps, job: DeleteJob): Promise<void> {
  await deps.warehouse.deleteAttributeRows(rowsOf(job));
  await deps.lanes.finishDelete(job.id);
  deps.log.info(
    { jobId: job.id, partnerId: job.partnerId, attributes: job.attributeIds.length },
    'attribute data deleted',
  );
}

type Listed = {
  readonly objects: readonly StoredObject[];
  /** True if the path is the key of one object, false if it is a prefix. */
  readonly isSingle: boolean;
};

/**
 * Decision 19: lists the object with exactly this key. If there is none, lists all objects whose keys start with it.
 * The whole list is in memory, because one transaction writes it. The limit on files per prefix bounds its size.
 */
async function listSourceFiles(
  objects: ObjectStore,
  limits: Limits,
  source: { readonly key: string; readonly filePath: string },
): Promise<Listed> {
  const { key, filePath } = source;
  const exact = isCertainlyPrefix(filePath) ? null : await objects.find(key);
  if (exact) return { objects: [exact], isSingle: true };
  const found = await objects.list(key, limits.maxFilesPerPrefix + 1);
  if (found.length === 0) throw new Failure('no_files', `No object has the path "${filePath}" or begins with it.`);
  if (found.length > limits.maxFilesPerPrefix) {
    throw new Failure('too_many_files', `More than ${limits.maxFilesPerPrefix} files begin with "${filePath}".`);
  }
  return { objects: found, isSingle: false };
}

export type PublishDeps = {
  readonly lanes: LaneStore;
  readonly stage: LoadStage;
  readonly warehouse: Warehouse;
  readonly audienceWarehouse: AudienceWarehouse;
  readonly log: Log;
};

type PublishStep = Extract<LaneStep, { readonly do: 'publish' }>;

/**
 * Publishes staged loads. Another holder of the lane can repeat this function from any point. The staging tables are
 * dropped after publishing and before the commit. When the lane continues, no statement can therefore still write these
 * rows to the warehouse, where they could undo a later delete. A missing staging table means that the load is already
 * published.
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
  // Runs before the staging tables are dropped, because a file's devices cannot be counted afterwards.
  const countFiles = async (uncounted: readonly StagedLoad[]): Promise<void> => {
    for (const { load, fileIds } of uncounted) {
      await deps.lanes.recordUploadedDevices(job.id, await audienceWarehouse.countUploaded(load, fileIds));
    }
  };
  if (plan.method === 'incremental') {
    const [added] = await Promise.all([audienceWarehouse.countNewDevices(job, loads), countFiles(plan.uncounted)]);
    await publish();
    const unique = before.unique + added.unique;
    if (!plan.recountMatched) return { unique, matched: before.matched + added.matched };
    return { unique, matched: (await audienceWarehouse.countDevices(job, unique)).matched };
  }
  await publish();
  const [counts] = await Promise.all([
    audienceWarehouse.countDevices(job, plan.maxDevices),
    countFiles(plan.uncounted),
  ]);
  const [first] = loads;
  if (plan.onlyFileId !== null && first) {
    const file = { id: plan.onlyFileId, devices: counts.unique };
    if (!(await deps.lanes.recordOnlyFile(job.id, first, file))) await countFiles(loads);
  }
  return counts;
}

async function dropStages(stage: LoadStage, { drop, stopAndDrop }: DropPlan): Promise<void> {
  if (drop.length > 0) await stage.dropStages(drop);
  for (const loadId of stopAndDrop) await stage.dropLoad(loadId);
}

/**
 * Runs `run` and stops its statements if the job is canceled meanwhile. Polling is needed because a clear does not wait
 * for the jobs that it cancels.
 */
async function whileRunning(
  deps: PublishDeps,
  job: AudienceJob,
  loads: readonly StagedLoad[],
  run: () => Promise<boolean>,
): Promise<boolean> {
  // Stops the statements on every poll, because another statement may have started after the previous poll.
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
