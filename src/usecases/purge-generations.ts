import type { AudienceStore, DeadGeneration } from '../ports/audience-store.ts';
import type { AudienceWarehouse } from '../ports/audience-warehouse.ts';
import type { Log } from '../ports/log.ts';

type Deps = {
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
export async function purgeGenerations(deps: Deps, signal: AbortSignal): Promise<void> {
  const due = await deps.audiences.takeDue(generationsAtATime);
  if (due.length === 0) return;
  const partnerIds = [...new Set(due.map(({ partnerId }) => partnerId))];
  const start = performance.now();
  const keeping = setInterval(() => {
    deps.audiences
      .keepPurging(partnerIds)
      .catch((error: unknown) => deps.log.warn({ partnerIds, err: error }, 'a purge could not say that it goes on'));
  }, keepEvery);
  try {
    await purge(deps, due, signal);
  } finally {
    clearInterval(keeping);
    await deps.audiences.endPurge(partnerIds, (performance.now() - start) / 1000);
  }
}

async function purge(deps: Deps, due: readonly DeadGeneration[], signal: AbortSignal): Promise<void> {
  const counted = [];
  for (const generation of due) {
    counted.push({ generation, rows: await deps.audienceWarehouse.countDead(generation) });
  }
  const toPurge = counted.flatMap(({ generation, rows }) => (rows > 0 ? [generation] : []));
  if (toPurge.length > 0) await deps.audienceWarehouse.purge(toPurge, signal);
  for (const { generation, rows } of counted) await deps.audiences.notePurge(generation, rows);
  const rows = counted.reduce((sum, { rows: some }) => sum + some, 0);
  if (rows > 0) deps.log.info({ generations: toPurge.length, rows }, 'dead generations purged');
}
