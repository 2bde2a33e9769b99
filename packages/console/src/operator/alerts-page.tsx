import { Page } from '../components/page.tsx';
import { Empty, ProblemNotice, Skeleton } from '../components/state.tsx';
import { formatExactTime } from '../format.ts';
import { countAlerts, incidentLink, incidentOf } from './incidents.ts';
import { type Alert, operatorApi } from './operator-api.ts';
import './operator.css';
import { IncidentSteps, Severity } from './parts.tsx';
import { ageOf } from './times.ts';
import { LiveControl, useLive } from './use-live.tsx';

const shown = 50;

export function AlertsPage() {
  const alerts = useLive('alerts', (signal) => operatorApi.listAlerts(signal), 5_000);
  return (
    <Page
      title="Alerts"
      sub="Evaluated from the current state. Alerts about rates, for example of failing requests, need Prometheus."
      actions={<LiveControl live={alerts} />}
    >
      {alerts.value ? (
        <FiringList alerts={alerts.value.alerts} now={alerts.at} />
      ) : alerts.problem ? (
        <ProblemNotice problem={alerts.problem} onRetry={alerts.reload} />
      ) : (
        <Skeleton lines={6} />
      )}
    </Page>
  );
}

function FiringList({ alerts, now }: { readonly alerts: readonly Alert[]; readonly now: number }) {
  return (
    <>
      <output class="visually-hidden">{countAlerts(alerts)}</output>
      {alerts.length === 0 ? (
        <div class="card">
          <Empty title="No alerts are firing">
            <p>
              If something still seems wrong, look up the symptom under{' '}
              <a href="/console/operator/incidents">Incidents by symptom</a>.
            </p>
          </Empty>
        </div>
      ) : (
        <p class="summary">{countAlerts(alerts)}</p>
      )}
      {alerts.slice(0, shown).map((alert) => (
        <AlertCard key={`${alert.name} ${alert.message}`} alert={alert} now={now} />
      ))}
      {alerts.length > shown && <p class="small muted">{alerts.length - shown} more alerts are not shown.</p>}
    </>
  );
}

function AlertCard({ alert, now }: { readonly alert: Alert; readonly now: number }) {
  const { name, severity, message, since } = alert;
  const incident = incidentOf(alert);
  return (
    <article class={`card stack alert ${severity}`}>
      <div>
        <h2>{message}</h2>
        <p class="small muted">
          <Severity severity={severity} /> · <code>{name}</code>
          {since !== null && (
            <>
              {' · for '}
              <time dateTime={since} title={formatExactTime(since)}>
                {ageOf(since, now)}
              </time>
            </>
          )}
          {' · '}
          <a href={incidentLink(alert)}>Incident page</a>
        </p>
      </div>
      {incident && <IncidentSteps incident={incident} />}
    </article>
  );
}
