import type { BatchId, JobId, LoadId } from '../../domain/ids.ts';
import { importMode } from '../../domain/import-log.ts';
import type { AudienceJob, CountsBefore, DeleteJob, ImportJob, LaneJob, StagedLoad } from '../../ports/lane-store.ts';

/** A partner's lane, read in one transaction while the lane is locked. */
export type LaneSnapshot = {
  /** True while a backup captures its consistent state. */
  readonly isPaused: boolean;
  /** True while the operator has suspended the partner. Its running job continues, and no other job starts. */
  readonly isSuspended: boolean;
  /** The oldest canceled job that may have left staged rows behind, with the loads to drop. */
  readonly canceled: { readonly jobId: JobId; readonly loadIds: readonly LoadId[] } | null;
  /** The oldest open job. */
  readonly head: LaneHead | null;
};

/**
 * The job at the head of the lane. An import or audience job starts when its files are listed. A delete starts when its
 * rows are counted.
 */
export type LaneHead = { readonly isCanceled: boolean } & (
  | { readonly isStarted: false; readonly job: LaneJob }
  | { readonly isStarted: true; readonly job: DeleteJob }
  | { readonly isStarted: true; readonly job: ImportJob; readonly files: FileProgress }
  | { readonly isStarted: true; readonly job: AudienceJob; readonly files: FileProgress; readonly before: CountsBefore }
);

/** The files of a started job that are not loaded yet. */
export type FileProgress = {
  /** The first batches with unstaged files, up to the limit of batches in flight. */
  readonly batchIds: readonly BatchId[];
  readonly stagedFiles: number;
  /** The number of accepted rows in the staged files. */
  readonly stagedRows: number;
  /** The age of the oldest staged file. */
  readonly stagedSeconds: number;
};

export type LaneDecision =
  /** Dispatch these batches and complete the token. A new job or a staged file sends another token. */
  | { readonly do: 'rest'; readonly dispatch: readonly BatchId[] }
  /** Drop the canceled job's staging tables. */
  | { readonly do: 'clean'; readonly jobId: JobId; readonly loadIds: readonly LoadId[] }
  /** End the canceled jobs at the head of the lane, then read the lane again. */
  | { readonly do: 'end canceled' }
  | { readonly do: 'prepare' | 'finish'; readonly job: LaneJob }
  /** Claim and publish every staged load of the job, and dispatch the next batches. */
  | { readonly do: 'publish'; readonly job: ImportJob; readonly dispatch: readonly BatchId[] }
  | {
      readonly do: 'publish';
      readonly job: AudienceJob;
      readonly before: CountsBefore;
      readonly dispatch: readonly BatchId[];
    };

/**
 * Decides the next step of a lane. Jobs run in submission order. A started job publishes its staged files while other
 * files load.
 */
export function decideNextStep({ isPaused, isSuspended, canceled, head }: LaneSnapshot): LaneDecision {
  // The backup requeues the lane after the pause. If the backup crashes, the periodic requeue does so.
  if (isPaused) return { do: 'rest', dispatch: [] };
  if (canceled) return { do: 'clean', ...canceled };
  if (!head) return { do: 'rest', dispatch: [] };
  if (!head.isStarted && head.isCanceled) return { do: 'end canceled' };
  // Resuming the partner sends another token.
  if (!head.isStarted) return isSuspended ? { do: 'rest', dispatch: [] } : { do: 'prepare', job: head.job };
  if (!('files' in head)) return { do: 'finish', job: head.job };
  const { batchIds: dispatch, stagedFiles } = head.files;
  if (head.isCanceled && dispatch.length > 0) return { do: 'end canceled' };
  if (stagedFiles > 0) {
    if (!('before' in head)) return { do: 'publish', job: head.job, dispatch };
    if (!shouldWait(head.files, head.before)) return { do: 'publish', job: head.job, before: head.before, dispatch };
  }
  return dispatch.length > 0 ? { do: 'rest', dispatch } : { do: 'finish', job: head.job };
}

/** An audience with fewer rows than this, including the staged rows, is cheap to count. */
const cheapRows = 250_000;

/** Counting this many devices takes a few seconds. A smaller group can wait for the files that are still loading. */
const largeGroupRows = 20_000_000;

/** The maximum wait. Without a limit, a file that is retried for a long time would hold up the others. */
const maxWaitSeconds = 60;

/**
 * Publishing to an audience may require a count of the whole audience. To avoid one count per file, staged files wait
 * while other files load. The wait ends after a minute, or when the staged rows reach both 20 million and the size of
 * the audience.
 */
function shouldWait({ batchIds, stagedRows, stagedSeconds }: FileProgress, before: CountsBefore): boolean {
  return (
    batchIds.length > 0 &&
    before.unique + stagedRows >= cheapRows &&
    stagedSeconds <= maxWaitSeconds &&
    stagedRows < Math.max(largeGroupRows, before.unique)
  );
}

/** The staging tables to drop after publishing. */
export type DropPlan = {
  readonly drop: readonly LoadId[];
  /**
   * An earlier holder of the lane claimed these loads and may still be publishing them. Its statements must be stopped
   * before the tables are dropped.
   */
  readonly stopAndDrop: readonly LoadId[];
};

export type ImportPublishPlan = DropPlan & { readonly publish: readonly StagedLoad[] };

/**
 * A merging job publishes its loads as soon as they are staged. A replacing job publishes all its loads when it
 * finishes.
 */
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

/** Returns true if an earlier holder of the lane claimed the load. That holder may still be publishing it. */
export function isTakenOver({ publishAttempt }: StagedLoad): boolean {
  return publishAttempt > 1;
}

/** Describes how to count an audience when loads are published to it. */
export type CountPlan =
  | {
      /** Count the new devices before publishing, and add them to the stored counts. */
      readonly method: 'incremental';
      /** True if the stored matched count is stale. The matched devices are then counted in full. */
      readonly recountMatched: boolean;
      readonly maxDevices: number;
      readonly uncounted: readonly StagedLoad[];
    }
  | {
      /** Publish first, then count the whole audience. */
      readonly method: 'full';
      /** The maximum number of devices. The warehouse uses it to choose a counting method. */
      readonly maxDevices: number;
      /**
       * The audience's only file, if there is exactly one. Its device count equals the audience's count, so the file is
       * not counted separately.
       */
      readonly onlyFileId: number | null;
      readonly uncounted: readonly StagedLoad[];
    };

/** Looking up more devices than this takes more memory than a full count of the audience. */
const maxLookupRows = 2_000_000;

/** The maximum number of files in a lookup. The statement contains each file ID several times. */
const maxLookupFiles = 500;

/** The minimum ratio of audience size to load size for a lookup. With a smaller audience, a full count is cheaper. */
const minAudienceToLoadRatio = 4;

/**
 * Chooses how to count the audience. A small group is counted incrementally. After a takeover, the audience is always
 * counted in full. The earlier holder may have published some of the rows, and an incremental count would miss them.
 * Only the lane's holder publishes, so both methods return the same counts.
 */
export function planCount(loads: readonly StagedLoad[], before: CountsBefore): CountPlan {
  const rows = loads.reduce((sum, load) => sum + load.rows, 0);
  const files = loads.reduce((sum, { fileIds }) => sum + fileIds.length, 0);
  const uncounted = loads.filter(({ isCounted }) => !isCounted);
  const isRetry = loads.some(isTakenOver);
  const isSmall = rows <= maxLookupRows && rows * minAudienceToLoadRatio <= before.unique && files <= maxLookupFiles;
  const maxDevices = before.unique + rows;
  if (!isRetry && isSmall) {
    return { method: 'incremental', recountMatched: !before.isMatchedCurrent, maxDevices, uncounted };
  }
  const [onlyFileId = null] = !isRetry && before.unique === 0 && files === 1 ? (uncounted[0]?.fileIds ?? []) : [];
  return {
    method: 'full',
    maxDevices,
    onlyFileId,
    uncounted: onlyFileId === null ? uncounted : [],
  };
}
