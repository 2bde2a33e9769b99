import { Command } from '../components/page.tsx';
import { capitalize, commandsIn, countAlerts, incidentLink } from './incidents.ts';
import type { Incident } from '../generated/incidents.ts';
import type { Alert, Cli } from './operator-api.ts';
import { ageOf } from './times.ts';

/** Plain text with code in backticks. */
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
  list_jobs: "List the partner's jobs",
  list_keys: "List the partner's API keys",
  suspend: 'Suspend the partner. Its keys are rejected, and none of its jobs start. Its data is kept',
  resume: 'Resume the partner. Its keys are accepted again, and its lane continues',
  cancel: 'Cancel the job. Files that have not been read completely are not loaded',
  retry: "Submit the job again at the end of the partner's lane",
  back_up: 'Take a backup. Replace the folder in the command with a new one',
};

/** The possible next steps, as commands. The console itself changes nothing. */
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

/** The commands for a row, which take up space only when they are open. */
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

/**
 * The worst alert that is firing, or a note that no alert is firing. Both have the same height, so that the page does
 * not move.
 */
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
        <p class="notice firing muted">No alerts are firing.</p>
      )}
    </section>
  );
}

export function Severity({ severity }: Pick<Alert, 'severity'>) {
  return <strong class={`severity ${severity}`}>{severity === 'critical' ? 'Critical' : 'Warning'}</strong>;
}

/** Says what to check and what to do, with the commands that the texts mention. */
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

/** A bar that shows the used share of a limit, with the same share as text. */
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
