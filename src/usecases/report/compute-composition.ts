import { type CompositionCounts, type Counting, type Split, countingOf } from '../../domain/composition/counts.ts';
import type { Noise } from '../../domain/composition/noise.ts';
import {
  type Protection,
  type PublishedReport,
  isProtecting,
  publishInPortions,
} from '../../domain/composition/protection.ts';
import { Failure } from '../../domain/failure.ts';
import type { AudienceState, CompositionStore, StoredCounts, StoredReport } from '../../ports/audience-store.ts';
import type { AudienceProfiler } from '../../ports/device-index.ts';
import type { RequireTopology } from '../admin/topology.ts';

type Deps = {
  readonly compositions: CompositionStore;
  readonly profiler: AudienceProfiler;
  readonly requireTopology: RequireTopology;
  readonly protection: Protection;
  readonly noise: Noise;
  /** Identifies the protection and the key of the noise. A report is published again after they change. */
  readonly settings: string;
  /** Maximum number of new reports per partner and day. 0 disables the limit. */
  readonly reportsPerDay: number;
};

export type CompositionComputer = {
  /** Returns null when the report is not stored, or was published with other settings. */
  readonly find: (audience: AudienceState, split: Split | null) => Promise<StoredReport | null>;
  /** Waits for a running computation of the same report in any process, or starts one. */
  readonly compute: (audience: AudienceState, split: Split | null) => Promise<StoredReport>;
  readonly stop: () => void;
};

/** Maximum number of concurrent computations. Each one occupies a connection and a core on every shard. */
const maxConcurrent = 2;

/**
 * Maximum number of running and waiting computations per partner. Further requests get `report_not_ready`, so that one
 * partner cannot block the others.
 */
const maxPerPartner = 4;
const pollEveryMs = 500;

export function compositionComputer(deps: Deps): CompositionComputer {
  const stopping = new AbortController();
  const running = new Map<string, Promise<StoredReport>>();
  const underWay = new Map<number, number>();
  const claimTurn = turns(maxConcurrent);
  const reportOf = (audience: AudienceState, split: Split | null): WantedReport => ({
    audience,
    split,
    counting: countingOf(split, isProtecting(deps.protection)),
  });
  return {
    find: (audience, split) => findPublished(deps, reportOf(audience, split)),
    compute: async (audience, split) => {
      const key = [audience.audienceId, audience.generation, audience.lastLoadId, split].join(' ');
      const joined = running.get(key);
      if (joined) return joined;
      const ofPartner = underWay.get(audience.partnerId) ?? 0;
      if (ofPartner >= maxPerPartner) {
        throw new Failure('report_not_ready', `${maxPerPartner} of your reports are already being computed.`);
      }
      underWay.set(audience.partnerId, ofPartner + 1);
      const wanted = reportOf(audience, split);
      const computeWhenFolded = async (): Promise<StoredReport> => {
        const { compositions } = deps;
        const isCounted = (await compositions.find(audience, wanted.counting)) !== null;
        if (!isCounted) await waitUntilFolded(deps, audience, stopping.signal);
        return claimTurn(() => computeInFleet(deps, wanted, stopping.signal));
      };
      const computing = computeWhenFolded().finally(() => {
        running.delete(key);
        underWay.set(audience.partnerId, (underWay.get(audience.partnerId) ?? 1) - 1);
      });
      running.set(key, computing);
      return computing;
    },
    stop: () => stopping.abort(),
  };
}

type WantedReport = {
  readonly audience: AudienceState;
  readonly split: Split | null;
  readonly counting: Counting;
};

async function findPublished(deps: Deps, { audience, counting }: WantedReport): Promise<StoredReport | null> {
  return deps.compositions.findPublished(audience, counting, deps.settings);
}

async function computeInFleet(deps: Deps, wanted: WantedReport, signal: AbortSignal): Promise<StoredReport> {
  for (;;) {
    signal.throwIfAborted();
    const found = await deps.compositions.runAlone(wanted.audience, wanted.counting, () =>
      compute(deps, wanted, signal),
    );
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, pollEveryMs));
  }
}

/** A process that waited for the lock finds the result that the previous lock holder saved. */
async function compute(deps: Deps, wanted: WantedReport, signal: AbortSignal): Promise<StoredReport> {
  const saved = await findPublished(deps, wanted);
  if (saved) return saved;
  const { audience, split, counting } = wanted;
  const { counts, computedAt } =
    (await deps.compositions.find(audience, counting)) ?? (await count(deps, wanted, signal));
  const report = await publish(deps, counts, split);
  await deps.compositions.savePublished(audience, counting, deps.settings, report);
  return { report, computedAt };
}

/** Counts against the daily limit, because every new report is one more observation for an attacker. */
async function count(deps: Deps, { audience, counting }: WantedReport, signal: AbortSignal): Promise<StoredCounts> {
  const { compositions, requireTopology, reportsPerDay } = deps;
  await requireTopology();
  const isLimited = reportsPerDay > 0;
  if (isLimited && !(await compositions.claimComputation(audience.partnerId, reportsPerDay))) {
    const detail = `${reportsPerDay} new reports have been computed today. The limit is ${reportsPerDay} per day (UTC).`;
    throw new Failure('report_limit_reached', detail, { retryAfterSeconds: secondsUntilMidnight(new Date()) });
  }
  try {
    const counts = await profileFolded(deps, { audience, counting }, signal);
    const computed = { counts, computedAt: new Date() };
    await compositions.save(audience, counting, computed);
    return computed;
  } catch (error) {
    if (isLimited) await compositions.returnComputation(audience.partnerId, reportsPerDay);
    throw error;
  }
}

/** A worker folds an audience into the device index within seconds. After this time, the caller must ask again. */
const maxFoldWaitMs = 15 * 60_000;

/** Waits before the computation occupies one of the turns. */
async function waitUntilFolded(deps: Deps, audience: AudienceState, signal: AbortSignal): Promise<void> {
  const start = performance.now();
  while ((await deps.compositions.findIndexState(audience)) === null) {
    signal.throwIfAborted();
    await requireCurrent(deps, audience);
    if (performance.now() - start > maxFoldWaitMs)
      throw new Failure('report_not_ready', 'The device index does not contain this audience yet.');
    await new Promise((resolve) => setTimeout(resolve, pollEveryMs));
  }
}

/** The index contains only the current state of an audience. */
async function requireCurrent({ compositions }: Deps, audience: AudienceState): Promise<void> {
  if (!(await compositions.isCurrent(audience)))
    throw new Failure('report_not_ready', 'The audience has changed in the meantime.');
}

/** A fold that runs at the same time makes an attempt fail. */
const maxAttempts = 20;

async function profileFolded(
  deps: Deps,
  { audience, counting }: Pick<WantedReport, 'audience' | 'counting'>,
  signal: AbortSignal,
): Promise<CompositionCounts> {
  const { compositions, profiler } = deps;
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    signal.throwIfAborted();
    const state = await compositions.findIndexState(audience);
    const counts = state && (await profiler.profile(audience, counting, state, signal));
    // A rebuild deletes the state before the bitmaps.
    if (counts && (await compositions.findIndexState(audience))?.foldId === state.foldId) return counts;
    await requireCurrent(deps, audience);
    await new Promise((resolve) => setTimeout(resolve, pollEveryMs));
  }
  throw new Failure('report_not_ready', 'The device index is being updated.');
}

function secondsUntilMidnight(now: Date): number {
  return 86_400 - Math.floor((now.getTime() / 1000) % 86_400);
}

/** Lets other requests run between the portions. */
async function publish(
  { protection, noise }: Deps,
  counts: CompositionCounts,
  split: Split | null,
): Promise<PublishedReport> {
  const portions = publishInPortions(counts, split, protection, noise);
  for (;;) {
    const next = portions.next();
    if (next.done) return next.value;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Limits concurrency. Functions start in order of arrival. */
function turns(limit: number): <T>(run: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let free = limit;
  return async (run) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await run();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    }
  };
}
