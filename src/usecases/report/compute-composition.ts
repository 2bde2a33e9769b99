import type { Counting } from '../../domain/composition/counts.ts';
import { Failure } from '../../domain/failure.ts';
import type { AudienceState, CompositionStore, StoredCounts } from '../../ports/audience-store.ts';
import type { AudienceProfiler } from '../../ports/warehouse.ts';
import type { RequireTopology } from '../admin/topology.ts';

type Deps = {
  readonly compositions: CompositionStore;
  readonly profiler: AudienceProfiler;
  readonly requireTopology: RequireTopology;
};

export type CompositionComputer = {
  /** Waits for a running computation of the same report in any process, or starts one. */
  readonly compute: (audience: AudienceState, counting: Counting) => Promise<StoredCounts>;
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
  const running = new Map<string, Promise<StoredCounts>>();
  const underWay = new Map<number, number>();
  const claimTurn = turns(maxConcurrent);
  return {
    compute: async (audience, counting) => {
      const key = [audience.audienceId, audience.generation, audience.lastLoadId, counting].join(' ');
      const joined = running.get(key);
      if (joined) return joined;
      const ofPartner = underWay.get(audience.partnerId) ?? 0;
      if (ofPartner >= maxPerPartner) {
        throw new Failure('report_not_ready', `${maxPerPartner} of your reports are already being computed.`);
      }
      underWay.set(audience.partnerId, ofPartner + 1);
      const computing = claimTurn(() => computeInFleet(deps, audience, counting, stopping.signal)).finally(() => {
        running.delete(key);
        underWay.set(audience.partnerId, (underWay.get(audience.partnerId) ?? 1) - 1);
      });
      running.set(key, computing);
      return computing;
    },
    stop: () => stopping.abort(),
  };
}

async function computeInFleet(
  deps: Deps,
  audience: AudienceState,
  counting: Counting,
  signal: AbortSignal,
): Promise<StoredCounts> {
  for (;;) {
    signal.throwIfAborted();
    const found = await deps.compositions.runAlone(audience, counting, () => compute(deps, audience, counting, signal));
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, pollEveryMs));
  }
}

/** A process that waited for the lock finds the result that the previous lock holder saved. */
async function compute(
  { compositions, profiler, requireTopology }: Deps,
  audience: AudienceState,
  counting: Counting,
  signal: AbortSignal,
): Promise<StoredCounts> {
  const saved = await compositions.find(audience, counting);
  if (saved) return saved;
  await requireTopology();
  const counts = await profiler.profile(audience, counting, await compositions.listAttributes(), signal);
  const computed = { counts, computedAt: new Date() };
  await compositions.save(audience, counting, computed);
  return computed;
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
