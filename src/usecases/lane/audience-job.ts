import { expectGzipByName } from '../../domain/file-failure.ts';
import { failureOfJob } from '../../domain/job-outcome.ts';
import { intoBatches } from '../../domain/job.ts';
import type { Limits } from '../../domain/limits.ts';
import { keyInPrefix } from '../../domain/source-path.ts';
import {
  type AudienceJob,
  type CountsBefore,
  type LaneStore,
  type StagedLoad,
  isTakenOver,
} from '../../ports/lane-store.ts';
import type { LoadStage } from '../../ports/load-stage.ts';
import type { SourceStorage } from '../../ports/object-store.ts';
import type { Log } from '../../ports/observability.ts';
import type { AudienceWarehouse, DeviceCounts } from '../../ports/warehouse.ts';
import { listSourceFiles } from './list-source-files.ts';

export type LoadAudienceDeps = {
  readonly lanes: LaneStore;
  readonly sources: SourceStorage;
  readonly stage: LoadStage;
  readonly limits: Limits;
  readonly log: Log;
};

/**
 * Lists the files of an audience's job when its turn has come, and leaves out those that are loaded already. Jobs of a
 * partner run one after the other, so whatever an earlier one loaded is in the ledger by now.
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

/** The counts stand already: each group of files brought its own. */
export async function finishAudienceLoad(deps: LoadAudienceDeps, job: AudienceJob): Promise<void> {
  const summary = await deps.lanes.summarizeJob(job.id);
  for (const loadId of summary.cancelledLoadIds) await deps.stage.dropLoad(loadId);
  const failure = failureOfJob(summary);
  await deps.lanes.finishAudienceLoad(job.id, failure);
  deps.log.info({ jobId: job.id, audienceId: job.audienceId, code: failure?.code }, 'audience load finished');
}

type Deps = { readonly lanes: LaneStore; readonly audienceWarehouse: AudienceWarehouse };

/** Looking up more devices than these in an audience takes more memory than counting it anew. */
const mostToLookUp = 2_000_000;
/** Each is named in the statement, several times. */
const mostFilesToLookUp = 500;

/**
 * Publishes loads, counts their files and the audience with them. A small load is counted for itself, against what the
 * audience has, before it is published; otherwise the audience is counted anew afterwards. That is also done when another
 * holder of the lane took the loads before: it may have published some of them, and they would not count as new. Only the
 * holder of the lane publishes, so either way the counts are those of the files that are done and of these.
 */
export async function publishAndCount(
  deps: Deps,
  job: AudienceJob,
  loads: readonly StagedLoad[],
  before: CountsBefore,
): Promise<DeviceCounts> {
  const { audienceWarehouse } = deps;
  const isTaken = loads.some(isTakenOver);
  const brought = loads.reduce((sum, { rows }) => sum + rows, 0);
  if (!isTaken && isSmall(loads, brought, before.unique)) {
    const [added] = await Promise.all([audienceWarehouse.countNewDevices(job, loads), countFiles(deps, job, loads)]);
    await publish(deps, loads);
    const unique = before.unique + added.unique;
    if (before.isMatchedCurrent) return { unique, matched: before.matched + added.matched };
    return { unique, matched: (await audienceWarehouse.countDevices(job, unique)).matched };
  }
  await publish(deps, loads);
  const counting = audienceWarehouse.countDevices(job, before.unique + brought);
  const only = isTaken || before.unique > 0 ? null : onlyUncountedFile(loads);
  if (only === null) {
    const [counts] = await Promise.all([counting, countFiles(deps, job, loads)]);
    return counts;
  }
  const counts = await counting;
  await deps.lanes.noteUploaded(job.id, new Map([[only, counts.unique]]));
  return counts;
}

async function publish({ audienceWarehouse }: Deps, loads: readonly StagedLoad[]): Promise<void> {
  for (const { load, fileIds } of loads) await audienceWarehouse.publish(load, fileIds);
}

/** Writes the devices of each file down, while the stage is still there. */
async function countFiles(
  { lanes, audienceWarehouse }: Deps,
  job: AudienceJob,
  loads: readonly StagedLoad[],
): Promise<void> {
  for (const { load, fileIds, isCounted } of loads) {
    if (isCounted) continue;
    await lanes.noteUploaded(job.id, await audienceWarehouse.countUploaded(load, fileIds));
  }
}

/** Reading an audience to look something up takes a fraction of counting it, but counting a small one is nothing. */
function isSmall(loads: readonly StagedLoad[], brought: number, present: number): boolean {
  const files = loads.reduce((sum, { fileIds }) => sum + fileIds.length, 0);
  return brought <= mostToLookUp && brought * 4 <= present && files <= mostFilesToLookUp;
}

/** The devices of an audience that has one file are those of the file. */
function onlyUncountedFile(loads: readonly StagedLoad[]): number | null {
  const [first, ...others] = loads;
  const [file, ...otherFiles] = first?.fileIds ?? [];
  const isOnly = others.length === 0 && otherFiles.length === 0 && first?.isCounted === false;
  return isOnly && file !== undefined ? file : null;
}
