import type { Limits } from '@inlet/sdk/browser';
import { formatCount, formatDay } from '../format.ts';
import './budget.css';
import { Bar } from './state.tsx';

type BudgetUse = Limits['reports']['composition'];

/** How much of the privacy budget is left. A limit of 0 means that there is none. */
export function Budget({
  budget: { limit, used, renews_at },
  unit,
}: {
  readonly budget: BudgetUse;
  readonly unit: string;
}) {
  if (limit === 0) return <p class="small muted">There is no limit for new {unit}.</p>;
  const left = Math.max(0, limit - used);
  return (
    <>
      <p class="budget-left">
        {formatCount(left)} <span class="small muted">of {formatCount(limit)}</span>
      </p>
      <Bar share={left / limit} label={`Share of new ${unit} left`} />
      {renews_at !== null && <p class="small muted">Starts to renew on {formatDay(renews_at)}.</p>}
    </>
  );
}
