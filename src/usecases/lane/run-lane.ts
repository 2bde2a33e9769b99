import { importKeys } from '../../domain/attribute.ts';
import { Failure } from '../../domain/failure.ts';
import type { JobId, LoadId } from '../../domain/ids.ts';
import { type ImportLogError, errorOfJob, importLogErrorLimit, importMode } from '../../domain/import-log.ts';
import { type JobVersions, failureOfJob, intoBatches, versionsOfJob } from '../../domain/job.ts';
import type { Limits } from '../../domain/limits.ts';
import { type ShardRows, shardDifference } from '../../domain/row-account.ts';
import { expectGzipByName, keyInPrefix } from '../../domain/source-file.ts';
import { initialSuppressionList, isCheckOutdated } from '../../domain/suppression.ts';
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
import type { SourceStorage } from '../../ports/object-store.ts';
import type { Log, Trace } from '../../ports/observability.ts';
import type { AttributeStore } from '../../ports/partner-store.ts';
import type { AttributeRows, AudienceWarehouse, DeviceCounts, Warehouse } from '../../ports/warehouse.ts';
import { pollWhile } from '../load/load-batch.ts';
import { type KeyNamingDeps, nameKeysOfErrors } from '../load/name-unknown-keys.ts';
import { type OrphanedStagesDeps, dropOrphanedStages } from '../load/orphaned-stages.ts';
import { type DropPlan, planCount, planDrop, planImportPublish } from './decide-next-step.ts';
import { listFailedFiles, listGivenFiles, listImportFiles, listSourceFiles } from './list-files.ts';

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
    const isDone = await deps.trace.span(`lane ${step.do}`, { partnerId: token.partnerId, jobId }, () =>
      runStep(deps, step),
    );
    if (!isDone) return deps.lanes.yieldLane(token, deleteCheckSeconds);
  }
  await deps.lanes.yieldLane(token, 0);
}

/**
 * How often a lane checks whether ClickHouse has removed the rows of a delete. Between checks, the lane occupies no
 * slot.
 */
const deleteCheckSeconds = 5;

/** Returns false if the step is waiting for ClickHouse. The lane then repeats the step later. */
async function runStep(deps: RunLaneDeps, step: Exclude<LaneStep, { do: 'rest' }>): Promise<boolean> {
  if (step.do === 'finish' && step.job.kind === 'delete') return finishDelete(deps, step.job);
  if (step.do === 'clean') await cleanUp(deps, step.jobId, step.loadIds);
  else if (step.do === 'publish') await publishLoads(deps, step);
  else if (step.do === 'prepare') await prepare(deps, step.job);
  else if (step.job.kind === 'audience') await finishAudienceLoad(deps, step.job);
  else if (step.job.kind === 'import') await finishImport(deps, step.job);
  return true;
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
  const attributes = await deps.attributes.list(job.partnerId, { retired: true });
  await deps.warehouse.writeJobKeys(job.id, importKeys(attributes, job.keyType));
  await deps.lanes.startImport(job.id, intoBatches(files));
  deps.log.info({ jobId: job.id, partnerId: job.partnerId, files: files.length }, 'job started');
}

async function listFiles(deps: PrepareImportDeps, job: ImportJob): Promise<readonly FileToLoad[]> {
  if (job.isOfSubscription) return listGivenFiles(deps, job);
  const failed = await listFailedFiles(deps, job);
  return failed ?? deps.sources.withObjects(job.source, (store) => listImportFiles(deps.limits, store, job));
}

export type FinishImportDeps = OrphanedStagesDeps & KeyNamingDeps & { readonly lanes: LaneStore };

/** Publishes a replacing job, counts the job's devices, stores the result, and removes the job's temporary data. */
export async function finishImport(deps: FinishImportDeps, job: ImportJob): Promise<void> {
  const summary = await deps.lanes.summarizeJob(job.id);
  for (const loadId of summary.cancelledLoadIds) await deps.stage.dropLoad(loadId);
  const isReplace = job.mode === importMode.replace;
  const outdated = findOutdatedAccounts(summary);
  const unpublishedLoads = outdated.filter((loadId) => summary.accounts.get(loadId)?.isPublished !== true);
  if (isReplace && failureOf(summary, job) === null && unpublishedLoads.length > 0)
    return restage(deps, job, unpublishedLoads);
  const failureOfFiles =
    failureOf(summary, job) ??
    (isReplace ? await findIncompleteStage(deps, { ...job, versions: versionsOfJob(job.seq) }, summary) : null);
  // If one file fails, a replacing job publishes nothing.
  const loadIds = isReplace && failureOfFiles ? [] : summary.loadIds;
  if (isReplace) await swapIn(deps, job, summary.loadIds, loadIds);
  // Loads that were published before the list changed may have staged devices that are on it now.
  const except = outdated.length > 0 ? summary.suppression : initialSuppressionList;
  const { rows, devices } = await deps.warehouse.publishDevices(job.id, loadIds, except);
  const isIncomplete = loadIds.length > 0 && rows !== summary.acceptedRows;
  const uniqueDevices = isIncomplete && !isReplace ? await recountDevices(deps, job) : devices;
  const failure = failureOfFiles ?? (isIncomplete && isReplace ? missingRows(summary.acceptedRows, rows) : null);
  const errors = errorsOf(summary, await nameKeysOfErrors(deps, job, summary.errors), failure);
  await deps.lanes.finishImport(job.id, { uniqueDevices, failure, errors });
  await deps.warehouse.dropJob(job.id);
  deps.log.info({ jobId: job.id, partnerId: job.partnerId, uniqueDevices, code: failure?.code }, 'job finished');
}

/** Returns the loads that were checked against an earlier version of the suppression list. */
function findOutdatedAccounts({ loadIds, accounts, suppression }: JobSummary): LoadId[] {
  return loadIds.filter((loadId) => isCheckOutdated(accounts.get(loadId)?.suppressionVersion ?? 0, suppression));
}

/**
 * Counts the job's devices from its published rows. The published rows still include devices whose staged rows were
 * lost with a server, and they were compared with the accounts of their loads when they were published.
 */
async function recountDevices({ warehouse, log }: FinishImportDeps, job: ImportJob): Promise<number> {
  log.warn({ jobId: job.id, partnerId: job.partnerId }, 'device rows are missing; counting the published rows');
  return warehouse.publishDevicesOfRows(job.partnerId, versionsOfJob(job.seq));
}

function missingRows(accepted: number, found: number): Failure {
  return new Failure('rows_missing', `${accepted} rows were accepted, but ${found} were found when the job finished.`);
}

/** Compares the stages of a replacing job with their accounts, before any row is replaced. */
async function findIncompleteStage(
  { lanes, stage, log }: FinishImportDeps,
  { id: jobId, partnerId, versions }: Pick<ImportJob, 'id' | 'partnerId'> & { readonly versions: JobVersions },
  { loadIds, accounts }: JobSummary,
): Promise<Failure | null> {
  for (const loadId of loadIds) {
    const account = accounts.get(loadId);
    if (!account || account.isPublished) continue;
    const target = { kind: 'attributes', versions, isReplacing: true } as const;
    const load = { loadId, jobId, partnerId, target, suppression: initialSuppressionList, bytes: 0 };
    const found = await stage.countStaged(load, []);
    const difference = shardDifference(account.staged, found);
    // Another holder of the lane may have replaced the rows and dropped the stage in the meantime.
    if (difference === null || (await lanes.findPublished([loadId])).has(loadId)) continue;
    log.error({ jobId, loadId, difference }, 'staged rows are missing');
    return new Failure('rows_missing', `${difference} Nothing was replaced.`);
  }
  return null;
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
  if (kept.length > 0) {
    await requireNoLateRows(deps);
    await deps.warehouse.replaceAttributes({ id, partnerId, versions: versionsOfJob(seq) }, kept);
    await deps.lanes.recordPublished(kept);
  }
  await deps.stage.dropStages(staged);
  await deps.warehouse.stopJob(id);
}

/**
 * Returns the errors for the record. The job's own failure is listed first, unless it only repeats the failure of the
 * job's single file.
 */
function errorsOf(
  { failedFiles, loadedFiles }: JobSummary,
  errors: readonly ImportLogError[],
  failure: Failure | null,
): readonly ImportLogError[] {
  if (!failure || (failedFiles === 1 && loadedFiles === 0)) return errors;
  return [errorOfJob(failure, Math.max(1, failedFiles)), ...errors].slice(0, importLogErrorLimit);
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
  const files = (await listFailedFiles(deps, job)) ?? (await listAudienceFiles(deps, job));
  const toLoad = await deps.lanes.startAudienceLoad(job, intoBatches(files));
  deps.log.info({ jobId: job.id, audienceId: job.audienceId, files: files.length, toLoad }, 'audience load started');
}

async function listAudienceFiles(deps: LoadAudienceDeps, job: AudienceJob): Promise<readonly FileToLoad[]> {
  const { filePath } = job.source;
  // Decision 25: the path as submitted, then the path without the prefix.
  const paths = job.literalPath === null ? [filePath] : [job.literalPath, filePath];
  const sources = paths.map((path) => ({ key: keyInPrefix(job.prefix, path), filePath: path, prefix: job.prefix }));
  const { objects } = await deps.sources.withObjects(job.source, (store) =>
    listSourceFiles(store, deps.limits, sources),
  );
  return objects.map((object) => ({ ...object, path: object.key, gzip: expectGzipByName(object.key) }));
}

/** Finishes an audience load. The audience's counts are already stored, because each publish step stores them. */
async function finishAudienceLoad(deps: LoadAudienceDeps, job: AudienceJob): Promise<void> {
  const summary = await deps.lanes.summarizeJob(job.id);
  for (const loadId of summary.cancelledLoadIds) await deps.stage.dropLoad(loadId);
  const failure = failureOfJob(summary);
  await deps.lanes.finishAudienceLoad(job.id, failure);
  deps.log.info({ jobId: job.id, audienceId: job.audienceId, code: failure?.code }, 'audience load finished');
}

type DeleteDeps = OrphanedStagesDeps & { readonly lanes: LaneStore };

function rowsOf({ partnerId, attributeIds, seq }: DeleteJob): AttributeRows {
  return { partnerId, attributeIds, versions: versionsOfJob(seq) };
}

/**
 * Counts the rows before the delete starts. After a takeover, some rows may already be deleted and could no longer be
 * counted.
 */
async function prepareDelete(deps: DeleteDeps, job: DeleteJob): Promise<void> {
  await deps.lanes.startDelete(job.id, await deps.warehouse.countAttributeRows(rowsOf(job)));
}

/** Deletes the rows. The job finishes only after the rows are gone from every part on every shard. */
async function finishDelete(deps: DeleteDeps, job: DeleteJob): Promise<boolean> {
  await requireNoLateRows(deps);
  if (!(await deps.warehouse.deleteAttributeRows(rowsOf(job)))) return false;
  await deps.lanes.finishDelete(job.id);
  deps.log.info(
    { jobId: job.id, partnerId: job.partnerId, attributes: job.attributeIds.length },
    'attribute data deleted',
  );
  return true;
}

/**
 * A replica that was unavailable can still have the stage of an earlier load and a running statement that publishes it.
 * Deleted or replaced rows would reappear if they were published again, so all such stages are dropped first.
 */
async function requireNoLateRows(deps: OrphanedStagesDeps): Promise<void> {
  if (deps.stage.hasReplicas) await dropOrphanedStages(deps, 'all');
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
 * dropped after publishing and before the commit. Therefore, once the lane continues, no statement can still write
 * these rows to the warehouse and undo a later delete. The load is recorded as published before its staging table is
 * dropped. A missing table without this record therefore means that rows were lost.
 */
export async function publishLoads(deps: PublishDeps, step: PublishStep): Promise<void> {
  const { job } = step;
  const outdated = findOutdated(step.loads);
  if (outdated.length > 0) return restage(deps, job, outdated);
  const countStaged = ({ load, fileIds }: StagedLoad): Promise<ShardRows> => deps.stage.countStaged(load, fileIds);
  const loads = await verifyRows(deps, job, step.loads, countStaged, { isPublishing: false });
  const committed =
    loads !== null &&
    ('before' in step
      ? await whileRunning(deps, step.job, loads, () => publishAudience(deps, step.job, loads, step.before))
      : await publishImport(deps, step.job, loads));
  const loadIds = step.loads.map(({ load }) => load.loadId);
  deps.log.info({ jobId: job.id, partnerId: job.partnerId, loadIds, committed }, 'loads published');
}

/**
 * Returns the loads that were checked against an earlier version of the suppression list. The rows of a device that was
 * added in the meantime must not be published. A load that is already published is not staged again.
 */
function findOutdated(loads: readonly StagedLoad[]): LoadId[] {
  return unpublished(loads)
    .filter(({ load, account }) => isCheckOutdated(account?.suppressionVersion ?? 0, load.suppression))
    .map(({ load }) => load.loadId);
}

/** Drops the stages and loads the files again. The job's other loads are published in the next step. */
async function restage(
  { lanes, stage, log }: Pick<PublishDeps, 'lanes' | 'stage' | 'log'>,
  job: Pick<LaneJob, 'id' | 'partnerId'>,
  loadIds: readonly LoadId[],
): Promise<void> {
  await lanes.restageFiles(job.id, loadIds);
  for (const loadId of loadIds) await stage.dropLoad(loadId);
  log.info({ jobId: job.id, partnerId: job.partnerId, loadIds }, 'suppression list has changed; loads staged again');
}

/** If rows are missing, a file is loaded again up to this many times before it fails. */
const maxReloads = 3;

/**
 * Compares the rows that `count` finds or publishes with the account of each load. If rows of a load are missing,
 * returns null, and the files of that load are loaded again from the source. Otherwise, returns the loads. If another
 * holder of the lane has published a load and dropped its stage in the meantime, no rows are missing, and the load is
 * returned as published. A load that this function publishes is recorded immediately, so that a retry does not publish
 * it again.
 */
async function verifyRows(
  deps: PublishDeps,
  job: LaneJob,
  loads: readonly StagedLoad[],
  count: (staged: StagedLoad) => Promise<ShardRows>,
  { isPublishing }: { readonly isPublishing: boolean },
): Promise<readonly StagedLoad[] | null> {
  const incomplete = new Map<LoadId, string>();
  for (const staged of unpublished(loads)) {
    const { loadId } = staged.load;
    const found = await count(staged);
    const difference = staged.account && shardDifference(staged.account.staged, found);
    if (difference !== null) incomplete.set(loadId, difference);
    else if (isPublishing) await deps.lanes.recordPublished([loadId]);
  }
  if (incomplete.size === 0) return loads;
  const published = await deps.lanes.findPublished([...incomplete.keys()]);
  const lost = loads.filter(({ load: { loadId } }) => incomplete.has(loadId) && !published.has(loadId));
  if (lost.length > 0) {
    const differences = lost.map(({ load: { loadId } }) => ({ loadId, difference: incomplete.get(loadId) }));
    deps.log.error({ jobId: job.id, partnerId: job.partnerId, differences }, 'staged rows are missing');
    await deps.lanes.reloadFiles(job.id, lost, maxReloads);
    for (const { load } of lost) await deps.stage.dropLoad(load.loadId);
    return null;
  }
  return loads.map((staged) =>
    staged.account && published.has(staged.load.loadId)
      ? { ...staged, account: { ...staged.account, isPublished: true } }
      : staged,
  );
}

async function publishImport(deps: PublishDeps, job: ImportJob, loads: readonly StagedLoad[]): Promise<boolean> {
  const plan = planImportPublish(job, loads);
  const publish = ({ load }: StagedLoad): Promise<ShardRows> => deps.warehouse.publish(load);
  if (!(await verifyRows(deps, job, plan.publish, publish, { isPublishing: true }))) return false;
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
  if (!counts) return false;
  await dropStages(deps.stage, planDrop(loads));
  return deps.lanes.commitAudienceLoads(job, loads, { ...counts, knownVersion: before.knownVersion });
}

/** A load that is already published may have no stage, so publishing it again would find no rows. */
function unpublished(loads: readonly StagedLoad[]): readonly StagedLoad[] {
  return loads.filter(({ account }) => account?.isPublished !== true);
}

/** Returns null if the published rows differ from the staged rows. */
async function publishAndCount(
  deps: PublishDeps,
  job: AudienceJob,
  loads: readonly StagedLoad[],
  before: CountsBefore,
): Promise<DeviceCounts | null> {
  const { audienceWarehouse } = deps;
  const plan = planCount(loads, before);
  const publish = (): Promise<readonly StagedLoad[] | null> =>
    verifyRows(deps, job, loads, ({ load, fileIds }) => audienceWarehouse.publish(load, fileIds), {
      isPublishing: true,
    });
  // Runs before the staging tables are dropped, because a file's devices cannot be counted afterward.
  const countFiles = async (uncounted: readonly StagedLoad[]): Promise<void> => {
    for (const { load, fileIds } of uncounted) {
      await deps.lanes.recordUploadedDevices(load.loadId, await audienceWarehouse.countUploaded(load, fileIds));
    }
  };
  if (plan.method === 'incremental') {
    const [added] = await Promise.all([audienceWarehouse.countNewDevices(job, loads), countFiles(plan.uncounted)]);
    if (!(await publish())) return null;
    if (added === null) return audienceWarehouse.countDevices(job, plan.maxDevices);
    const unique = before.unique + added.unique;
    if (!plan.recountMatched) return { unique, matched: before.matched + added.matched };
    return { unique, matched: (await audienceWarehouse.countDevices(job, unique)).matched };
  }
  // Count the files first. If a replica and its stage are lost after publishing, the devices of the staged files can no
  // longer be counted.
  if (deps.stage.hasReplicas) await countFiles(plan.uncounted);
  if (!(await publish())) return null;
  const [counts] = await Promise.all([
    audienceWarehouse.countDevices(job, plan.maxDevices),
    deps.stage.hasReplicas ? null : countFiles(plan.uncounted),
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
 * Runs `run` and stops its statements if the job is canceled in the meantime. Polling is needed because a clear does
 * not wait for the jobs that it cancels.
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
