import type { BatchId, JobId, LoadId } from '../../domain/ids.ts';
import type { AudienceJob, CountsBefore, DeleteJob, ImportJob, LaneJob } from '../../ports/lane-store.ts';

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
