import { type ReportLimits, nextReportAt } from '../../domain/composition/budget.ts';
import { Failure } from '../../domain/failure.ts';
import type { BudgetStore, Charge, Price } from '../../ports/report-store.ts';

export type BudgetDeps = { readonly budget: BudgetStore; readonly reportLimits: ReportLimits };

/** Returns the time at which the budget allows a report of this price. Null means now. */
export async function whenPossible(
  { budget, reportLimits }: BudgetDeps,
  { owner, kind, draws }: Price,
): Promise<Date | 'never' | null> {
  return nextReportAt(await budget.findSpent(owner, kind), draws, reportLimits, new Date());
}

/**
 * The store checks the budget again when it stores the result, because other reports may have been charged in the
 * meantime.
 */
export function chargeFor({ reportLimits }: Pick<BudgetDeps, 'reportLimits'>, price: Price): Charge {
  return { ...price, isAllowed: (spent) => nextReportAt(spent, price.draws, reportLimits, new Date()) === null };
}

const maxRetrySeconds = 30 * 86_400;

export function limitReached(next: Date | 'never', now = new Date()): Failure {
  const detail =
    next === 'never'
      ? 'This report needs more than the whole privacy budget of a period. Compare fewer audiences.'
      : `The privacy budget is spent. A new report is possible at ${next.toISOString()}.`;
  const seconds = next === 'never' ? maxRetrySeconds : Math.ceil((next.getTime() - now.getTime()) / 1000);
  return new Failure('report_limit_reached', detail, {
    retryAfterSeconds: Math.min(maxRetrySeconds, Math.max(1, seconds)),
  });
}
