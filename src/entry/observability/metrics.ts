import { rejectReasons } from '@inlet/row-rule/row-rule';
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from '@prometheus-io/client';
import { fileQueue, laneQueue, retryCauses } from '../../adapters/postgres/queue/tokens.ts';
import { notificationOutcomes } from '../../adapters/notifications/receiver.ts';
import { listingOutcomes } from '../../usecases/subscription/list-arrivals.ts';
import { attemptOutcomes } from '../../usecases/webhook/deliver-events.ts';

// Every label value is from a list in the code, for example a port name, a reason, or a code. A label value is never a
// partner, a path, or other input, because each new value creates a time series.

/** The buckets range from a short query to the load of a large file. */
const callBuckets = [0.005, 0.02, 0.1, 0.5, 2, 10, 60, 600];
const requestBuckets = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30];

export type Meters = ReturnType<typeof createMeters>;

/** Metrics of one process. docs/metrics.md is generated from the help texts. */
export function createMeters() {
  const registry = new Registry();
  const registers = [registry];
  const meters = {
    requests: new Histogram({
      name: 'inlet_http_request_seconds',
      help: 'Duration of HTTP requests by `operation` (`unknown` if none matches) and `status`. Excludes the time that a request waits because of `Prefer: wait`.',
      labelNames: ['operation', 'status'],
      buckets: requestBuckets,
      registers,
    }),
    calls: new Histogram({
      name: 'inlet_call_seconds',
      help: 'Duration of calls to dependencies by `server` (postgres, clickhouse, storage, issuer), `port`, and `method`.',
      labelNames: ['server', 'port', 'method'],
      buckets: callBuckets,
      registers,
    }),
    failedCalls: new Counter({
      name: 'inlet_call_failures_total',
      help: 'Failed calls to dependencies. Excludes failures that the partner must fix.',
      labelNames: ['server', 'port', 'method'],
      registers,
    }),
    statements: new Histogram({
      name: 'inlet_engine_statement_seconds',
      help: 'Duration of ClickHouse statements by first keyword (`statement`) and `shard`. A load statement runs until its file is completely read.',
      labelNames: ['statement', 'shard'],
      buckets: callBuckets,
      registers,
    }),
    rowsLoaded: new Counter({
      name: 'inlet_rows_loaded_total',
      help: 'Accepted rows of loaded files, by `target` (attributes, audience).',
      labelNames: ['target'],
      registers,
    }),
    bytesLoaded: new Counter({
      name: 'inlet_bytes_loaded_total',
      help: 'Size of loaded files in storage, in bytes, by `target`. Files can be compressed.',
      labelNames: ['target'],
      registers,
    }),
    filesLoaded: new Counter({
      name: 'inlet_files_loaded_total',
      help: 'Loaded files, by `target`.',
      labelNames: ['target'],
      registers,
    }),
    filesFailed: new Counter({
      name: 'inlet_files_failed_total',
      help: 'Failed files by error `code` (docs/errors.md). `load_abandoned` counts files that failed after several attempts.',
      labelNames: ['code'],
      registers,
    }),
    rowsRejected: new Counter({
      name: 'inlet_rows_rejected_total',
      help: 'Rejected rows in loaded and failed files, by `reason` (docs/errors.md).',
      labelNames: ['reason'],
      registers,
    }),
    jobsEnded: new Counter({
      name: 'inlet_jobs_ended_total',
      help: 'Finished jobs, by `outcome` (done, failed).',
      labelNames: ['outcome'],
      registers,
    }),
    laneSteps: new Counter({
      name: 'inlet_lane_steps_total',
      help: 'Lane steps, by `step` (prepare, settle, finish, clean, rest).',
      labelNames: ['step'],
      registers,
    }),
    retries: new Counter({
      name: 'inlet_retries_total',
      help: 'Token retries by `queue` (lane, file) and `cause` (away, broke, lost, failed, handed_back).',
      labelNames: ['queue', 'cause'],
      registers,
    }),
    work: new Histogram({
      name: 'inlet_work_seconds',
      help: 'Duration of lane turns and batch loads in this worker, by `work` (runLane, loadBatch, abandonBatch).',
      labelNames: ['work'],
      buckets: callBuckets,
      registers,
    }),
    busy: new Gauge({
      name: 'inlet_worker_busy',
      help: 'Handlers that are running in this worker, by `work`.',
      labelNames: ['work'],
      registers,
    }),
    webhookAttempts: new Counter({
      name: 'inlet_webhook_attempts_total',
      help: 'Attempts to send an event to a webhook, by `outcome`: delivered, failed (another attempt follows), or gave_up (the last attempt failed).',
      labelNames: ['outcome'],
      registers,
    }),
    listings: new Counter({
      name: 'inlet_subscription_listings_total',
      help: 'Listings of subscription prefixes, by `outcome`: imported, unchanged, lost (another worker took over or the subscription changed), or failed.',
      labelNames: ['outcome'],
      registers,
    }),
    arrivalLag: new Histogram({
      name: 'inlet_subscription_lag_seconds',
      help: "Time from the last modification of an object, according to the storage's clock, until a subscription queued its import.",
      buckets: [1, 2, 5, 10, 30, 60, 300, 3_600, 86_400],
      registers,
    }),
    notifications: new Counter({
      name: 'inlet_notifications_total',
      help: 'Notifications from the storage about new objects, by `outcome`: accepted, dropped (too many at once), or rejected (wrong token or format).',
      labelNames: ['outcome'],
      registers,
    }),
    topologyMismatch: new Gauge({
      name: 'inlet_topology_mismatch',
      help: '1 if the shards differ from the recorded topology. Loads and reports are then stopped in this process.',
      registers,
    }),
    scrapeFailed: new Gauge({
      name: 'inlet_scrape_failed',
      help: '1 if this scrape could not read PostgreSQL. The service-wide gauges are missing in that case.',
      registers,
    }),
  };
  startFromZero(meters);
  return { ...meters, registry };
}

/**
 * Creates every counter with the value 0. If a counter did not exist before its first event, alerts could not detect
 * the increase.
 */
function startFromZero(meters: Omit<Meters, 'registry'>): void {
  for (const reason of Object.keys(rejectReasons)) meters.rowsRejected.inc({ reason }, 0);
  for (const queue of [laneQueue, fileQueue]) {
    for (const cause of retryCauses) meters.retries.inc({ queue, cause }, 0);
  }
  for (const target of ['attributes', 'audience']) {
    for (const loaded of [meters.rowsLoaded, meters.bytesLoaded, meters.filesLoaded]) loaded.inc({ target }, 0);
  }
  meters.filesFailed.inc({ code: 'load_abandoned' }, 0);
  for (const outcome of attemptOutcomes) meters.webhookAttempts.inc({ outcome }, 0);
  for (const outcome of listingOutcomes) meters.listings.inc({ outcome }, 0);
  for (const outcome of notificationOutcomes) meters.notifications.inc({ outcome }, 0);
  for (const outcome of ['done', 'failed']) meters.jobsEnded.inc({ outcome }, 0);
}

/** Adds the standard Node.js metrics: memory, CPU time, and event loop. */
export function addProcessMetrics({ registry }: Meters): void {
  // The event loop is sampled every 100 ms. With the default of 10 ms, an idle worker would wake up a hundred times a
  // second.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 100 });
}
