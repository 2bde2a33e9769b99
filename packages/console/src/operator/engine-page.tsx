import { Fragment } from 'preact';
import { useState } from 'preact/hooks';
import { Page } from '../components/page.tsx';
import { ProblemNotice, Skeleton } from '../components/state.tsx';
import { formatBytes, formatCount, formatDuration, formatPercent } from '../format.ts';
import { faultsOf, nameOf, sortReplicas, summarizeEngine } from './engine.ts';
import { faultLink } from './incidents.ts';
import { type Replica, operatorApi } from './operator-api.ts';
import './operator.css';
import { Meter } from './parts.tsx';
import { LiveControl, useLive } from './use-live.tsx';

const pageSize = 50;

export function EnginePage() {
  const engine = useLive('engine', (signal) => operatorApi.getEngine(signal), 5_000);
  return (
    <Page title="Engine" sub="ClickHouse shards and replicas" actions={<LiveControl live={engine} />}>
      {engine.value ? (
        <Replicas replicas={engine.value.replicas} />
      ) : engine.problem ? (
        <ProblemNotice problem={engine.problem} onRetry={engine.reload} />
      ) : (
        <Skeleton lines={8} />
      )}
    </Page>
  );
}

function Replicas({ replicas }: { readonly replicas: readonly Replica[] }) {
  const [limit, setLimit] = useState(pageSize);
  const faulty = replicas.flatMap((replica) => faultsOf(replica).map((fault) => ({ ...fault, replica })));
  return (
    <>
      <p class="summary">{summarizeEngine(replicas)}</p>
      {faulty.length > 0 && (
        <ul class="faults">
          {faulty.slice(0, 10).map(({ severity, text, detail, replica }) => (
            <li key={`${replica.url} ${text} ${detail}`} class={`notice ${severity === 'critical' ? 'bad' : 'warn'}`}>
              <strong>
                {nameOf(replica)}: {text}
              </strong>
              {detail !== null && <code class="reason">{detail}</code>}
              <a class="small" href={faultLink({ text })}>
                What to do
                <span class="visually-hidden">
                  {' '}
                  about {nameOf(replica)}: {text}
                </span>
              </a>
            </li>
          ))}
          {faulty.length > 10 && <li class="small muted">{faulty.length - 10} more in the table.</li>}
        </ul>
      )}
      <div class="card flush">
        <table class="blocks replicas">
          <caption class="visually-hidden">Replicas, those with faults first</caption>
          <thead>
            <tr>
              <th scope="col">Replica</th>
              <th scope="col">State</th>
              <th scope="col" class="number">
                Lag
              </th>
              <th scope="col" class="number">
                Queue
              </th>
              <th scope="col" class="number">
                Parts
              </th>
              <th scope="col" class="number">
                Mutations
              </th>
              <th scope="col">Disk used</th>
            </tr>
          </thead>
          <tbody>
            {sortReplicas(replicas)
              .slice(0, limit)
              .map((replica) => (
                <ReplicaRow key={replica.url} replica={replica} />
              ))}
          </tbody>
        </table>
      </div>
      {replicas.length > limit && (
        <div class="row">
          <button type="button" onClick={() => setLimit((last) => last + pageSize)}>
            Show more
          </button>
          <span class="small muted">
            {limit} of {formatCount(replicas.length)} shown
          </span>
        </div>
      )}
    </>
  );
}

function ReplicaRow({ replica }: { readonly replica: Replica }) {
  const { state, url } = replica;
  const faults = faultsOf(replica);
  return (
    <tr class={faults[0]?.severity ?? ''}>
      <th scope="row">
        <span class="replica-name">{nameOf(replica)}</span>
        <span class="below muted small">{url}</span>
      </th>
      <td data-label="State">
        <span>
          <span class={`status ${faults.length === 0 ? 'done' : 'failed'}`}>
            {faults.length === 0
              ? 'Healthy'
              : faults.map(({ text }, n) => (
                  <Fragment key={n}>
                    {n > 0 && ', '}
                    <a href={faultLink({ text })}>{text}</a>
                  </Fragment>
                ))}
          </span>
          {state && (
            <span class="below muted small">
              {state.version}, up {formatDuration(state.uptime_seconds)}
            </span>
          )}
        </span>
      </td>
      <td data-label="Lag" class="number">
        {state?.replication ? formatDuration(state.replication.delay_seconds) : '–'}
      </td>
      <td data-label="Queue" class="number">
        {state?.replication ? formatCount(state.replication.queued_tasks) : '–'}
      </td>
      <td data-label="Parts" class="number">
        {state ? (
          <span>
            {formatCount(state.parts.active)}
            <span class="below muted small">
              {formatCount(state.parts.rows)} rows, {formatBytes(state.parts.bytes)}
            </span>
          </span>
        ) : (
          '–'
        )}
      </td>
      <td data-label="Mutations" class="number">
        {state ? (
          <span>
            {formatCount(state.mutations.unfinished)}
            {state.mutations.oldest_seconds !== null && (
              <span class="below muted small">oldest {formatDuration(state.mutations.oldest_seconds)}</span>
            )}
          </span>
        ) : (
          '–'
        )}
      </td>
      <td data-label="Disk used">{state ? <Disks disks={state.disks} /> : '–'}</td>
    </tr>
  );
}

function Disks({ disks }: Pick<NonNullable<Replica['state']>, 'disks'>) {
  return (
    <span>
      {disks.map(({ name, free_bytes, total_bytes }) => {
        const share = total_bytes === 0 ? 0 : 1 - free_bytes / total_bytes;
        return (
          <Meter
            key={name}
            share={share}
            label={`Disk ${name}`}
            text={`${disks.length === 1 ? '' : `${name}: `}${formatPercent(share)}, ${formatBytes(free_bytes)} free`}
          />
        );
      })}
    </span>
  );
}
