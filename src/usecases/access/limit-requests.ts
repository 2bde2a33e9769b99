import type { Caller } from '../../domain/caller.ts';
import { type RequestLimits, nextPortion, requestWindowSeconds } from '../../domain/limits.ts';
import type { Log } from '../../ports/observability.ts';
import type { RequestWindows } from '../../ports/request-store.ts';

export type Quota = {
  readonly name: 'key' | 'partner';
  readonly limit: number;
  /** As far as this process knows. */
  readonly remaining: number;
  readonly secondsLeft: number;
};

export type Admission = {
  readonly refusedBy: Quota | null;
  /** Empty when nobody could be asked. */
  readonly quotas: readonly Quota[];
};

export type RequestLimiter = { readonly admit: (caller: Caller) => Promise<Admission> };

type Deps = {
  readonly requestWindows: RequestWindows;
  readonly requestLimits: RequestLimits;
  readonly log: Log;
};

/** Of one key, or of one partner: what this process holds of it. */
type Budget = Pick<Quota, 'name' | 'limit'> & {
  readonly partnerId: number;
  readonly keyId: number | null;
  /** Taken and not used yet. */
  left: number;
  /** Not taken by anyone, when it was looked at last. */
  remaining: number;
  last: number;
  waiting: number;
  /** By the clock of this process; a budget that was never asked for has no window yet. */
  endsAt: number | null;
  taking: Promise<void> | null;
};

/**
 * Lets a caller make so many requests in a window, over all processes together. A process takes portions of a window and
 * uses them up by itself, so that most requests ask nobody. Never more than the limit are let through; up to a portion for
 * each other process fewer may be.
 */
export function limitRequests({ requestWindows, requestLimits, log }: Deps): RequestLimiter {
  const budgets = new Map<string, Budget>();
  let forgetAt = 0;

  function forgetEnded(now: number): void {
    if (now < forgetAt) return;
    forgetAt = now + requestWindowSeconds * 1000;
    for (const [id, budget] of budgets) if (hasEnded(budget, now)) budgets.delete(id);
  }

  function budgetFor(name: Quota['name'], caller: Caller, now: number): Budget {
    const [id, keyId] = name === 'key' ? [`key ${caller.keyId}`, caller.keyId] : [`partner ${caller.partner.id}`, null];
    const found = budgets.get(id);
    if (found && !hasEnded(found, now)) return found;
    forgetEnded(now);
    const limit = name === 'key' ? requestLimits.perKey : requestLimits.perPartner;
    const counts = { left: 0, remaining: limit, last: 0, waiting: 0 };
    const made: Budget = { name, limit, partnerId: caller.partner.id, keyId, ...counts, endsAt: null, taking: null };
    budgets.set(id, made);
    return made;
  }

  async function take(empty: readonly Budget[]): Promise<void> {
    const wanted = empty.map(nextPortion);
    // Before the question: so the window ends for us a little early, never late.
    const askedAt = performance.now();
    const answers = await requestWindows.take(
      empty.map(({ partnerId, keyId }, index) => ({ partnerId, keyId, requests: wanted[index] ?? 1 })),
    );
    for (const [index, budget] of empty.entries()) {
      const answer = answers[index];
      const asked = wanted[index];
      if (!answer || asked === undefined) throw new Error('a window was not answered for');
      const { taken, secondsLeft } = answer;
      budget.left += Math.min(asked, Math.max(0, budget.limit - (taken - asked)));
      budget.remaining = Math.max(0, budget.limit - taken);
      budget.last = asked;
      budget.endsAt = askedAt + secondsLeft * 1000;
    }
  }

  /** One question at a time for each budget, and one statement for those of a caller. */
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
        const refuses = own.find(({ left, remaining }) => left === 0 && remaining === 0);
        if (refuses) return { refusedBy: quotaOf(refuses, now), quotas: own.map((budget) => quotaOf(budget, now)) };
        const empty = own.filter(({ left }) => left === 0);
        if (empty.length === 0) {
          for (const budget of own) budget.left -= 1;
          return { refusedBy: null, quotas: own.map((budget) => quotaOf(budget, now)) };
        }
        for (const budget of empty) budget.waiting += 1;
        try {
          await refill(empty);
        } catch (error) {
          // Who cannot count must not refuse. The request itself needs the same database, and says so.
          log.warn({ err: error }, 'requests could not be counted');
          return { refusedBy: null, quotas: [] };
        } finally {
          // Here and not earlier: whoever is woken first and finds nothing left takes for all who are still to wake.
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
