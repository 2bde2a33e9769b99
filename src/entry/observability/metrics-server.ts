import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import type { QueueStatsReader } from '../../adapters/postgres/queue/queue-stats.ts';
import type { Log } from '../../ports/observability.ts';
import { coalesceReads } from '../timeouts.ts';
import type { Meters } from './metrics.ts';
import { createStateGauges } from './state-gauges.ts';

/**
 * Prometheus stops a scrape after ten seconds. With this timeout, the response takes less time even if PostgreSQL is
 * slow or down.
 */
const readTimeoutMs = 4_000;

type Options = {
  readonly host: string;
  readonly port: number;
  readonly meters: Meters;
  readonly waits: QueueStatsReader;
  readonly timeoutMs?: number;
  readonly log: Log;
};

/**
 * Serves `/metrics` and `/live` on a separate port, because these endpoints are for operators and require no API key.
 * `/live` does not check any dependencies, because restarting this process would not restore PostgreSQL.
 */
export async function serveMetrics({
  host,
  port,
  meters,
  waits,
  timeoutMs = readTimeoutMs,
  log,
}: Options): Promise<{ port: number; close: () => Promise<void> }> {
  const gauges = createStateGauges();
  const run = coalesceReads(waits.read, timeoutMs, log);
  const scrape = async (): Promise<string> => {
    const now = await run();
    meters.scrapeFailed.set(now ? 0 : 1);
    const own = await meters.registry.metrics();
    if (!now) return own;
    gauges.set(now);
    // Unknown gauges are omitted, because stale values or zeros would be misleading.
    return `${own}\n${await gauges.registry.metrics()}`;
  };
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 10_000 }, (request, response) => {
    const path = request.method === 'GET' ? request.url?.split('?')[0] : undefined;
    if (path !== '/metrics') {
      response.writeHead(path === '/live' ? 200 : 404).end();
      return;
    }
    scrape().then(
      (text) => response.writeHead(200, { 'content-type': meters.registry.contentType }).end(text),
      (error: unknown) => {
        log.warn({ err: error }, 'cannot render metrics');
        response.writeHead(500).end();
      },
    );
  });
  server.listen(port, host);
  await once(server, 'listening');
  const served = portOf(server);
  log.info({ host, port: served }, 'serving metrics');
  return {
    port: served,
    close: async () => {
      server.close();
      server.closeAllConnections();
      await waits.close();
    },
  };
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === 'object' && address ? address.port : 0;
}
