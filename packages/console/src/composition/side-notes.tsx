import type { Composition, Limits } from '@inlet/sdk/browser';
import { Budget } from '../components/budget.tsx';
import { Skeleton } from '../components/state.tsx';

type Props = {
  readonly report: Composition | null;
  readonly budget: Limits['reports']['composition'] | undefined;
  readonly overlapUrl: string | null;
};

export function SideNotes({ report, budget, overlapUrl }: Props) {
  return (
    <aside aria-label="About this report">
      <section class="card">
        <h2>How certain is this?</h2>
        {report?.protected === false ? (
          <p>All counts are exact. Shares of small groups can still differ by chance.</p>
        ) : (
          <p>
            Counts are slightly blurred and rounded, so that they reveal nothing about one person. The exact number is
            in the faint range. A difference counts (▲ ▼) only if the whole range is outside the typical band.
          </p>
        )}
        <p>Small groups are not reliable, and the smallest are hidden.</p>
      </section>
      <section class="card">
        <h2>New reports left</h2>
        {budget ? <Budget budget={budget} unit="reports" /> : <Skeleton lines={2} />}
        <p>A split or baseline uses one report the first time. Opening a report again is free.</p>
      </section>
      {overlapUrl !== null && (
        <section class="card no-print">
          <h2>Next</h2>
          <p>
            <a href={overlapUrl}>Overlap with other audiences</a>
          </p>
        </section>
      )}
    </aside>
  );
}
