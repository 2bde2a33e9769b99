import type { AcceptedRequests } from '../ports/accepted-requests.ts';
import type { FileStore } from '../ports/file-store.ts';
import type { LaneStore } from '../ports/lane-store.ts';
import type { Log } from '../ports/log.ts';
import type { LoadStage } from '../ports/load-stage.ts';
import type { RequestWindows } from '../ports/request-windows.ts';
import type { Warehouse } from '../ports/warehouse.ts';

type Deps = {
  readonly lanes: LaneStore;
  readonly files: FileStore;
  readonly stage: LoadStage;
  readonly warehouse: Warehouse;
  readonly log: Log;
};

/** How often, over all workers together; each asks as often. */
export const wakeEverySeconds = 10;
export const orphansEverySeconds = 60;
export const forgetEverySeconds = 600;
export const windowsEverySeconds = 300;

/** A transaction of this size is over in a moment. */
const forgottenAtATime = 10_000;

/** Mends a lane that lost its token, whatever the cause. Waking a lane that needs nothing costs one short look. */
export async function wakeLanes(deps: Deps): Promise<void> {
  if (await deps.lanes.takeTurn('wake lanes', wakeEverySeconds)) await deps.lanes.wakeLanes();
}

/**
 * Removes stages that nobody owns any more. The list is read before the owners are asked: a load gets its id before
 * it stages anything, so whatever is listed and not live has ended.
 */
export async function dropOrphanedStages(deps: Deps): Promise<void> {
  if (!(await deps.lanes.takeTurn('drop orphaned stages', orphansEverySeconds))) return;
  const staged = await deps.stage.listStaged();
  const live = await deps.files.findLive(staged);
  for (const loadId of staged.loadIds) {
    if (live.loadIds.has(loadId)) continue;
    await deps.stage.dropLoad(loadId);
    deps.log.warn({ loadId }, 'dropped an orphaned stage');
  }
  for (const jobId of staged.jobIds) {
    if (live.jobIds.has(jobId)) continue;
    await deps.warehouse.dropJob(jobId);
    deps.log.warn({ jobId }, 'dropped what an ended job had left');
  }
}

/** Requests that were sent with an Idempotency-Key, once their time is over. */
export async function forgetAcceptedRequests(deps: {
  readonly lanes: LaneStore;
  readonly requests: AcceptedRequests;
}): Promise<void> {
  if (!(await deps.lanes.takeTurn('forget accepted requests', forgetEverySeconds))) return;
  let forgotten = forgottenAtATime;
  while (forgotten === forgottenAtATime) forgotten = await deps.requests.forgetOld(forgottenAtATime);
}

/** A key that is used no more leaves the row of its last window behind. */
export async function sweepRequestWindows(deps: {
  readonly lanes: LaneStore;
  readonly requestWindows: RequestWindows;
}): Promise<void> {
  if (await deps.lanes.takeTurn('sweep request windows', windowsEverySeconds)) await deps.requestWindows.sweep();
}
