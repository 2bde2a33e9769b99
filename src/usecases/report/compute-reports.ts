import { isExpired } from '../../domain/composition/budget.ts';
import { splitOf } from '../../domain/composition/counts.ts';
import type { Noise } from '../../domain/composition/noise.ts';
import { type Protection, publishInPortions } from '../../domain/composition/protection.ts';
import type { AudienceProfiler, IndexStore } from '../../ports/device-index.ts';
import type { Log } from '../../ports/observability.ts';
import type { ClaimedRequest, ReportQueue, WantedReport } from '../../ports/report-store.ts';
import { pause } from '../admin/pause.ts';
import { whileFoldsWait } from '../index/fold-index.ts';
import { type BudgetDeps, chargeFor, whenPossible } from './report-budget.ts';

export type ComputeReportsDeps = BudgetDeps & {
  readonly reports: ReportQueue;
  readonly indexStore: Pick<IndexStore, 'runAlone'>;
  readonly profiler: AudienceProfiler;
  readonly protection: Protection;
  readonly noise: Noise;
  readonly reportSettings: string;
  readonly log: Log;
};

/** How often every worker checks for requests. */
export const computeReportsEveryMs = 100;

/**
 * The number of reports that a worker computes concurrently. Each report occupies a connection and a CPU core on every
 * shard.
 */
const concurrentReports = 2;

/** How often each worker deletes expired data. */
export const removeExpiredReportsEverySeconds = 600;

/**
 * Another worker can claim the request after this time, in case the first worker has died. If a computation takes
 * longer, its lock prevents other workers from starting it.
 */
const claimSeconds = 30;
const retryAfterSeconds = 10;
const foldedAgainAfterSeconds = 0.5;

/**
 * Computes, protects, and stores the reports that callers are waiting for. Accepts further requests while it computes.
 */
export async function computeReports(deps: ComputeReportsDeps, signal: AbortSignal): Promise<void> {
  const running = new Set<Promise<void>>();
  do {
    const isFree = running.size < concurrentReports && !signal.aborted;
    const request = isFree ? await deps.reports.claimRequest(deps.reportSettings, claimSeconds) : null;
    if (request) {
      const computing = computeRequested(deps, request, signal).finally(() => running.delete(computing));
      running.add(computing);
    } else if (running.size > 0) await Promise.race([...running, pause(computeReportsEveryMs, signal)]);
  } while (running.size > 0);
}

async function computeRequested(deps: ComputeReportsDeps, request: ClaimedRequest, signal: AbortSignal): Promise<void> {
  const { reports, log } = deps;
  const { partnerId, audienceId } = request.audience;
  const start = performance.now();
  try {
    const outcome = await reports.runAlone(request, () => computeBesideFolds(deps, request, signal));
    if (outcome === null || outcome === 'not folded' || outcome === 'interrupted') {
      // If the bitmaps are incomplete while no fold runs, the failed fold must be repeated first.
      await reports.postpone(request, outcome === 'interrupted' ? retryAfterSeconds : foldedAgainAfterSeconds);
      return;
    }
    await reports.end(request);
    const seconds = Math.round(performance.now() - start) / 1000;
    log.info({ partnerId, audienceId, split: request.counting, seconds, outcome }, 'composition report computed');
  } catch (error) {
    if (!signal.aborted)
      log.error({ partnerId, audienceId, split: request.counting, err: error }, 'composition report failed');
    await reports.postpone(request, signal.aborted ? 0 : retryAfterSeconds);
  }
}

/**
 * If the budget is spent, the stored counts of an earlier load are published, because the settings may have changed
 * since they were last published.
 */
type Outcome = 'published' | 'budget spent' | 'not folded' | 'interrupted';

/** After folds have interrupted this many attempts, the report is computed while folds wait. */
const attemptsBesideFolds = 2;

/** The maximum wait for a running fold. After this time, another worker can claim the request. */
const waitForFoldsMs = 20_000;

/** Makes folds wait if necessary. Otherwise, constant folds could prevent a report from ever being completed. */
async function computeBesideFolds(
  deps: ComputeReportsDeps,
  wanted: WantedReport,
  signal: AbortSignal,
): Promise<Outcome> {
  let outcome: Outcome = 'interrupted';
  for (let attempt = 0; attempt < attemptsBesideFolds && outcome === 'interrupted'; attempt += 1)
    outcome = await compute(deps, wanted, signal);
  const computeAlone = async (): Promise<void> => {
    outcome = await compute(deps, wanted, signal);
  };
  if (outcome === 'interrupted') await whileFoldsWait(deps, computeAlone, { maxMs: waitForFoldsMs, signal });
  return outcome;
}

async function compute(deps: ComputeReportsDeps, wanted: WantedReport, signal: AbortSignal): Promise<Outcome> {
  const { reports } = deps;
  const counted = await reports.findCounted(wanted);
  const isOfThisLoad = counted?.lastLoadId === wanted.audience.lastLoadId;
  if (isOfThisLoad) {
    const isPublished = await reports.isPublished(wanted);
    // Counts that have not been published with these settings yet are published first. This is not charged.
    if (!isPublished) return publish(deps, wanted);
    if (!isExpired(counted.computedAt, new Date())) return 'published';
  }
  const outcome = await count(deps, wanted, signal);
  if (outcome === 'saved') return publish(deps, wanted);
  if (outcome === 'budget spent' && counted) {
    const earlier = { ...wanted, audience: { ...wanted.audience, lastLoadId: counted.lastLoadId } };
    if (!(await reports.isPublished(earlier))) await publish(deps, earlier);
  }
  return outcome;
}

/** Every report on a new state is one more observation for an attacker, so it is charged to the budget. */
async function count(
  deps: ComputeReportsDeps,
  wanted: WantedReport,
  signal: AbortSignal,
): Promise<'saved' | 'budget spent' | 'not folded' | 'interrupted'> {
  const { reports, profiler } = deps;
  const { audience, counting } = wanted;
  const price = { owner: audience, kind: 'composition', draws: 1 } as const;
  if ((await whenPossible(deps, price)) !== null) return 'budget spent';
  const state = await reports.findIndexState(audience);
  if (!state) return 'not folded';
  const counts = await profiler.profile(audience, counting, state, signal);
  // In the meantime, a fold has replaced bitmaps, or a rebuild has deleted the state. A rebuild deletes the state
  // before the bitmaps.
  if (!counts || (await reports.findIndexState(audience))?.foldId !== state.foldId) return 'interrupted';
  if (!(await reports.isCurrent(audience))) return 'not folded';
  const saved = await reports.saveCounts(wanted, { counts, computedAt: new Date() }, chargeFor(deps, price));
  return saved === 'superseded' ? 'not folded' : saved;
}

/** Protects the stored counts. Lets other work run between the portions. */
async function publish(
  { reports, protection, noise }: ComputeReportsDeps,
  wanted: WantedReport,
): Promise<'published' | 'not folded'> {
  const counts = await reports.readCounts(wanted);
  // Counts of a later state were stored in the meantime.
  if (!counts) return 'not folded';
  const portions = publishInPortions(counts, splitOf(wanted.counting), protection, noise);
  for (;;) {
    const next = portions.next();
    if (next.done) {
      await reports.savePublished(wanted, next.value);
      return 'published';
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
}
