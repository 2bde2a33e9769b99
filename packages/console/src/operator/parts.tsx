import { Command } from '../components/page.tsx';
import { capitalize, commandsIn, countAlerts, incidentLink } from './incidents.ts';
import type { Incident } from '../generated/incidents.ts';
import type { Alert, Cli } from './operator-api.ts';
import { ageOf } from './times.ts';

/** A text that is plain except for code in backticks. */
export function Prose({ text }: { readonly text: string }) {
  return (
    <>
      {text
        .split('`')
        .map((part, index) =>
          index % 2 === 1 ? <code key={index}>{part}</code> : index === 0 ? capitalize(part) : part,
        )}
    </>
  );
}

const effects: Readonly<Record<string, string>> = {
  doctor: 'Check every server',
  show: 'Show it in a terminal',
  list_jobs: 'List the jobs of the partner',
  list_keys: 'List the API keys of the partner',
  suspend: 'Suspend the partner. Its keys are rejected, and none of its jobs start. Its data is kept',
  resume: 'Resume the partner. Its keys are accepted again, and its lane continues',
  cancel: 'Cancel the job. Files that are not completely read are not loaded',
  retry: "Submit the job again at the end of the partner's lane",
  back_up: 'Take a backup. Replace the folder with a new one',
};

/** What can be done now, as commands. The console changes nothing by itself. */
export function CommandList({ cli }: { readonly cli: readonly Cli[] }) {
  return (
    <ul class="commands">
      {cli.map(({ action, command }) => (
        <li key={command}>
          <span class="small muted">{effects[action] ?? action}</span>
          <Command text={command} />
        </li>
      ))}
    </ul>
  );
}

/** The commands of a row, which take space only when they are open. */
export function Commands({ cli, of }: { readonly cli: readonly Cli[]; readonly of: string }) {
  return (
    <details>
      <summary>
        Commands<span class="visually-hidden"> for {of}</span>
      </summary>
      <CommandList cli={cli} />
    </details>
  );
}

/** The worst alert that is firing, or that none is. The height is the same, so that the page does not move. */
export function FiringAlerts({ alerts, now }: { readonly alerts: readonly Alert[]; readonly now: number }) {
  const [worst] = alerts;
  const more = alerts.length - 1;
  return (
    <section aria-label="Alerts">
      <output class="visually-hidden">{countAlerts(alerts)}</output>
      {worst ? (
        <p class={`notice firing ${worst.severity === 'critical' ? 'bad' : 'warn'}`}>
          <Severity severity={worst.severity} /> {worst.message}{' '}
          {worst.since !== null && <span class="muted small">for {ageOf(worst.since, now)} </span>}
          <a href={incidentLink(worst)}>
            What to do<span class="visually-hidden"> about {worst.name}</span>
          </a>
          {more > 0 && (
            <>
              {' · '}
              <a href="/console/operator/alerts">
                {more} more {more === 1 ? 'alert' : 'alerts'}
              </a>
            </>
          )}
        </p>
      ) : (
        <p class="notice firing muted">No alert is firing.</p>
      )}
    </section>
  );
}

export function Severity({ severity }: Pick<Alert, 'severity'>) {
  return <strong class={`severity ${severity}`}>{severity === 'critical' ? 'Critical' : 'Warning'}</strong>;
}

/** What to check and what to do, with the commands that the texts name. */
export function IncidentSteps({ incident: { check, action } }: { readonly incident: Incident }) {
  return (
    <>
      <dl class="steps">
        {check !== '' && (
          <div>
            <dt>Check</dt>
            <dd>
              <Prose text={check} />
            </dd>
          </div>
        )}
        <div>
          <dt>Action</dt>
          <dd>
            <Prose text={action} />
          </dd>
        </div>
      </dl>
      <ul class="commands">
        {commandsIn(check, action).map((command) => (
          <li key={command}>
            <Command text={command} />
          </li>
        ))}
      </ul>
    </>
  );
}

/** A share of something limited, with the same share in text. */
export function Meter({
  share,
  label,
  text,
}: {
  readonly share: number;
  readonly label: string;
  readonly text: string;
}) {
  const level = share >= 0.9 ? 'bad' : share >= 0.75 ? 'warn' : '';
  return (
    <span class="meter">
      <progress class={`bar ${level}`} aria-label={label} max={1} value={Math.min(1, share)} />
      <span class="small">{text}</span>
    </span>
  );
}
