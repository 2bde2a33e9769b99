import { planPurge } from '../../domain/purge.ts';
import type { AudienceStore, DeadGeneration } from '../../ports/audience-store.ts';
import type { LaneStore } from '../../ports/lane-store.ts';
import type { FileStore, LoadStage } from '../../ports/load-stage.ts';
import type { Log } from '../../ports/observability.ts';
import type { AcceptedRequests, RequestWindows } from '../../ports/request-store.ts';
import type { UsageStore } from '../../ports/usage-store.ts';
import type { Warehouse, AudienceWarehouse } from '../../ports/warehouse.ts';
import { dropOrphanedStages } from '../load/orphaned-stages.ts';

type Deps = {
  readonly lanes: LaneStore;
  readonly files: FileStore;
  readonly stage: LoadStage;
  readonly warehouse: Warehouse;
  readonly log: Log;
};

/** Task intervals. Every worker tries to run each task at its interval, but only one worker runs it. */
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

export async function sweepStages(deps: Deps): Promise<void> {
  if (await deps.lanes.claimTurn('drop orphaned stages', orphansEverySeconds)) {
    await dropOrphanedStages(deps, 'available');
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

/** Measures how much of its quotas each partner has used. */
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
  /** The longest time that a large partner's dead rows wait for more dead rows to be purged with them. */
  readonly purgeWaitSeconds: number;
};

/** Maximum number of dead generations in one purge. */
const generationsAtATime = 10_000;

/** How often a running purge renews its claim, in milliseconds. */
const keepEvery = 30_000;

/** The rows of postponed generations are counted again after this time. */
const recountAfterSeconds = 600;

/**
 * Purges rows of cleared audiences from ClickHouse in the background. One mutation covers all due generations of all
 * partners, because a mutation renames every part of the table. Only one purge runs at a time across all workers, with
 * a pause after each purge. Nothing reads these rows, so nothing waits for the purge. A worker that shuts down does not
 * wait either, because ClickHouse continues the mutation.
 */
export async function purgeGenerations(deps: PurgeDeps, signal: AbortSignal): Promise<void> {
  const due = await deps.audiences.claimDueGenerations(generationsAtATime);
  if (due.length === 0) return;
  const start = performance.now();
  const keeping = setInterval(() => {
    deps.audiences
      .renewPurgeClaim()
      .catch((error: unknown) => deps.log.warn({ err: error }, 'cannot extend the claim of the purge'));
  }, keepEvery);
  try {
    await purge(deps, due, signal);
  } finally {
    clearInterval(keeping);
    await deps.audiences.endPurge((performance.now() - start) / 1000);
  }
}

async function purge(deps: PurgeDeps, due: readonly DeadGeneration[], signal: AbortSignal): Promise<void> {
  const { rows, storedRows } = await deps.audienceWarehouse.countDead(due);
  const counted = due.map((generation, index) => ({ ...generation, rows: rows[index] ?? 0 }));
  const plan = planPurge(counted, storedRows, { now: new Date(), maxWaitSeconds: deps.purgeWaitSeconds });
  if (plan.purge.length > 0) await deps.audienceWarehouse.purge(plan.purge, signal);
  await deps.audiences.recordPurges([...plan.purge, ...plan.empty]);
  await deps.audiences.postponePurges(plan.wait, recountAfterSeconds);
  const purgedRows = plan.purge.reduce((sum, { rows: some }) => sum + some, 0);
  if (purgedRows > 0) {
    deps.log.info(
      { generations: plan.purge.length, rows: purgedRows, waiting: plan.wait.length },
      'dead generations purged',
    );
  }
}
