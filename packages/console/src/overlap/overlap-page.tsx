import type { Overlap, Problem } from '@inlet/sdk/browser';
import { useLocation } from 'preact-iso';
import { api, useApi } from '../api.ts';
import { AudiencePicker } from '../components/audience-picker.tsx';
import { Budget } from '../components/budget.tsx';
import { LimitNotice } from '../components/limit-notice.tsx';
import { Page } from '../components/page.tsx';
import { Empty, ProblemNotice, Skeleton, Time } from '../components/state.tsx';
import { formatCount } from '../format.ts';
import { OverlapMatrix } from './overlap-matrix.tsx';
import { costOf, letterOf, maxAudiences, maxForAllIntersections, readAudienceIds } from './overlap-numbers.ts';
import './overlap.css';
import { UpsetPlot } from './upset-plot.tsx';
import { nameOf, rememberAudience, useAudiences } from './use-audiences.ts';
import { useOverlap } from './use-overlap.ts';

export function OverlapPage() {
  const { path, query, route } = useLocation();
  const ids = readAudienceIds(query['audiences']);
  const audiences = useAudiences(ids);
  const { overlap, problem, isCounting, count } = useOverlap(ids);
  const limits = useApi('limits', (signal) => api.getLimits({ signal }), { version: overlap?.computed_at ?? '' });
  const budget = limits.value?.reports.overlap;
  const choose = (next: readonly number[]): void =>
    route(next.length === 0 ? path : `${path}?audiences=${next.join(',')}`, true);
  const name = (id: number): string => nameOf(id, audiences);
  return (
    <Page title="Overlap" sub="How many devices your audiences have in common">
      <div class="overlap">
        <section class="card stack" aria-label="Audiences to compare">
          <h2>
            Audiences <span class="muted small">{`${ids.length} of at most ${maxAudiences}`}</span>
          </h2>
          {ids.length > 0 && (
            <ul class="picked">
              {ids.map((id, position) => {
                const audience = audiences.get(id);
                return (
                  <li key={id}>
                    <span class="letter">{letterOf(position)}</span>
                    <span class="picked-name">
                      {!audience && <Skeleton />}
                      {audience && <bdi>{name(id)}</bdi>}
                      {audience && 'from' in audience && (
                        <span class="missing small">{isMissing(audience) ? 'not found' : 'not loaded'}</span>
                      )}
                    </span>
                    <button
                      type="button"
                      aria-label={`Remove ${name(id)}`}
                      onClick={() => choose(ids.filter((one) => one !== id))}
                    >
                      Remove
                    </button>
                  </li>
                );
              })}
            </ul>
          )}
          {ids.length < maxAudiences ? (
            <AudiencePicker
              label={ids.length === 0 ? 'Choose the first audience' : 'Add an audience'}
              chosen={ids}
              onPick={(audience) => {
                rememberAudience(audience.audience_id, audience);
                choose([...ids, audience.audience_id]);
              }}
            />
          ) : (
            <p class="small muted">To add another audience, remove one first.</p>
          )}
        </section>
        <div class="stack">
          <section class="card stack" aria-label="Count the overlap">
            <div class="row">
              <button type="button" class="primary" disabled={ids.length < 2 || isCounting} onClick={count}>
                {isCounting ? 'Counting …' : 'Count the overlap'}
              </button>
              <p class="small muted">
                {overlap ? 'Counting again is free until an audience changes.' : costText(ids.length, budget)}
              </p>
            </div>
            {budget && (
              <details>
                <summary class="small">Overlaps left: {leftOf(budget)}</summary>
                <Budget budget={budget} unit="overlaps" />
              </details>
            )}
          </section>
          <OverlapResult overlap={overlap} problem={problem} isCounting={isCounting} onRetry={count} nameOf={name} />
        </div>
      </div>
    </Page>
  );
}

function isMissing(problem: Problem): boolean {
  return problem.from === 'api' && problem.status === 404;
}

type Budgeted = { readonly limit: number; readonly used: number };

function leftOf({ limit, used }: Budgeted): string {
  return limit === 0 ? 'no limit' : `${formatCount(Math.max(0, limit - used))} of ${formatCount(limit)}`;
}

/** How much of the budget the button would use. */
function costText(audiences: number, budget: Budgeted | undefined): string {
  if (audiences < 2) return 'Choose at least two audiences.';
  const uses = `Uses ${formatCount(costOf(audiences))} of your privacy budget`;
  const isFree = 'Free if it has already been counted and the audiences have not changed since.';
  if (!budget || budget.limit === 0) return '';
  const left = Math.max(0, budget.limit - budget.used);
  return left < costOf(audiences)
    ? `${uses}, and only ${formatCount(left)} is left. ${isFree}`
    : `${uses} (${formatCount(left)} left). ${isFree}`;
}

type ResultProps = {
  readonly overlap: Overlap | null;
  readonly problem: Problem | null;
  readonly isCounting: boolean;
  readonly onRetry: () => void;
  readonly nameOf: (id: number) => string;
};

function OverlapResult({ overlap, problem, isCounting, onRetry, nameOf: name }: ResultProps) {
  if (problem?.code === 'report_limit_reached') return <LimitNotice problem={problem} />;
  if (problem) return <ProblemNotice problem={problem} onRetry={onRetry} />;
  if (isCounting) {
    return (
      <div class="card">
        <p aria-live="polite" class="small muted">
          The overlap is being counted. After a load, this takes a few seconds.
        </p>
        <Skeleton lines={5} height={30} />
      </div>
    );
  }
  if (!overlap) {
    return (
      <div class="card">
        <Empty title="Nothing counted yet">
          <p>Choose two to ten audiences, and count their overlap.</p>
        </Empty>
      </div>
    );
  }
  return (
    <>
      <p class="reach">
        Together, these audiences reach <strong>{formatCount(overlap.reach)}</strong> devices.{' '}
        <span class="small muted">
          Counted <Time at={overlap.computed_at} />.
        </span>
      </p>
      <div class="card flush">
        <OverlapMatrix overlap={overlap} nameOf={name} />
      </div>
      {overlap.audiences.length <= maxForAllIntersections ? (
        <div class="card flush">
          <UpsetPlot overlap={overlap} nameOf={name} />
        </div>
      ) : (
        <p class="small muted">
          With {maxForAllIntersections} audiences or fewer, the overlap of more than two audiences is shown too.
        </p>
      )}
      {overlap.protected && (
        <p class="small muted">
          Counts are slightly blurred and rounded, so that they reveal nothing about one person. Overlaps of few devices
          are hidden, and those marked as small are not reliable.
        </p>
      )}
    </>
  );
}
