import type { Webhook, WebhookDelivery } from '@inlet/sdk/browser';
import { useState } from 'preact/hooks';
import { api } from '../api.ts';
import { type Column, PagedTable } from '../components/paged-table.tsx';
import { Empty, Time } from '../components/state.tsx';
import { deliveryStatuses, describeAttempt, describeNextAttempt, formatMilliseconds } from './describe-webhook.ts';
import { EventDialog } from './event-dialog.tsx';

const refreshMs = 3_000;

const statuses = ['delivered', 'pending', 'failed'] as const;

type Props = { readonly webhook: Webhook; readonly onReplay: (sequence: number) => void };

/** The events that were sent to a webhook, with their attempts. */
export function Deliveries({ webhook, onReplay }: Props) {
  const { webhook_id: id, status: webhookStatus } = webhook;
  const [status, setStatus] = useState<WebhookDelivery['status'] | undefined>();
  const [opened, setOpened] = useState<WebhookDelivery | null>(null);
  const nextAttempt: Column<WebhookDelivery> = {
    name: 'Next attempt',
    cell: ({ next_attempt_at: next }) =>
      next === null ? 'none' : Date.parse(next) > Date.now() ? <Time at={next} /> : describeNextAttempt(webhook),
  };
  const actions: Column<WebhookDelivery> = {
    name: 'Actions',
    cell: (delivery) => (
      <div class="row">
        <button type="button" onClick={() => setOpened(delivery)}>
          Details<span class="visually-hidden"> of event {delivery.sequence}</span>
        </button>
        {webhookStatus !== 'disabled' && (
          <button type="button" onClick={() => onReplay(delivery.sequence)}>
            {delivery.status === 'pending' ? 'Send now' : 'Send again'}
            <span class="visually-hidden"> event {delivery.sequence}</span>
          </button>
        )}
      </div>
    ),
  };
  return (
    <section class="stack" aria-labelledby="deliveries">
      <div class="row">
        <h2 id="deliveries">Deliveries</h2>
        <select
          class="push"
          aria-label="Delivery status"
          value={status ?? ''}
          onChange={({ currentTarget }) => setStatus(statuses.find((one) => one === currentTarget.value))}
        >
          <option value="">All deliveries</option>
          {statuses.map((one) => (
            <option key={one} value={one}>
              {deliveryStatuses[one].text}
            </option>
          ))}
        </select>
      </div>
      <PagedTable
        listKey={`deliveries ${id} ${status}`}
        caption="Events that were sent to this webhook, newest first"
        load={(page, signal) =>
          api.listWebhookDeliveries(id, {
            query: { limit: 20, ...page, ...(status ? { status } : {}) },
            signal,
          })
        }
        rowKey={({ sequence }) => sequence}
        columns={[...columns, nextAttempt, actions]}
        empty={
          <Empty title={status === undefined ? 'Nothing has been sent yet' : 'No deliveries have this status'}>
            {status === undefined && <p>Send a test event to see whether your receiver works.</p>}
          </Empty>
        }
        refreshMs={refreshMs}
      />
      {opened && <EventDialog sequence={opened.sequence} delivery={opened} onClose={() => setOpened(null)} />}
    </section>
  );
}

const columns: readonly [Column<WebhookDelivery>, ...Column<WebhookDelivery>[]] = [
  {
    name: 'Event',
    cell: ({ sequence, event_type, is_replay }) => (
      <>
        <span class="muted">#{sequence}</span> {event_type}
        {is_replay && <span class="small muted"> sent again</span>}
      </>
    ),
  },
  { name: 'First sent', cell: ({ created_at }) => <Time at={created_at} /> },
  {
    name: 'Status',
    cell: ({ status }) => (
      <span class={`status ${deliveryStatuses[status].kind}`}>{deliveryStatuses[status].text}</span>
    ),
  },
  { name: 'Last attempt', cell: ({ attempts }) => <AttemptText attempt={attempts.at(-1)} /> },
  { name: 'Attempts', isNumber: true, cell: ({ attempts }) => String(attempts.length) },
];

function AttemptText({ attempt }: { readonly attempt: WebhookDelivery['attempts'][number] | undefined }) {
  if (!attempt) return <span class="muted">none yet</span>;
  return (
    <span>
      {describeAttempt(attempt)} <span class="small muted">in {formatMilliseconds(attempt.milliseconds)}</span>
    </span>
  );
}
