import type { AudienceScope } from '../../domain/audience.ts';
import type { Noise } from '../../domain/composition/noise.ts';
import { type OverlapCounts, drawsOfOverlap, protectOverlap } from '../../domain/composition/overlap.ts';
import type { Protection } from '../../domain/composition/protection.ts';
import { Failure } from '../../domain/failure.ts';
import type { AudienceState, OverlapCounter, OverlapStore, StoredOverlap } from '../../ports/report-store.ts';
import type { RequireTopology } from '../admin/topology.ts';
import { type BudgetDeps, chargeFor, limitReached, whenPossible } from './report-budget.ts';

export type OverlapDeps = BudgetDeps & {
  readonly overlaps: OverlapStore;
  readonly overlapCounter: OverlapCounter;
  readonly requireTopology: RequireTopology;
  readonly protection: Protection;
  readonly noise: Noise;
  readonly overlapSettings: string;
  readonly timeoutMs: number;
};

const pollEveryMs = 200;

/** Maximum number of overlaps that a process computes concurrently. Further calls get `report_not_ready`. */
const maxConcurrent = 4;
let running = 0;

async function claimTurn<T>(run: () => Promise<T>): Promise<T> {
  if (running >= maxConcurrent) throw new Failure('report_not_ready', 'Too many overlaps are being computed.');
  running += 1;
  try {
    return await run();
  } finally {
    running -= 1;
  }
}

/**
 * Counts the devices that audiences of the same scope have in common. The numbers do not change until the state of an
 * audience changes.
 */
export async function getOverlap(
  deps: OverlapDeps,
  scope: AudienceScope,
  requestedIds: readonly number[],
): Promise<StoredOverlap> {
  const { overlaps, overlapSettings } = deps;
  // Sort the IDs, because the order of the audiences does not change the overlap.
  const ids = requestedIds.toSorted((one, other) => one - other);
  const findStored = async (): Promise<StoredOverlap | null> =>
    overlaps.find(scope.partnerId, keyOf(await findAudiences(deps, scope, ids), overlapSettings));
  const stored = await findStored();
  if (stored) return stored;
  await deps.requireTopology();
  const price = { owner: scope, kind: 'overlap', draws: drawsOfOverlap(ids.length) } as const;
  const next = await whenPossible(deps, price);
  if (next !== null) {
    // A concurrent request may have spent the budget for the same overlap.
    const storedSince = await findStored();
    if (storedSince) return storedSince;
    throw limitReached(next);
  }
  const { counts, audiences } = await countWhenFolded(deps, scope, ids);
  const overlap = protectOverlap(counts, deps.protection, deps.noise);
  const saved = await overlaps.save(keyOf(audiences, overlapSettings), overlap, chargeFor(deps, price));
  if (!saved) throw limitReached((await whenPossible(deps, price)) ?? new Date());
  return saved;
}

async function findAudiences(
  { overlaps }: OverlapDeps,
  scope: AudienceScope,
  ids: readonly number[],
): Promise<readonly AudienceState[]> {
  const audiences = await overlaps.findAudiences(scope, ids);
  const missing = ids.find((id) => !audiences.some(({ audienceId }) => audienceId === id));
  if (missing !== undefined) throw new Failure('not_found', `Audience ${missing} does not exist.`);
  return audiences;
}

function keyOf(audiences: readonly AudienceState[], settings: string): string {
  const states = audiences.map(({ audienceId, generation, lastLoadId }) => [audienceId, generation, lastLoadId]);
  return JSON.stringify([states, settings]);
}

/**
 * Waits until the device index contains the audiences, and counts their overlap. Workers fold an audience into the
 * index within seconds of a load. The audiences can change in the meantime.
 */
async function countWhenFolded(
  deps: OverlapDeps,
  scope: AudienceScope,
  ids: readonly number[],
): Promise<{ readonly counts: OverlapCounts; readonly audiences: readonly AudienceState[] }> {
  const signal = AbortSignal.timeout(deps.timeoutMs);
  try {
    for (;;) {
      const audiences = await findAudiences(deps, scope, ids);
      const folded = await deps.overlaps.findFolded(audiences);
      const counts = folded && (await claimTurn(() => deps.overlapCounter.count(folded, signal)));
      if (counts) return { counts, audiences };
      signal.throwIfAborted();
      await new Promise((resolve) => setTimeout(resolve, pollEveryMs));
    }
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new Failure('report_not_ready', 'The device index does not contain all of these audiences yet.');
  }
}
