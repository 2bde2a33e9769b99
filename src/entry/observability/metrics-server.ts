import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import type { WaitsReader } from '../../adapters/postgres/queue/queue-stats.ts';
import type { Log } from '../../ports/observability.ts';
import { coalesceReads } from '../timeouts.ts';
import type { Meters } from './metrics.ts';
import { createStateGauges } from './state-gauges.ts';

/** Prometheus gives a scrape ten seconds. Whatever PostgreSQL does, it has its answer long before. */
const lookWithinMs = 4_000;

type Options = {
  readonly host: string;
  readonly port: number;
  readonly meters: Meters;
  readonly waits: WaitsReader;
  readonly withinMs?: number;
  readonly log: Log;
};

/**
 * Serves `/metrics` and `/live`, and nothing else, away from the API: they are for operators and ask for no key. `/live` asks
 * no server: whoever starts a process again because of it would not bring PostgreSQL back.
 */
export async function serveMetrics({
  host,
  port,
  meters,
  waits,
  withinMs = lookWithinMs,
  log,
}: Options): Promise<{ port: number; close: () => Promise<void> }> {
  const gauges = createStateGauges();
  const run = coalesceReads(waits.read, withinMs, log);
  const scrape = async (): Promise<string> => {
    const now = await run();
    meters.scrapeFailed.set(now ? 0 : 1);
    const own = await meters.registry.metrics();
    if (!now) return own;
    gauges.set(now);
    // Left out when they are not known: the last ones, or zeros, would look like news.
    return `${own}\n${await gauges.registry.metrics()}`;
  };
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 10_000 }, (request, response) => {
    const asked = request.method === 'GET' ? request.url?.split('?')[0] : undefined;
    if (asked !== '/metrics') {
      response.writeHead(asked === '/live' ? 200 : 404).end();
      return;
    }
    scrape().then(
      (text) => response.writeHead(200, { 'content-type': meters.registry.contentType }).end(text),
      (error: unknown) => {
        log.warn({ err: error }, 'metrics could not be given');
        response.writeHead(500).end();
      },
    );
  });
  server.listen(port, host);
  await once(server, 'listening');
  const served = portOf(server);
  log.info({ host, port: served }, 'metrics are served');
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
