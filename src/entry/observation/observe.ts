import type { Api } from '../../adapters/http/api.ts';
import { readWhatWaits } from '../../adapters/postgres/queue/queue-stats.ts';
import type { NoteRetry } from '../../adapters/postgres/queue/tokens.ts';
import type { LaneStore } from '../../ports/lane-store.ts';
import type { FileStore } from '../../ports/load-stage.ts';
import type { Log, Trace } from '../../ports/observability.ts';
import type { Config } from '../config.ts';
import { type Server, meterFiles, meterLanes, meterPort, meterRetries, meterShard, meterWork } from './metered.ts';
import type { Meters } from './meters.ts';
import { observeRequests } from './requests.ts';
import { type Tracing, tracePort, traceWork } from './traced.ts';

/** What operators see of a process, put around its ports when it is wired. Where nothing is set, nothing is wrapped. */
export type Observation = {
  readonly trace: Trace;
  readonly ofPort: <Port extends object>(server: Server, name: string, port: Port) => Port;
  readonly ofShard: <Shard extends object>(shard: Shard, index: number) => Shard;
  readonly ofFiles: (files: FileStore) => FileStore;
  readonly ofLanes: (lanes: LaneStore) => LaneStore;
  readonly ofWork: <Handlers extends object>(handlers: Handlers) => Handlers;
  readonly ofRequests: (api: Api) => void;
  readonly noteRetry: NoteRetry;
  /** Serves the metrics, where a port is set. */
  readonly serve: () => Promise<void>;
  readonly close: () => Promise<void>;
};

export async function observe(config: Config, name: string, log: Log): Promise<Observation> {
  const meters = await startMeters(config);
  const tracing = await startTracing(config, name, log);
  const closing: (() => Promise<void>)[] = tracing ? [tracing.close] : [];
  return {
    trace: traceWork(tracing),
    ofPort: (server, port, target) => {
      const traced = tracing ? tracePort(tracing, port, target) : target;
      return meters ? meterPort(meters, server, port, traced) : traced;
    },
    ofShard: (shard, index) => (meters ? meterShard(meters, index, shard) : shard),
    ofFiles: (files) => (meters ? meterFiles(meters, files) : files),
    ofLanes: (lanes) => (meters ? meterLanes(meters, lanes) : lanes),
    ofWork: (handlers) => (meters ? meterWork(meters, handlers) : handlers),
    ofRequests: (api) => observeRequests(api, meters, tracing),
    noteRetry: meters ? meterRetries(meters) : () => undefined,
    serve: async () => {
      if (!meters || config.INLET_METRICS_PORT === undefined) return;
      const { serveMetrics } = await import('./metrics-server.ts');
      const { INLET_METRICS_HOST: host, INLET_METRICS_PORT: port } = config;
      const waits = readWhatWaits({ url: config.INLET_POSTGRES_URL, name: `${name}-metrics`, log });
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
  const { addProcessMetrics, createMeters } = await import('./meters.ts');
  const meters = createMeters();
  addProcessMetrics(meters);
  return meters;
}

async function startTracing(config: Config, service: string, log: Log): Promise<Tracing | null> {
  if (config.INLET_OTLP_URL === undefined) return null;
  const { failSpan, startSpans } = await import('./tracing.ts');
  return { ...startSpans({ url: config.INLET_OTLP_URL, service, log }), fail: failSpan };
}
