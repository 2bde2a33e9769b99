import type { LoadId } from '../../domain/ids.ts';
import { importMode } from '../../domain/import-log.ts';
import { type CountsBefore, type ImportJob, type StagedLoad, isTakenOver } from '../../ports/lane-store.ts';

/** Staging tables to drop after publishing. */
export type DropPlan = {
  readonly drop: readonly LoadId[];
  /**
   * An earlier holder of the lane claimed these loads and may still be publishing them, so its statements must be
   * stopped first.
   */
  readonly stopAndDrop: readonly LoadId[];
};

export type ImportPublishPlan = DropPlan & { readonly publish: readonly StagedLoad[] };

/** A merging job publishes each load as it comes. A replacing job publishes all of them when it finishes. */
export function planImportPublish({ mode }: ImportJob, loads: readonly StagedLoad[]): ImportPublishPlan {
  if (mode === importMode.replace) return { publish: [], drop: [], stopAndDrop: [] };
  return { publish: loads, ...planDrop(loads) };
}

export function planDrop(loads: readonly StagedLoad[]): DropPlan {
  const loadIds = (which: readonly StagedLoad[]): number[] => which.map(({ load }) => load.loadId);
  return {
    drop: loadIds(loads.filter((staged) => !isTakenOver(staged))),
    stopAndDrop: loadIds(loads.filter(isTakenOver)),
  };
}

/** How an audience is counted when loads are published to it. */
export type CountPlan =
  | {
      /** Count the new devices before publishing and add them to the stored counts. */
      readonly method: 'incremental';
      /** The stored matched count is stale, so it is counted in full. */
      readonly recountMatched: boolean;
      readonly uncounted: readonly StagedLoad[];
    }
  | {
      /** Publish first, then count the whole audience. */
      readonly method: 'full';
      /** Upper bound on the devices, from which the warehouse chooses how to count. */
      readonly maxDevices: number;
      /**
       * The audience's only file. Its device count equals the audience's count, so the file is not counted separately.
       */
      readonly onlyFileId: number | null;
      readonly uncounted: readonly StagedLoad[];
    };

/** A lookup of more devices than this takes more memory than a full count of the audience. */
const maxLookupRows = 2_000_000;

/** The lookup names each file several times in one statement. */
const maxLookupFiles = 500;

/** A lookup costs a fraction of a full count, but pays off only if the audience is larger than the load. */
const minAudienceToLoadRatio = 4;

/**
 * A small group is counted incrementally. After a takeover, the audience is always counted in full, because the earlier
 * holder may have published some of the rows, which would then not count as new. Only the lane's holder publishes, so
 * either method gives the counts of the loaded files plus these.
 */
export function planCount(loads: readonly StagedLoad[], before: CountsBefore): CountPlan {
  const rows = loads.reduce((sum, load) => sum + load.rows, 0);
  const files = loads.reduce((sum, { fileIds }) => sum + fileIds.length, 0);
  const uncounted = loads.filter(({ isCounted }) => !isCounted);
  const isRetry = loads.some(isTakenOver);
  const isSmall = rows <= maxLookupRows && rows * minAudienceToLoadRatio <= before.unique && files <= maxLookupFiles;
  if (!isRetry && isSmall) return { method: 'incremental', recountMatched: !before.isMatchedCurrent, uncounted };
  const [onlyFileId = null] = !isRetry && before.unique === 0 && files === 1 ? (uncounted[0]?.fileIds ?? []) : [];
  return {
    method: 'full',
    maxDevices: before.unique + rows,
    onlyFileId,
    uncounted: onlyFileId === null ? uncounted : [],
  };
}
