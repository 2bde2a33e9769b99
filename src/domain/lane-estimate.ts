/** What a partner's lane has done recently, and the job that it is working on. */
export type LaneHistory = {
  /** The last finished jobs, newest first. */
  readonly finished: readonly { readonly createdAt: Date; readonly finishedAt: Date }[];
  /** The first open job. Null if the lane is idle. */
  readonly head: {
    /** Seconds since its files were listed. Null if they are not listed yet. */
    readonly elapsedSeconds: number | null;
    /** Estimated from its bytes. Null if no estimate is possible yet. */
    readonly secondsLeft: number | null;
  } | null;
};

/**
 * One more job than the number of times that are averaged, because a time is measured from the end of the previous job.
 */
export const jobsInHistory = 21;

/**
 * Estimates the seconds until the open job with this number of open jobs ahead is finished. A lane works on one job at
 * a time, so the duration of a job is measured from the end of the previous job, or from its submission if the lane was
 * idle. The estimate uses the mean, because the sizes of waiting jobs are unknown until their files are listed, and the
 * sum of many times approaches their number times the mean. More jobs would describe how busy the service was earlier: with
 * as many jobs as there are jobs ahead, up to 100, the median error in `wait-estimate.test.ts` was 71%. Null if no job
 * has finished.
 */
export function estimateWait({ finished, head }: LaneHistory, jobsAhead: number): number | null {
  const times = finished
    .slice(0, jobsInHistory - 1)
    .map(({ createdAt, finishedAt }, index) =>
      secondsBetween(later(createdAt, finished[index + 1]?.finishedAt), finishedAt),
    );
  if (times.length === 0) return null;
  const mean = times.reduce((sum, time) => sum + time, 0) / times.length;
  const ofHead = head?.secondsLeft ?? Math.max(mean - (head?.elapsedSeconds ?? 0), mean * leastShareLeft);
  return Math.ceil(ofHead + jobsAhead * mean);
}

/** A job that already takes longer than the mean is assumed to need this share of the mean. */
const leastShareLeft = 0.25;

function later(one: Date, other: Date | undefined): Date {
  return other && other > one ? other : one;
}

function secondsBetween(start: Date, end: Date): number {
  return Math.max(0, end.getTime() - start.getTime()) / 1000;
}
