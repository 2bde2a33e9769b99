import { Gauge, Registry } from '@prometheus-io/client';
import type { QueueStats } from '../../adapters/postgres/queue/queue-stats.ts';

/** Name, help text, and source of each gauge. */
const single: readonly (readonly [name: string, help: string, from: keyof QueueStats])[] = [
  ['inlet_workers', 'Connected workers.', 'workers'],
  ['inlet_lanes_open', 'Lanes (partners) with open jobs.', 'lanesOpen'],
  ['inlet_lanes_active', 'Lanes that a worker is processing.', 'lanesActive'],
  [
    'inlet_lanes_without_token',
    'Lanes with open jobs but no token. The next token recovery restores them.',
    'lanesWithoutToken',
  ],
  ['inlet_lane_silence_seconds', 'Longest time since a running job last finished a file or step.', 'silentSeconds'],
  ['inlet_files_in_flight', 'Files that workers are loading.', 'filesInFlight'],
  ['inlet_tokens_ready', 'Lane and file tokens that a worker can claim now.', 'readyTokens'],
  [
    'inlet_tokens_waiting',
    'Lane and file tokens that are waiting for a retry after a failed attempt or an unavailable dependency.',
    'waitingTokens',
  ],
  ['inlet_index_changes', 'Changes that the device index does not contain yet.', 'indexChanges'],
  [
    'inlet_index_oldest_change_seconds',
    'Age of the oldest change that the device index does not contain yet. 0 if there is none.',
    'oldestIndexChangeSeconds',
  ],
  ['inlet_report_requests', 'Composition reports that workers have not computed yet.', 'reportRequests'],
  [
    'inlet_report_oldest_request_seconds',
    'Age of the oldest report that workers have not computed yet. 0 if there is none.',
    'oldestReportRequestSeconds',
  ],
  ['inlet_webhook_events', 'Events that have not been delivered to enabled webhooks yet.', 'webhookEvents'],
  [
    'inlet_webhook_oldest_event_seconds',
    'Age of the oldest event that has not been sent to a working webhook. 0 if there is none.',
    'oldestWebhookEventSeconds',
  ],
  [
    'inlet_subscription_objects_waiting',
    'Objects that have arrived for active subscriptions and are not part of an import yet. At most 100,000 are counted.',
    'subscriptionObjects',
  ],
  [
    'inlet_subscription_listing_delay_seconds',
    'Longest time by which the listing of an active subscription is overdue. 0 if none is.',
    'subscriptionListingDelaySeconds',
  ],
  ['inlet_erasures_open', 'Unfinished requests to erase devices.', 'openErasures'],
  [
    'inlet_erasure_oldest_request_seconds',
    'Age of the oldest unfinished request to erase devices. 0 if there is none.',
    'oldestErasureSeconds',
  ],
  [
    'inlet_erasure_last_batch_seconds',
    'Duration of the erasure batch that ended most recently. 0 if none has ended.',
    'lastErasureSeconds',
  ],
  [
    'inlet_drop_fetch_age_seconds',
    'Time since the DROP deletion list was last fetched. 0 if DROP is not in use.',
    'dropFetchSeconds',
  ],
  [
    'inlet_drop_cycle_age_seconds',
    'Time since the deletion list of the open DROP cycle was downloaded. 0 if no cycle is open.',
    'dropCycleSeconds',
  ],
  ['inlet_webhooks_failing', 'Enabled webhooks whose last attempts have failed.', 'webhooksFailing'],
];

/** Service-wide gauges, read from PostgreSQL for each scrape. Every process reports the same values. */
export function createStateGauges() {
  const registry = new Registry();
  const registers = [registry];
  const perState = (name: string, help: string): Gauge<'state'> =>
    new Gauge({ name, help, labelNames: ['state'], registers });
  const openJobs = perState(
    'inlet_open_jobs',
    'Unfinished jobs, by `state` (pending, running, or cleaning). A job in the `cleaning` state is canceled but not yet cleaned up.',
  );
  const oldest = perState(
    'inlet_oldest_open_job_seconds',
    'Age of the oldest unfinished job, by `state`. 0 if there is none.',
  );
  const gauges = single.map(([name, help, from]) => ({ gauge: new Gauge({ name, help, registers }), from }));
  return {
    registry,
    set: (now: QueueStats): void => {
      openJobs.set({ state: 'pending' }, now.pendingJobs);
      openJobs.set({ state: 'running' }, now.runningJobs);
      openJobs.set({ state: 'cleaning' }, now.openJobs - now.pendingJobs - now.runningJobs);
      oldest.set({ state: 'pending' }, now.oldestPendingSeconds);
      oldest.set({ state: 'running' }, now.oldestRunningSeconds);
      oldest.set({ state: 'cleaning' }, now.oldestCleaningSeconds);
      for (const { gauge, from } of gauges) gauge.set(now[from]);
    },
  };
}
