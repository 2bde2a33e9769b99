import type { Webhook } from '@inlet/sdk/browser';
import { api, useApi } from '../api.ts';
import { Time } from '../components/state.tsx';
import { healthOf } from './describe-webhook.ts';

export function HealthText({ webhook }: { readonly webhook: Webhook }) {
  const { kind, title, note } = healthOf(webhook);
  return (
    <div class="health">
      <span class={`status ${kind}`}>{title}</span>
      {note !== '' && <span class="small muted below">{note}</span>}
    </div>
  );
}

/** The newest event that was delivered. The API shows it in the delivery log only. */
export function LastDelivery({ webhook: { webhook_id: id, pending_events } }: { readonly webhook: Webhook }) {
  const { value, problem } = useApi(
    `last delivery ${id} ${pending_events}`,
    (signal) => api.listWebhookDeliveries(id, { query: { status: 'delivered', limit: 1 }, signal }),
    { refreshMs: 30_000 },
  );
  if (value === undefined && problem) return <span class="muted">not available</span>;
  if (value === undefined) return <span class="muted">…</span>;
  const [last] = value;
  if (!last || last.delivered_at === null) return <>never</>;
  return (
    <span>
      event {last.sequence}, <Time at={last.delivered_at} />
    </span>
  );
}
