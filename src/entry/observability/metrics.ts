import { rejectReasons } from '@inlet/row-rule/reject-reason';
import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from '@prometheus-io/client';
import { fileQueue, laneQueue, retryCauses } from '../../adapters/postgres/queue/tokens.ts';

// Every value of a label comes from a list in our own code: names of ports, reasons, codes. Never a partner, a path or
// anything else from outside, because each new value is a series that Prometheus keeps.

/** From a short look to the load of a large file. */
const callBuckets = [0.005, 0.02, 0.1, 0.5, 2, 10, 60, 600];
const requestBuckets = [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 30];

export type Meters = ReturnType<typeof createMeters>;

/** What one process counts of its own work. The help texts are also the table in docs/metrics.md. */
export function createMeters() {
  const registry = new Registry();
  const registers = [registry];
  const meters = {
    requests: new Histogram({
      name: 'inlet_http_request_seconds',
      help: 'Answered requests by `operation` of the API (`unknown` for what is none) and `status`; without the time that one waited because its caller wanted it to.',
      labelNames: ['operation', 'status'],
      buckets: requestBuckets,
      registers,
    }),
    calls: new Histogram({
      name: 'inlet_call_seconds',
      help: 'Calls to the servers behind Inlet by `server` (postgres, clickhouse, storage, issuer), `port` and `method`.',
      labelNames: ['server', 'port', 'method'],
      buckets: callBuckets,
      registers,
    }),
    failedCalls: new Counter({
      name: 'inlet_call_failures_total',
      help: 'Those of them that failed; what a partner has to mend is not counted.',
      labelNames: ['server', 'port', 'method'],
      registers,
    }),
    statements: new Histogram({
      name: 'inlet_engine_statement_seconds',
      help: 'Statements to ClickHouse by their first word (`statement`) and `shard`; a load lasts as long as its file.',
      labelNames: ['statement', 'shard'],
      buckets: callBuckets,
      registers,
    }),
    rowsLoaded: new Counter({
      name: 'inlet_rows_loaded_total',
      help: 'Good rows of files that were found good, by `target` (attributes, audience).',
      labelNames: ['target'],
      registers,
    }),
    bytesLoaded: new Counter({
      name: 'inlet_bytes_loaded_total',
      help: 'Bytes of these files as they are stored, by `target`.',
      labelNames: ['target'],
      registers,
    }),
    filesLoaded: new Counter({
      name: 'inlet_files_loaded_total',
      help: 'Files that were found good, by `target`.',
      labelNames: ['target'],
      registers,
    }),
    filesFailed: new Counter({
      name: 'inlet_files_failed_total',
      help: 'Files that failed, by `code` of docs/errors.md; `load_abandoned` are those that were given up.',
      labelNames: ['code'],
      registers,
    }),
    rowsRejected: new Counter({
      name: 'inlet_rows_rejected_total',
      help: 'Refused rows by `reason` of docs/errors.md, of good and of failed files.',
      labelNames: ['reason'],
      registers,
    }),
    jobsEnded: new Counter({
      name: 'inlet_jobs_ended_total',
      help: 'Jobs that were brought to their end, by `outcome` (done, failed).',
      labelNames: ['outcome'],
      registers,
    }),
    laneSteps: new Counter({
      name: 'inlet_lane_steps_total',
      help: 'What lanes were found to need, by `step` (prepare, settle, finish, clean, rest).',
      labelNames: ['step'],
      registers,
    }),
    retries: new Counter({
      name: 'inlet_retries_total',
      help: 'Tokens that are worked on once more by `queue` (lane, file) and `cause` (away, broke, lost, failed, handed_back).',
      labelNames: ['queue', 'cause'],
      registers,
    }),
    work: new Histogram({
      name: 'inlet_work_seconds',
      help: 'Turns of lanes and loads of batches in this worker, by `work` (runLane, loadBatch, abandonBatch).',
      labelNames: ['work'],
      buckets: callBuckets,
      registers,
    }),
    busy: new Gauge({
      name: 'inlet_worker_busy',
      help: 'What this worker is at now, by `work`.',
      labelNames: ['work'],
      registers,
    }),
    scrapeFailed: new Gauge({
      name: 'inlet_scrape_failed',
      help: '1 when PostgreSQL could not be asked for this scrape; then the gauges of the next table are missing.',
      registers,
    }),
  };
  startFromZero(meters);
  return { ...meters, registry };
}

/** A counter that appears with its first event has no increase that an alert could see. */
function startFromZero(meters: Omit<Meters, 'registry'>): void {
  for (const reason of Object.keys(rejectReasons)) meters.rowsRejected.inc({ reason }, 0);
  for (const queue of [laneQueue, fileQueue]) {
    for (const cause of retryCauses) meters.retries.inc({ queue, cause }, 0);
  }
  for (const target of ['attributes', 'audience']) {
    for (const loaded of [meters.rowsLoaded, meters.bytesLoaded, meters.filesLoaded]) loaded.inc({ target }, 0);
  }
  meters.filesFailed.inc({ code: 'load_abandoned' }, 0);
  for (const outcome of ['done', 'failed']) meters.jobsEnded.inc({ outcome }, 0);
}

/** Memory, processor time and event loop of the process, as every program on Node shows them. */
export function addProcessMetrics({ registry }: Meters): void {
  // Looked at every 100 ms: at the default of 10 ms an idle worker would wake up a hundred times a second.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 100 });
}
