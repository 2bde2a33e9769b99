import type { AudienceStore, DeadGeneration } from '../../ports/audience-store.ts';
import type { LaneStore } from '../../ports/lane-store.ts';
import type { FileStore, LoadStage } from '../../ports/load-stage.ts';
import type { Log } from '../../ports/observability.ts';
import type { AcceptedRequests, RequestWindows } from '../../ports/request-store.ts';
import type { UsageStore } from '../../ports/usage-store.ts';
import type { Warehouse, AudienceWarehouse } from '../../ports/warehouse.ts';

type Deps = {
  readonly lanes: LaneStore;
  readonly files: FileStore;
  readonly stage: LoadStage;
  readonly warehouse: Warehouse;
  readonly log: Log;
};

/** Task intervals. Every worker tries to run a task at its interval, and one worker runs it. */
export const wakeEverySeconds = 10;
export const orphansEverySeconds = 60;
export const forgetEverySeconds = 600;
export const windowsEverySeconds = 300;
export const usageEverySeconds = 300;

/** Maximum number of requests deleted in one transaction, to keep transactions short. */
const forgottenAtATime = 10_000;

/** Requeues lanes that lost their token. Requeuing an idle lane costs one short query. */
export async function requeueIdleLanes(deps: Deps): Promise<void> {
  if (await deps.lanes.claimTurn('wake lanes', wakeEverySeconds)) await deps.lanes.requeueIdleLanes();
}

/**
 * Drops staging tables that have no owner. The tables are listed before the owners. A load gets its ID before it stages
 * anything, so a listed table without a live load belongs to a load that has ended.
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
    deps.log.warn({ jobId }, 'dropped leftovers of a finished job');
  }
}

/** Deletes expired idempotency keys. */
export async function forgetAcceptedRequests(deps: {
  readonly lanes: LaneStore;
  readonly requests: AcceptedRequests;
}): Promise<void> {
  if (!(await deps.lanes.claimTurn('forget accepted requests', forgetEverySeconds))) return;
  let forgotten = forgottenAtATime;
  while (forgotten === forgottenAtATime) forgotten = await deps.requests.deleteExpired(forgottenAtATime);
}

/** Deletes rate limit windows of keys that are no longer used. */
export async function sweepRequestWindows(deps: {
  readonly lanes: LaneStore;
  readonly requestWindows: RequestWindows;
}): Promise<void> {
  if (await deps.lanes.claimTurn('sweep request windows', windowsEverySeconds)) await deps.requestWindows.sweep();
}

/** Measures what each partner uses of its quotas. */
export async function measureUsage(deps: {
  readonly lanes: LaneStore;
  readonly warehouse: Warehouse;
  readonly usage: UsageStore;
}): Promise<void> {
  if (!(await deps.lanes.claimTurn('measure usage', usageEverySeconds))) return;
  await deps.usage.recordIdempotencyKeys();
  await deps.usage.recordStoredData(await deps.warehouse.measureStoredData());
}

type PurgeDeps = {
  readonly audiences: AudienceStore;
  readonly audienceWarehouse: AudienceWarehouse;
  readonly log: Log;
};

/** Maximum number of dead generations in one purge. */
const generationsAtATime = 100;

/** How often a running purge renews its lease, in milliseconds. */
const keepEvery = 30_000;

/**
 * Purges rows of cleared audiences from ClickHouse in the background. One mutation covers the dead generations of many
 * partners. Only one purge runs at a time across all workers, and purges of one partner run for only a small share of
 * the time. Nothing reads these rows, so nothing waits for the purge. A worker that shuts down does not wait either,
 * because ClickHouse continues the mutation.
 */
export async function purgeGenerations(deps: PurgeDeps, signal: AbortSignal): Promise<void> {
  const due = await deps.audiences.claimDueGenerations(generationsAtATime);
  if (due.length === 0) return;
  const partnerIds = [...new Set(due.map(({ partnerId }) => partnerId))];
  const start = performance.now();
  const keeping = setInterval(() => {
    deps.audiences
      .renewPurgeLease(partnerIds)
      .catch((error: unknown) => deps.log.warn({ partnerIds, err: error }, 'cannot extend the purge lease'));
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
