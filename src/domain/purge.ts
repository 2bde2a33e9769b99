import type { PartnerId } from './ids.ts';

/** A dead generation and the number of its rows that are still stored. */
export type StoredGeneration = { readonly partnerId: PartnerId; readonly deadAt: Date; readonly rows: number };

/** Rewriting the data of a partner with fewer rows than this (16 MB) costs little. */
const cheapRows = 1_000_000;

/** A purge is worthwhile if it removes at least this share of the rows that it rewrites. */
const worthwhileShare = 0.1;

/**
 * Decides which dead generations to purge now. A purge rewrites the data of a partner, so a small cleared audience of a
 * large partner waits until a tenth of the partner's rows are dead. No generation waits longer than `maxWaitSeconds`.
 * Either all or none of a partner's generations wait.
 */
export function planPurge<G extends StoredGeneration>(
  due: readonly G[],
  storedRows: ReadonlyMap<PartnerId, number>,
  { now, maxWaitSeconds }: { readonly now: Date; readonly maxWaitSeconds: number },
): { readonly purge: readonly G[]; readonly wait: readonly G[]; readonly empty: readonly G[] } {
  const mustWait = (partnerId: PartnerId, dead: readonly G[]): boolean => {
    const stored = storedRows.get(partnerId) ?? 0;
    const rows = dead.reduce((sum, generation) => sum + generation.rows, 0);
    const oldest = Math.min(...dead.map(({ deadAt }) => deadAt.getTime()));
    return stored > cheapRows && rows < stored * worthwhileShare && now.getTime() - oldest < maxWaitSeconds * 1000;
  };
  const withRows = Map.groupBy(
    due.filter(({ rows }) => rows > 0),
    ({ partnerId }) => partnerId,
  );
  const waiting = new Set([...withRows].flatMap(([partnerId, dead]) => (mustWait(partnerId, dead) ? [partnerId] : [])));
  return {
    purge: due.filter(({ partnerId, rows }) => rows > 0 && !waiting.has(partnerId)),
    wait: due.filter(({ partnerId, rows }) => rows > 0 && waiting.has(partnerId)),
    empty: due.filter(({ rows }) => rows === 0),
  };
}
