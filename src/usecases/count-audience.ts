import type { AudienceWarehouse, DeviceCounts } from '../ports/audience-warehouse.ts';
import {
  isTakenOver,
  type AudienceJob,
  type CountsBefore,
  type LaneStore,
  type StagedLoad,
} from '../ports/lane-store.ts';

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
