import type { Api } from '../../adapters/http/api.ts';
import { queueStatsReader } from '../../adapters/postgres/queue/queue-stats.ts';
import type { RecordRetry } from '../../adapters/postgres/queue/tokens.ts';
import type { LaneStore } from '../../ports/lane-store.ts';
import type { FileStore } from '../../ports/load-stage.ts';
import type { Log, Trace } from '../../ports/observability.ts';
import type { NotificationOutcome } from '../../adapters/notifications/receiver.ts';
import type { ListingOutcome } from '../../usecases/subscription/list-arrivals.ts';
import type { AttemptOutcome } from '../../usecases/webhook/deliver-events.ts';
import type { Config } from '../config.ts';
import { type Server, meterFiles, meterLanes, meterPort, meterRetries, meterShard, meterWork } from './instrument.ts';
import type { Meters } from './metrics.ts';
import { observeRequests } from './requests.ts';
import { type Tracing, tracePort, traceWork } from './trace.ts';

/** Adds metrics and traces to the ports of a process during wiring. If neither is configured, no port is wrapped. */
export type Observability = {
  readonly trace: Trace;
  readonly instrumentPort: <Port extends object>(server: Server, name: string, port: Port) => Port;
  readonly instrumentShard: <Shard extends object>(shard: Shard, index: number) => Shard;
  readonly instrumentFiles: (files: FileStore) => FileStore;
  readonly instrumentLanes: (lanes: LaneStore) => LaneStore;
  readonly instrumentWork: <Handlers extends object>(handlers: Handlers) => Handlers;
  readonly instrumentRequests: (api: Api) => void;
  readonly recordRetry: RecordRetry;
  readonly recordWebhookAttempt: (outcome: AttemptOutcome) => void;
  readonly recordListing: (outcome: ListingOutcome, lagSeconds: readonly number[]) => void;
  readonly recordNotification: (outcome: NotificationOutcome) => void;
  readonly recordTopology: (hasDifferences: boolean) => void;
  /** Serves the metrics if a port is configured. */
  readonly serve: () => Promise<void>;
  readonly close: () => Promise<void>;
};

export async function startObservability(config: Config, name: string, log: Log): Promise<Observability> {
  const meters = await startMeters(config);
  const tracing = await startTracing(config, name, log);
  const closing: (() => Promise<void>)[] = tracing ? [tracing.close] : [];
  return {
    trace: traceWork(tracing),
    instrumentPort: (server, port, target) => {
      const traced = tracing ? tracePort(tracing, port, target) : target;
      return meters ? meterPort(meters, server, port, traced) : traced;
    },
    instrumentShard: (shard, index) => (meters ? meterShard(meters, index, shard) : shard),
    instrumentFiles: (files) => (meters ? meterFiles(meters, files) : files),
    instrumentLanes: (lanes) => (meters ? meterLanes(meters, lanes) : lanes),
    instrumentWork: (handlers) => (meters ? meterWork(meters, handlers) : handlers),
    instrumentRequests: (api) => observeRequests(api, meters, tracing),
    recordRetry: meters ? meterRetries(meters) : () => undefined,
    recordWebhookAttempt: (outcome) => meters?.webhookAttempts.inc({ outcome }),
    recordListing: (outcome, lagSeconds) => {
      meters?.listings.inc({ outcome });
      for (const seconds of lagSeconds) meters?.arrivalLag.observe(seconds);
    },
    recordNotification: (outcome) => meters?.notifications.inc({ outcome }),
    recordTopology: (hasDifferences) => meters?.topologyMismatch.set(hasDifferences ? 1 : 0),
    serve: async () => {
      if (!meters || config.INLET_METRICS_PORT === undefined) return;
      const { serveMetrics } = await import('./metrics-server.ts');
      const { INLET_METRICS_HOST: host, INLET_METRICS_PORT: port } = config;
      const waits = queueStatsReader({ url: config.INLET_POSTGRES_URL, name: `${name}-metrics`, log });
      const server = await serveMetrics({ host, port, meters, waits, log });
      closing.push(server.close);
    },
    close: async () => {
      await Promise.all(closing.map((close) => close()));
    },
  };
}

async function startMeters(config: Config): Promise<Meters | null> {
  if (config.INLET_METRICS_PORT === undefined) return null;
  const { addProcessMetrics, createMeters } = await import('./metrics.ts');
  const meters = createMeters();
  addProcessMetrics(meters);
  return meters;
}

async function startTracing(config: Config, service: string, log: Log): Promise<Tracing | null> {
  if (config.INLET_OTLP_URL === undefined) return null;
  const { failSpan, startSpans } = await import('./spans.ts');
  return { ...startSpans({ url: config.INLET_OTLP_URL, service, log }), fail: failSpan };
}
