import { useLocation } from 'preact-iso';
import { Page } from '../components/page.tsx';
import { Empty, ProblemNotice, Skeleton } from '../components/state.tsx';
import { formatCount, formatExactTime } from '../format.ts';
import { failureLink } from './incidents.ts';
import { causeOf, isStuck, isWaiting, nextStepOf, reasonOf, sortLanes, summarize } from './lanes.ts';
import { type Lane, type LaneFailure, operatorApi } from './operator-api.ts';
import './operator.css';
import { Commands, FiringAlerts, Prose } from './parts.tsx';
import { ageOf } from './times.ts';
import { LiveControl, useLive } from './use-live.tsx';

const doctor = { action: 'doctor', command: 'inlet doctor' } as const;

const lanesMs = 3_000;

/** Evaluating the alerts queries every ClickHouse server, so it happens less often. */
const alertsMs = 15_000;

export function LanesPage() {
  const { query } = useLocation();
  const { cursor } = query;
  const page = cursor === undefined ? {} : { cursor };
  const lanes = useLive(`lanes ${cursor ?? ''}`, (signal) => operatorApi.listLanes(page, signal), lanesMs);
  const alerts = useLive('alerts', (signal) => operatorApi.listAlerts(signal), alertsMs);
  return (
    <Page title="Lanes" sub="Partners with unfinished jobs" actions={<LiveControl live={lanes} />}>
      {alerts.problem ? (
        <ProblemNotice problem={alerts.problem} onRetry={alerts.reload} />
      ) : alerts.value ? (
        <FiringAlerts alerts={alerts.value.alerts} now={alerts.at} />
      ) : (
        <Skeleton height={50} />
      )}
      {lanes.value ? (
        <LoadedLanes lanes={lanes.value} now={lanes.at} next={lanes.next} isFirstPage={cursor === undefined} />
      ) : lanes.problem ? (
        <ProblemNotice problem={lanes.problem} onRetry={lanes.reload} />
      ) : (
        <Skeleton lines={8} />
      )}
    </Page>
  );
}

type LoadedProps = {
  readonly lanes: readonly Lane[];
  readonly now: number;
  readonly next: Readonly<Record<string, string>> | null;
  readonly isFirstPage: boolean;
};

function LoadedLanes({ lanes, now, next, isFirstPage }: LoadedProps) {
  return (
    <>
      {isFirstPage && <p class="summary">{summarize(lanes, now, next !== null)}</p>}
      {lanes.length === 0 ? (
        <div class="card">
          <Empty title="No unfinished jobs">
            <p>
              Finished jobs are under <a href="/console/operator/jobs">Jobs</a>.
            </p>
          </Empty>
        </div>
      ) : (
        <div class="card flush">
          <table class="blocks lanes">
            <caption class="visually-hidden">Lanes, stuck lanes first, then by the age of the oldest job</caption>
            <thead>
              <tr>
                <th scope="col">Partner</th>
                <th scope="col">State</th>
                <th scope="col">Since</th>
                <th scope="col">Oldest job</th>
                <th scope="col" class="number">
                  Open jobs
                </th>
                <th scope="col">Next step</th>
              </tr>
            </thead>
            <tbody>
              {sortLanes(lanes).map((lane) => (
                <LaneRow key={lane.partner_id} lane={lane} now={now} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      <div class="row">
        {!isFirstPage && (
          <a class="button" href="/console/operator/lanes">
            First page
          </a>
        )}
        {next && (
          <a class="button" href={`/console/operator/lanes?cursor=${encodeURIComponent(next['cursor'] ?? '')}`}>
            Next page
          </a>
        )}
      </div>
    </>
  );
}

function LaneRow({ lane, now }: { readonly lane: Lane; readonly now: number }) {
  const { partner, since, oldest_job, open_jobs, files } = lane;
  const all = files.open + files.finished;
  return (
    <tr>
      <th scope="row">{partner}</th>
      <td data-label="State">
        <span>
          <span class={`status ${kindOf(lane)}`}>
            {isWaiting(lane) ? `Waiting for ${reasonOf(lane, now)}` : 'Running'}
          </span>
          {lane.last_failure && <LastFailure failure={lane.last_failure} of={partner} />}
        </span>
      </td>
      <td data-label="Since" class="steady">
        <time dateTime={since} title={formatExactTime(since)}>
          {ageOf(since, now)}
        </time>
      </td>
      <td data-label="Oldest job" class="steady">
        <span>
          <a href={`/console/operator/jobs/${oldest_job.job_id}`}>{oldest_job.job_id}</a>{' '}
          <span class="muted">
            {oldest_job.kind}
            {all > 0 && `, ${formatCount(files.finished)} of ${formatCount(all)} files`}
          </span>
        </span>
      </td>
      <td data-label="Open jobs" class="number">
        <a href={`/console/operator/jobs?partner=${encodeURIComponent(partner)}&status=0,1`}>
          {formatCount(open_jobs)}
          <span class="visually-hidden"> open jobs of {partner}</span>
        </a>
      </td>
      <td data-label="" class="next-step">
        <div>
          <p>
            <Prose text={nextStepOf(lane, now)} />
          </p>
          <Commands cli={isStuck(lane) ? [doctor, ...lane.cli] : lane.cli} of={partner} />
        </div>
      </td>
    </tr>
  );
}

function LastFailure({ failure, of }: { readonly failure: LaneFailure; readonly of: string }) {
  const link = failureLink(failure);
  return (
    <span class="below small">
      Last attempt: {causeOf(failure)}.{' '}
      {link !== null && (
        <a href={link}>
          What to do<span class="visually-hidden"> about the lane of {of}</span>
        </a>
      )}
    </span>
  );
}

function kindOf(lane: Lane): string {
  if (!isWaiting(lane)) return 'running';
  return isStuck(lane) ? 'failed' : 'waiting';
}
