import { afterEach, describe, expect, it } from 'vitest';
import type { QueueStats } from '../../adapters/postgres/queue/queue-stats.ts';
import type { Log } from '../../ports/observability.ts';
import { coalesceReads } from '../timeouts.ts';
import { serveMetrics } from './metrics-server.ts';
import { createMeters } from './metrics.ts';

const silent: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };
const state: QueueStats = {
  workers: 3,
  openJobs: 6,
  oldestSeconds: 50,
  pendingJobs: 3,
  oldestPendingSeconds: 40,
  runningJobs: 2,
  oldestRunningSeconds: 50,
  oldestCleaningSeconds: 7,
  lanesOpen: 2,
  lanesActive: 1,
  lanesWithoutToken: 0,
  silentSeconds: 4,
  filesInFlight: 9,
  readyTokens: 5,
  waitingTokens: 8,
  indexChanges: 2,
  oldestIndexChangeSeconds: 12,
  reportRequests: 1,
  oldestReportRequestSeconds: 3,
  webhookEvents: 0,
  oldestWebhookEventSeconds: 0,
  webhooksFailing: 0,
  subscriptionObjects: 0,
  subscriptionListingDelaySeconds: 0,
  openErasures: 0,
  oldestErasureSeconds: 0,
  lastErasureSeconds: 0,
  dropFetchSeconds: 0,
  dropCycleSeconds: 0,
};

describe('the metrics server', () => {
  const closing: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
  });
  const serve = async (read: () => Promise<QueueStats>): Promise<(path: string) => Promise<Response>> => {
    const server = await serveMetrics({
      host: '127.0.0.1',
      port: 0,
      meters: createMeters(),
      waits: { read, close: () => Promise.resolve() },
      timeoutMs: 100,
      log: silent,
    });
    closing.push(server.close);
    return (path) => fetch(`http://127.0.0.1:${server.port}${path}`);
  };

  it('serves the metrics of the process and the state of the service', async () => {
    const ask = await serve(() => Promise.resolve(state));
    const response = await ask('/metrics');
    const text = await response.text();
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
    ]);
    expect(text).toContain('\ninlet_scrape_failed 0\n');
    expect(text).toContain('\ninlet_workers 3\n');
    expect(text).toContain('inlet_open_jobs{state="pending"} 3\n');
    expect(text).toContain('inlet_open_jobs{state="cleaning"} 1\n');
    expect(text).toContain('inlet_oldest_open_job_seconds{state="running"} 50\n');
    expect((await ask('/')).status).toBe(404);
  });

  it.each([
    ['fails', () => Promise.reject(new Error('connect ECONNREFUSED'))],
    ['does not respond', () => new Promise<QueueStats>(() => undefined)],
  ])('omits the state of the service when PostgreSQL %s', async (_how, read) => {
    const ask = await serve(read);
    const text = await (await ask('/metrics')).text();
    expect(text).toContain('\ninlet_scrape_failed 1\n');
    expect(text).toContain('inlet_retries_total{queue="lane",cause="away"} 0\n');
    expect(text).not.toContain('inlet_workers');
  });

  it('reports liveness without querying PostgreSQL', async () => {
    let reads = 0;
    const ask = await serve(() => Promise.resolve({ ...state, workers: (reads += 1) }));
    expect([(await ask('/live')).status, reads]).toEqual([200, 0]);
    await ask('/metrics');
    expect(reads).toBe(1);
  });

  it('shares one read of the state among concurrent scrapes and reads it again later', async () => {
    let reads = 0;
    const run = coalesceReads(() => Promise.resolve((reads += 1)), 100, silent);
    expect(await Promise.all([run(), run(), run()])).toEqual([1, 1, 1]);
    expect(await run()).toBe(2);
  });
});
