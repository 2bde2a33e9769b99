import type { PartnerId } from '../../domain/ids.ts';
import type { Caller } from '../../domain/caller.ts';
import { type RequestLimits, nextPortion, requestWindowSeconds } from '../../domain/limits.ts';
import type { Log } from '../../ports/observability.ts';
import type { RequestWindows } from '../../ports/request-store.ts';

/** Console sessions do not use the quotas of API keys, so that a browser cannot slow down the partner's programs. */
export type QuotaName = 'key' | 'partner' | 'session' | 'audience' | 'sessions';

/**
 * The quotas of a caller: its own, and the quota of all of the partner's API keys or of all of its sessions. The
 * readers of one linked report are different people, so each has its own quota, and all of them together have another.
 */
export function quotaNamesOf({ session }: Pick<Caller, 'session'>): readonly QuotaName[] {
  if (!session) return ['key', 'partner'];
  return session.role === 'link' ? ['session', 'audience', 'sessions'] : ['session', 'sessions'];
}

export function limitOf(name: QuotaName, { perKey, perPartner }: RequestLimits): number {
  // The readers of one audience leave half of the requests to the other sessions of the partner.
  if (name === 'audience') return Math.max(perKey, Math.floor(perPartner / 2));
  return name === 'key' || name === 'session' ? perKey : perPartner;
}

export type Quota = {
  readonly name: QuotaName;
  readonly limit: number;
  /** This process's estimate of the requests left in the window. */
  readonly remaining: number;
  readonly secondsLeft: number;
};

export type Admission = {
  /** The quota that the request exceeds. Null if the request is accepted. */
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

/** This process's share of one quota. */
type Budget = Pick<Quota, 'name' | 'limit'> & {
  readonly partnerId: PartnerId;
  readonly windowId: number;
  /** Requests that this process has reserved but not used. */
  left: number;
  /** Requests that no process had reserved at the last refill. */
  remaining: number;
  last: number;
  waiting: number;
  /** End of the window by this process's clock. Null before the first refill. */
  endsAt: number | null;
  taking: Promise<void> | null;
};

/**
 * Enforces a rate limit per window across all processes. Each process reserves portions of the window and consumes them
 * locally, so that most requests need no database query. The limit is never exceeded. A caller can use the whole limit
 * if its requests reach every process. Otherwise, it may be allowed fewer requests, because every other process can
 * hold one unused portion.
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
    const windowId = windowIdOf(name, caller);
    const id = `${caller.partner.id} ${windowId}`;
    const found = budgets.get(id);
    if (found && !hasEnded(found, now)) return found;
    evictExpired(now);
    const limit = limitOf(name, requestLimits);
    const counts = { left: 0, remaining: limit, last: 0, waiting: 0 };
    const made: Budget = { name, limit, partnerId: caller.partner.id, windowId, ...counts, endsAt: null, taking: null };
    budgets.set(id, made);
    return made;
  }

  async function take(empty: readonly Budget[]): Promise<void> {
    const portions = empty.map(nextPortion);
    // The time is read before the query, so that in this process, the window may end slightly early but never late.
    const startedAt = performance.now();
    const windows = await requestWindows.take(
      empty.map(({ partnerId, windowId }, index) => ({ partnerId, windowId, requests: portions[index] ?? 1 })),
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

  /** Runs at most one query at a time per budget. One statement refills all budgets of a caller. */
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
        const own = quotaNamesOf(caller).map((name) => budgetFor(name, caller, now));
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
          // Fail open. The request needs the same database and reports the outage itself.
          log.warn({ err: error }, 'rate limit not enforced: counters unavailable');
          return { exceeded: null, quotas: [] };
        } finally {
          // Decrement only now. The first request that wakes up to an empty budget refills it for all requests still
          // counted as waiting.
          for (const budget of empty) budget.waiting -= 1;
        }
      }
    },
  };
}

/**
 * Key IDs are positive. IDs of session subjects are negative and at least `leastSubject`, and IDs of individual
 * sessions are below it.
 */
const leastSubject = -(2 ** 52);
const allSessions = Number.MIN_SAFE_INTEGER;
const allKeys = 0;

function windowIdOf(name: QuotaName, caller: Caller): number {
  if (name === 'partner') return allKeys;
  if (name === 'sessions') return allSessions;
  if (!caller.session) return caller.keyId;
  const { role, id, windowId } = caller.session;
  return name === 'session' && role === 'link' ? leastSubject - id : windowId;
}

function hasEnded({ endsAt }: Budget, now: number): boolean {
  return endsAt !== null && endsAt <= now;
}

function quotaOf({ name, limit, left, remaining, endsAt }: Budget, now: number): Quota {
  const secondsLeft = endsAt === null ? requestWindowSeconds : Math.max(1, Math.ceil((endsAt - now) / 1000));
  return { name, limit, remaining: left + remaining, secondsLeft };
}
