import type { BatchId, JobId, LoadId } from '../../domain/ids.ts';
import { importMode } from '../../domain/import-log.ts';
import type { AudienceJob, CountsBefore, DeleteJob, ImportJob, LaneJob, StagedLoad } from '../../ports/lane-store.ts';

/** A partner's lane as read in one transaction, under the lane's lock. */
export type LaneSnapshot = {
  /** A backup is taking its cut. */
  readonly isPaused: boolean;
  /** The oldest canceled job that may have left staged rows behind, and the loads to drop. */
  readonly canceled: { readonly jobId: JobId; readonly loadIds: readonly LoadId[] } | null;
  /** The oldest open job. */
  readonly head: LaneHead | null;
};

/** A job starts when its files are listed, or for a delete when its rows are counted. */
export type LaneHead = { readonly isCanceled: boolean } & (
  | { readonly isStarted: false; readonly job: LaneJob }
  | { readonly isStarted: true; readonly job: DeleteJob }
  | { readonly isStarted: true; readonly job: ImportJob; readonly files: FileProgress }
  | { readonly isStarted: true; readonly job: AudienceJob; readonly files: FileProgress; readonly before: CountsBefore }
);

/** The open files of a started job. */
export type FileProgress = {
  /** The first batches with a file that is not staged, as many as may be in flight. */
  readonly batchIds: readonly BatchId[];
  readonly stagedFiles: number;
  /** Accepted rows in the staged files. */
  readonly stagedRows: number;
  /** Age of the oldest staged file. */
  readonly stagedSeconds: number;
};

export type LaneDecision =
  /** Complete the token. A new job or a staged file sends another. */
  | { readonly do: 'rest'; readonly dispatch: readonly BatchId[] }
  /** Drop the canceled job's staging tables. */
  | { readonly do: 'clean'; readonly jobId: JobId; readonly loadIds: readonly LoadId[] }
  /** End the canceled jobs at the head of the lane, then read the lane again. */
  | { readonly do: 'end canceled' }
  | { readonly do: 'prepare' | 'finish'; readonly job: LaneJob }
  /** Claim and publish every staged load of the job, and send out the next batches. */
  | { readonly do: 'publish'; readonly job: ImportJob; readonly dispatch: readonly BatchId[] }
  | {
      readonly do: 'publish';
      readonly job: AudienceJob;
      readonly before: CountsBefore;
      readonly dispatch: readonly BatchId[];
    };

/** The lane policy. Jobs run in submission order, and a started job publishes what is staged while other files load. */
export function decideNextStep({ isPaused, canceled, head }: LaneSnapshot): LaneDecision {
  // The backup requeues the lane when it resumes publishing. If the backup dies, the periodic requeue does so.
  if (isPaused) return { do: 'rest', dispatch: [] };
  if (canceled) return { do: 'clean', ...canceled };
  if (!head) return { do: 'rest', dispatch: [] };
  if (!head.isStarted) return head.isCanceled ? { do: 'end canceled' } : { do: 'prepare', job: head.job };
  if (!('files' in head)) return { do: 'finish', job: head.job };
  const { batchIds: dispatch, stagedFiles } = head.files;
  if (head.isCanceled && dispatch.length > 0) return { do: 'end canceled' };
  if (stagedFiles > 0) {
    if (!('before' in head)) return { do: 'publish', job: head.job, dispatch };
    if (!shouldWait(head.files, head.before)) return { do: 'publish', job: head.job, before: head.before, dispatch };
  }
  return dispatch.length > 0 ? { do: 'rest', dispatch } : { do: 'finish', job: head.job };
}

/** Counting an audience below this size costs almost nothing. */
const cheapRows = 250_000;

/** Counting this many devices takes a few seconds. A smaller group may wait for the files that are still loading. */
const largeGroupRows = 20_000_000;

/** Upper bound on the wait, because another file may be in a long series of retries. */
const maxWaitSeconds = 60;

/**
 * Publishing to an audience may count the whole audience. To avoid one count per file, staged files wait until no other
 * file is loading, until they bring at least as many rows as the audience has devices, or for a minute.
 */
function shouldWait({ batchIds, stagedRows, stagedSeconds }: FileProgress, before: CountsBefore): boolean {
  return (
    batchIds.length > 0 &&
    before.unique + stagedRows >= cheapRows &&
    stagedSeconds <= maxWaitSeconds &&
    stagedRows < Math.max(largeGroupRows, before.unique)
  );
}

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

/** True if an earlier holder of the lane claimed the load and may still be publishing it. */
export function isTakenOver({ publishAttempt }: StagedLoad): boolean {
  return publishAttempt > 1;
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
