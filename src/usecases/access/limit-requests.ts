import type { PartnerId } from '../../domain/ids.ts';
import type { Caller } from '../../domain/caller.ts';
import { type RequestLimits, nextPortion, requestWindowSeconds } from '../../domain/limits.ts';
import type { Log } from '../../ports/observability.ts';
import type { RequestWindows } from '../../ports/request-store.ts';

export type Quota = {
  readonly name: 'key' | 'partner';
  readonly limit: number;
  /** As known to this process. */
  readonly remaining: number;
  readonly secondsLeft: number;
};

export type Admission = {
  /** The quota that the request exceeds; null if it is admitted. */
  readonly exceeded: Quota | null;
  /** Empty if the counters are unavailable. */
  readonly quotas: readonly Quota[];
};

export type RequestLimiter = { readonly admit: (caller: Caller) => Promise<Admission> };

type Deps = {
  readonly requestWindows: RequestWindows;
  readonly requestLimits: RequestLimits;
  readonly log: Log;
};

/** This process's share of the quota of one key or one partner. */
type Budget = Pick<Quota, 'name' | 'limit'> & {
  readonly partnerId: PartnerId;
  readonly keyId: number | null;
  /** Reserved and not yet used. */
  left: number;
  /** Not reserved by any process at the last refill. */
  remaining: number;
  last: number;
  waiting: number;
  /** By this process's clock; null before the first refill. */
  endsAt: number | null;
  taking: Promise<void> | null;
};

/**
 * Rate limit per window over all processes. Each process reserves portions of the window and consumes them locally, so
 * that most requests need no database query. The limit is never exceeded, but a caller may get less than the limit: up
 * to one portion less for each other process.
 */
export function limitRequests({ requestWindows, requestLimits, log }: Deps): RequestLimiter {
  const budgets = new Map<string, Budget>();
  let evictAt = 0;

  function evictExpired(now: number): void {
    if (now < evictAt) return;
    evictAt = now + requestWindowSeconds * 1000;
    for (const [id, budget] of budgets) if (hasEnded(budget, now)) budgets.delete(id);
  }

  function budgetFor(name: Quota['name'], caller: Caller, now: number): Budget {
    const [id, keyId] = name === 'key' ? [`key ${caller.keyId}`, caller.keyId] : [`partner ${caller.partner.id}`, null];
    const found = budgets.get(id);
    if (found && !hasEnded(found, now)) return found;
    evictExpired(now);
    const limit = name === 'key' ? requestLimits.perKey : requestLimits.perPartner;
    const counts = { left: 0, remaining: limit, last: 0, waiting: 0 };
    const made: Budget = { name, limit, partnerId: caller.partner.id, keyId, ...counts, endsAt: null, taking: null };
    budgets.set(id, made);
    return made;
  }

  async function take(empty: readonly Budget[]): Promise<void> {
    const portions = empty.map(nextPortion);
    // The time is taken before the query, so that the window ends slightly early in this process and never late.
    const startedAt = performance.now();
    const windows = await requestWindows.take(
      empty.map(({ partnerId, keyId }, index) => ({ partnerId, keyId, requests: portions[index] ?? 1 })),
    );
    for (const [index, budget] of empty.entries()) {
      const window = windows[index];
      const portion = portions[index];
      if (!window || portion === undefined) throw new Error('the store returned too few windows');
      const { taken, secondsLeft } = window;
      budget.left += Math.min(portion, Math.max(0, budget.limit - (taken - portion)));
      budget.remaining = Math.max(0, budget.limit - taken);
      budget.last = portion;
      budget.endsAt = startedAt + secondsLeft * 1000;
    }
  }

  /** At most one query at a time per budget, and one statement for both budgets of a caller. */
  async function refill(empty: readonly Budget[]): Promise<void> {
    const idle = empty.filter(({ taking }) => !taking);
    if (idle.length > 0) {
      const taking = take(idle).finally(() => {
        for (const budget of idle) budget.taking = null;
      });
      for (const budget of idle) budget.taking = taking;
    }
    await Promise.all(empty.map(({ taking }) => taking ?? Promise.resolve()));
  }

  return {
    admit: async (caller) => {
      for (;;) {
        const now = performance.now();
        const own = [budgetFor('key', caller, now), budgetFor('partner', caller, now)];
        const exceeded = own.find(({ left, remaining }) => left === 0 && remaining === 0);
        if (exceeded) return { exceeded: quotaOf(exceeded, now), quotas: own.map((budget) => quotaOf(budget, now)) };
        const empty = own.filter(({ left }) => left === 0);
        if (empty.length === 0) {
          for (const budget of own) budget.left -= 1;
          return { exceeded: null, quotas: own.map((budget) => quotaOf(budget, now)) };
        }
        for (const budget of empty) budget.waiting += 1;
        try {
          await refill(empty);
        } catch (error) {
          // Fails open, because the request itself needs the same database and reports the outage.
          log.warn({ err: error }, 'rate limit not enforced: counters unavailable');
          return { exceeded: null, quotas: [] };
        } finally {
          // Not earlier, because the first request that wakes up to an empty budget refills it for all requests that
          // are still waiting.
          for (const budget of empty) budget.waiting -= 1;
        }
      }
    },
  };
}

function hasEnded({ endsAt }: Budget, now: number): boolean {
  return endsAt !== null && endsAt <= now;
}

function quotaOf({ name, limit, left, remaining, endsAt }: Budget, now: number): Quota {
  const secondsLeft = endsAt === null ? requestWindowSeconds : Math.max(1, Math.ceil((endsAt - now) / 1000));
  return { name, limit, remaining: left + remaining, secondsLeft };
}
