import { isExpired } from '../../domain/composition/budget.ts';
import { type CompositionCounts, splitOf } from '../../domain/composition/counts.ts';
import type { Noise } from '../../domain/composition/noise.ts';
import { type Protection, publishInPortions } from '../../domain/composition/protection.ts';
import type { AudienceProfiler } from '../../ports/device-index.ts';
import type { Log } from '../../ports/observability.ts';
import type { ClaimedRequest, ReportQueue, StoredCounts, WantedReport } from '../../ports/report-store.ts';
import { type BudgetDeps, chargeFor, whenPossible } from './report-budget.ts';

export type ComputeReportsDeps = BudgetDeps & {
  readonly reports: ReportQueue;
  readonly profiler: AudienceProfiler;
  readonly protection: Protection;
  readonly noise: Noise;
  readonly reportSettings: string;
  readonly log: Log;
};

/** How often every worker checks for requests. */
export const computeReportsEveryMs = 100;

/**
 * The number of reports that a worker computes at a time. Each one occupies a connection, and a CPU core on every
 * shard.
 */
export const concurrentReports = 2;

/** How often each worker deletes what has expired. */
export const removeExpiredReportsEverySeconds = 600;

/**
 * Another worker can claim the request again after this time, in case the first worker has died. If a computation takes
 * longer, its lock prevents other workers from starting it.
 */
const claimSeconds = 30;
const retryAfterSeconds = 10;
const foldedAgainAfterSeconds = 0.5;

/** Computes, protects, and stores the reports that callers wait for, one after another. */
export async function computeReports(deps: ComputeReportsDeps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const request = await deps.reports.claimRequest(deps.reportSettings, claimSeconds);
    if (!request) return;
    await computeRequested(deps, request, signal);
  }
}

async function computeRequested(deps: ComputeReportsDeps, request: ClaimedRequest, signal: AbortSignal): Promise<void> {
  const { reports, log } = deps;
  const { partnerId, audienceId } = request.audience;
  const start = performance.now();
  try {
    const outcome = await reports.runAlone(request, () => compute(deps, request, signal));
    if (outcome === null || outcome === 'not folded') {
      await reports.postpone(request, foldedAgainAfterSeconds);
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
type Outcome = 'published' | 'budget spent' | 'not folded';

async function compute(deps: ComputeReportsDeps, wanted: WantedReport, signal: AbortSignal): Promise<Outcome> {
  const { reports } = deps;
  const stored = await reports.findCounts(wanted);
  if (stored?.lastLoadId === wanted.audience.lastLoadId && !(await needsRefresh(deps, wanted, stored))) {
    await publish(deps, stored.counts, wanted);
    return 'published';
  }
  const counted = await count(deps, wanted, signal);
  if (typeof counted !== 'string') {
    await publish(deps, counted.counts, wanted);
    return 'published';
  }
  if (counted === 'budget spent' && stored) {
    const earlier = { ...wanted, audience: { ...wanted.audience, lastLoadId: stored.lastLoadId } };
    if (!(await reports.isPublished(earlier))) await publish(deps, stored.counts, earlier);
  }
  return counted;
}

/**
 * Whether the counts have expired and must be computed again. Counts that have not been published with these settings
 * yet are published first, which costs nothing.
 */
async function needsRefresh(
  { reports }: ComputeReportsDeps,
  wanted: WantedReport,
  { computedAt }: StoredCounts,
): Promise<boolean> {
  return isExpired(computedAt, new Date()) && (await reports.isPublished(wanted));
}

/**
 * Counts the devices and charges the budget, because every report of a new state is one more observation for an
 * attacker.
 */
async function count(
  deps: ComputeReportsDeps,
  wanted: WantedReport,
  signal: AbortSignal,
): Promise<StoredCounts | Exclude<Outcome, 'published'>> {
  const { reports, profiler } = deps;
  const { audience, counting } = wanted;
  const price = { owner: audience, kind: 'composition', draws: 1 } as const;
  if ((await whenPossible(deps, price)) !== null) return 'budget spent';
  const state = await reports.findIndexState(audience);
  const counts = state && (await profiler.profile(audience, counting, state, signal));
  // A fold has replaced bitmaps in the meantime. A rebuild is also detected, because it deletes the state before the
  // bitmaps.
  if (!counts || (await reports.findIndexState(audience))?.foldId !== state.foldId) return 'not folded';
  if (!(await reports.isCurrent(audience))) return 'not folded';
  const stored = { counts, computedAt: new Date() };
  return (await reports.saveCounts(wanted, stored, chargeFor(deps, price))) ? stored : 'budget spent';
}

/** Lets other work run between the portions. */
async function publish(
  { reports, protection, noise }: ComputeReportsDeps,
  counts: CompositionCounts,
  wanted: WantedReport,
): Promise<void> {
  const portions = publishInPortions(counts, splitOf(wanted.counting), protection, noise);
  for (;;) {
    const next = portions.next();
    if (next.done) return reports.savePublished(wanted, next.value);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
