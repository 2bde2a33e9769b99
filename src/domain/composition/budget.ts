/** What a report reveals. An overlap reveals nothing about attributes, so it has its own budget. */
export type BudgetKind = 'composition' | 'overlap';

/**
 * Maximum number of reports of one kind that can be computed with new noise. Each such report is one more observation
 * for an attacker. 0 disables a limit.
 */
export type ReportLimits = {
  readonly perPartnerAndDay: number;
  /** Per customer and period. The partner itself counts as a customer. */
  readonly perCustomer: number;
};

export const budgetDays = 30;
const dayMs = 86_400_000;

export type Draws = { readonly draws: number; readonly at: Date };

export type SpentDraws = {
  /** The customer's draws of this kind in the last 30 days, oldest first. */
  readonly ofCustomer: readonly Draws[];
  /** Draws of this kind since midnight UTC, by the partner and all of its customers. */
  readonly ofPartnerToday: number;
};

export function sumDraws(spent: readonly Draws[]): number {
  return spent.reduce((sum, { draws }) => sum + draws, 0);
}

/** A draw is returned to the budget after 30 days. */
function renewalOf({ at }: Draws): Date {
  return new Date(at.getTime() + budgetDays * dayMs);
}

/** Returns the time at which the oldest draw is returned to the budget, or null if there is none. */
export function nextRenewal([oldest]: readonly Draws[]): Date | null {
  return oldest ? renewalOf(oldest) : null;
}

/**
 * Returns the time at which the budget allows this many more draws, or null if it allows them now. `never` means that a limit is lower than the number of draws that one report needs.
 */
export function nextReportAt(spent: SpentDraws, draws: number, limits: ReportLimits, now: Date): Date | 'never' | null {
  const { perPartnerAndDay, perCustomer } = limits;
  const isTooLarge = [perPartnerAndDay, perCustomer].some((limit) => limit > 0 && draws > limit);
  if (isTooLarge) return 'never';
  const dates: Date[] = [];
  if (perPartnerAndDay > 0 && spent.ofPartnerToday + draws > perPartnerAndDay)
    dates.push(new Date((Math.floor(now.getTime() / dayMs) + 1) * dayMs));
  let left = sumDraws(spent.ofCustomer);
  if (perCustomer > 0 && left + draws > perCustomer) {
    const last = spent.ofCustomer.find((one) => {
      left -= one.draws;
      return left + draws <= perCustomer;
    });
    if (last) dates.push(renewalOf(last));
  }
  return dates.toSorted((one, other) => other.getTime() - one.getTime())[0] ?? null;
}

/**
 * The warehouse changes all the time. A report that is older than this is computed again when it is read, even if the
 * audience has not changed.
 */
const maxReportDays = 7;

export function isExpired(computedAt: Date, now: Date): boolean {
  return now.getTime() - computedAt.getTime() > maxReportDays * dayMs;
}
