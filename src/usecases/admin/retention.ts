import { endedCredentialDays } from '../../domain/own-access.ts';
import { type Retention, firstJobsWithin, purgedGenerationDays } from '../../domain/retention.ts';
import type { LaneStore } from '../../ports/lane-store.ts';
import type { Log } from '../../ports/observability.ts';
import type { RetentionStore } from '../../ports/retention-store.ts';
import { pause } from './pause.ts';
import { type UploadSweepDeps, abortExpiredUploads } from './sweep-uploads.ts';

/**
 * Time between two runs. Every worker tries more often, so that a run takes place even if workers are restarted every
 * few minutes.
 */
const retentionEverySeconds = 3_600;
export const retentionTriedEverySeconds = 300;

/** Maximum number of jobs, files, and other rows that one transaction removes, so that transactions stay short. */
export const removedAtATime = { jobs: 500, files: 5_000, rows: 10_000 } as const;

/** The length of each pause relative to the work before it. With 1, the sweep is active at most half of the time. */
const pausePerWork = 1;

type Deps = UploadSweepDeps & {
  readonly lanes: Pick<LaneStore, 'claimTurn'>;
  readonly retentionStore: RetentionStore;
  readonly retention: Retention;
  readonly log: Log;
};

/**
 * Removes records of finished work whose retention period has ended, in short transactions with pauses in between. If a
 * step fails, the others still run, and the whole run fails at the end.
 */
export async function removeExpiredRecords(deps: Deps, signal: AbortSignal): Promise<void> {
  if (!(await deps.lanes.claimTurn('remove expired records', retentionEverySeconds))) return;
  const { retentionStore: store, retention } = deps;
  const { rows } = removedAtATime;
  const steps: Readonly<Record<string, () => Promise<number>>> = {
    jobs: () => removeExpiredJobs(deps, signal),
    auditEntries: () => removeAll(() => store.removeAuditEntries(retention.auditLogDays, rows), signal),
    generations: () => removeAll(() => store.removePurgedGenerations(purgedGenerationDays, rows), signal),
    audiences: () => removeAll(() => store.removeDeletedAudiences(rows), signal),
    sessions: () => removeAll(() => store.removeExpiredSessions(rows), signal),
    uploads: () => removeAll(() => deps.uploadSweep.removeEnded(rows), signal),
    credentials: () => removeAll(() => store.removeEndedCredentials(endedCredentialDays, rows), signal),
    // Done last, because only this step needs the storage.
    abortedUploads: () => abortExpiredUploads(deps, signal),
  };
  const removed: Record<string, number> = {};
  const failed: string[] = [];
  for (const [step, run] of Object.entries(steps)) {
    try {
      removed[step] = await run();
    } catch (error) {
      if (signal.aborted) throw error;
      deps.log.warn({ step, err: error }, 'expired records not removed');
      failed.push(step);
    }
  }
  if (Object.values(removed).some((count) => count > 0)) deps.log.info(removed, 'expired records removed');
  if (failed.length > 0) throw new Error(`the removal of expired records failed: ${failed.join(', ')}`);
}

async function removeExpiredJobs({ retentionStore: store, retention }: Deps, signal: AbortSignal): Promise<number> {
  let removed = 0;
  for (let afterId: number | null = 0; afterId !== null && !signal.aborted;) {
    const days = retention.jobDays;
    const { jobIds, next } = await paced(signal, () =>
      store.listExpiredJobs({ days, afterId: afterId ?? 0, limit: removedAtATime.jobs }),
    );
    for (let left = jobIds; left.length > 0 && !signal.aborted;) {
      const first = await paced(signal, async () => {
        const filesOf = await store.countFiles(left, removedAtATime.files + 1);
        const taken = firstJobsWithin(left, filesOf, removedAtATime.files);
        await store.removeJobs(taken);
        return taken.length;
      });
      left = left.slice(first);
      removed += first;
    }
    afterId = next;
  }
  return removed;
}

async function removeAll(remove: () => Promise<number>, signal: AbortSignal): Promise<number> {
  let all = 0;
  for (let removed = Number.POSITIVE_INFINITY; removed > 0 && !signal.aborted;) {
    removed = await paced(signal, remove);
    all += removed;
  }
  return all;
}

/** Runs `work` and then pauses, so that the sweep leaves time for other work. */
async function paced<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const start = performance.now();
  const result = await work();
  await pause((performance.now() - start) * pausePerWork, signal);
  return result;
}
