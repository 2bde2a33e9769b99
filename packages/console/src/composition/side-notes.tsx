import type { Composition, Limits } from '@inlet/sdk/browser';
import type { Loaded } from '../api.ts';
import { Budget } from '../components/budget.tsx';
import { PartProblem, Skeleton } from '../components/state.tsx';

type Props = {
  readonly report: Composition | null;
  readonly limits: Loaded<Limits>;
  readonly overlapUrl: string | null;
};

export function SideNotes({ report, limits, overlapUrl }: Props) {
  return (
    <aside aria-label="About this report">
      <section class="card">
        <h2>What is an index?</h2>
        <p>
          It compares the share of an attribute in the audience with its share in the baseline. 100 means equally
          common, 180 means 1.8 times as common, and 50 means half as common.
        </p>
      </section>
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
        {limits.value ? (
          <Budget budget={limits.value.reports.composition} unit="reports" />
        ) : limits.problem ? (
          <PartProblem what="The budget" problem={limits.problem} onRetry={limits.reload} />
        ) : (
          <Skeleton lines={2} />
        )}
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
