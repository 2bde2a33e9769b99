import type { AudienceStore, DeadGeneration } from '../../ports/audience-store.ts';
import type { LaneStore } from '../../ports/lane-store.ts';
import type { FileStore, LoadStage } from '../../ports/load-stage.ts';
import type { Log } from '../../ports/observability.ts';
import type { AcceptedRequests, RequestWindows } from '../../ports/request-store.ts';
import type { Warehouse, AudienceWarehouse } from '../../ports/warehouse.ts';

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
  if (await deps.lanes.claimTurn('wake lanes', wakeEverySeconds)) await deps.lanes.wakeLanes();
}

/**
 * Removes stages that nobody owns any more. The list is read before the owners are asked: a load gets its id before
 * it stages anything, so whatever is listed and not live has ended.
 */
export async function dropOrphanedStages(deps: Deps): Promise<void> {
  if (!(await deps.lanes.claimTurn('drop orphaned stages', orphansEverySeconds))) return;
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
  if (!(await deps.lanes.claimTurn('forget accepted requests', forgetEverySeconds))) return;
  let forgotten = forgottenAtATime;
  while (forgotten === forgottenAtATime) forgotten = await deps.requests.deleteExpired(forgottenAtATime);
}

/** A key that is used no more leaves the row of its last window behind. */
export async function sweepRequestWindows(deps: {
  readonly lanes: LaneStore;
  readonly requestWindows: RequestWindows;
}): Promise<void> {
  if (await deps.lanes.claimTurn('sweep request windows', windowsEverySeconds)) await deps.requestWindows.sweep();
}

type PurgeDeps = {
  readonly audiences: AudienceStore;
  readonly audienceWarehouse: AudienceWarehouse;
  readonly log: Log;
};

/** Dead generations removed together. */
const generationsAtATime = 100;

/** While a purge runs, it says so. */
const keepEvery = 30_000;

/**
 * Removes what clears left in the engine, in the background: dead generations of many partners with one rewriting of the
 * parts that hold them, in the whole fleet one at a time, and each partner only a small part of the time.
 * Nobody waits for it: nothing reads these rows. A worker that stops does not wait either; the engine goes on alone.
 */
export async function purgeGenerations(deps: PurgeDeps, signal: AbortSignal): Promise<void> {
  const due = await deps.audiences.claimDueGenerations(generationsAtATime);
  if (due.length === 0) return;
  const partnerIds = [...new Set(due.map(({ partnerId }) => partnerId))];
  const start = performance.now();
  const keeping = setInterval(() => {
    deps.audiences
      .renewPurgeLease(partnerIds)
      .catch((error: unknown) => deps.log.warn({ partnerIds, err: error }, 'a purge could not say that it goes on'));
  }, keepEvery);
  try {
    await purge(deps, due, signal);
  } finally {
    clearInterval(keeping);
    await deps.audiences.endPurge(partnerIds, (performance.now() - start) / 1000);
  }
}

async function purge(deps: PurgeDeps, due: readonly DeadGeneration[], signal: AbortSignal): Promise<void> {
  const counted = [];
  for (const generation of due) {
    counted.push({ generation, rows: await deps.audienceWarehouse.countDead(generation) });
  }
  const toPurge = counted.flatMap(({ generation, rows }) => (rows > 0 ? [generation] : []));
  if (toPurge.length > 0) await deps.audienceWarehouse.purge(toPurge, signal);
  for (const { generation, rows } of counted) await deps.audiences.recordPurge(generation, rows);
  const rows = counted.reduce((sum, { rows: some }) => sum + some, 0);
  if (rows > 0) deps.log.info({ generations: toPurge.length, rows }, 'dead generations purged');
}
