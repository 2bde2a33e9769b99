import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { apiClient } from '../acceptance/api-client.ts';
import { startProxy, type Proxy } from '../support/proxy.ts';
import { device } from '../support/device-id.ts';
import { metricsOf } from '../support/metrics.ts';
import { createPartner, type TestPartner } from '../support/partners.ts';
import { startApi, startWorker, stopProcess, type ServiceProcess } from '../support/running-service.ts';
import { createStores, type TestStores } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';

const lineSchema = z.looseObject({
  msg: z.string().optional(),
  reqId: z.string().optional(),
  requestId: z.string().optional(),
  jobId: z.int().optional(),
  batchId: z.int().optional(),
});

const path = 'not-to-be-shown.csv';
const bad = '00000000-0000-0000-0000-000000000000';

describe('the metrics of the API and the worker after an import', () => {
  let stores: TestStores;
  let partner: TestPartner;
  let proxy: Proxy;
  let api: ServiceProcess & { readonly url: string };
  let worker: ServiceProcess;
  let jobId: number;
  let waiting: string;
  let withoutEngine: string;
  let shown: { api: string; worker: string };

  beforeAll(async () => {
    stores = await createStores('two');
    partner = await createPartner(stores.environment);
    proxy = await startProxy(stores.environment['INLET_POSTGRES_URL'] ?? '');
    const environment: Record<string, string> = { ...stores.environment, INLET_METRICS_PORT: '0' };
    api = await startApi({ ...environment, INLET_POSTGRES_URL: proxy.address }, 'metrics');
    const sport = await partner.createAttribute('sport');
    await partner.upload(path, `${device(1)},${sport}\n${device(2)},${sport}\n${bad},${sport}\n`);
    const client = apiClient(api.url, partner.apiKey);
    jobId = await client.queue({ file_path: path, key_type: 0 });
    const missing = await client.queue({ file_path: 'missing.csv', key_type: 0 });
    await client.request('/no-such-thing/17');
    waiting = await metricsOf(api);
    const [first = ''] = (environment['INLET_CLICKHOUSE_URLS'] ?? '').split(',');
    const unreachable = new URL(first);
    unreachable.port = '9';
    const blind = await startWorker(
      { ...environment, INLET_CLICKHOUSE_URLS: `${unreachable.href},${unreachable.href}` },
      'metrics',
    );
    await waitUntil('the worker notices that the engine is down', async () => {
      withoutEngine = await metricsOf(blind);
      return /cause="away"\} [1-9]/.test(withoutEngine) && withoutEngine.includes('\ninlet_tokens_waiting 1\n');
    });
    await stopProcess(blind.child);
    worker = await startWorker(environment, 'metrics');
    await client.waitForEnd(missing);
    await waitUntil('no lane is open', async () => (await metricsOf(worker)).includes('\ninlet_lanes_open 0\n'));
    shown = { api: await metricsOf(api), worker: await metricsOf(worker) };
  });
  afterAll(async () => {
    await Promise.all([stopProcess(api.child), stopProcess(worker.child)]);
    await proxy.close();
    await stores.drop();
  });

  it('the metrics count rows, bytes, rejected rows, and jobs in the worker', () => {
    const expected = [
      'inlet_rows_loaded_total{target="attributes"} 2',
      `inlet_bytes_loaded_total{target="attributes"} ${3 * 37 + 3 * 5}`,
      'inlet_files_loaded_total{target="attributes"} 1',
      'inlet_rows_rejected_total{reason="zero_id"} 1',
      'inlet_rows_rejected_total{reason="invalid_id"} 0',
      'inlet_jobs_ended_total{outcome="done"} 1',
      'inlet_jobs_ended_total{outcome="failed"} 1',
      'inlet_lane_steps_total{step="settle"} 1',
      'inlet_retries_total{queue="file",cause="away"} 0',
      'inlet_worker_busy{work="loadBatch"} 0',
      'inlet_work_seconds_count{work="loadBatch"} 1',
      'inlet_call_seconds_count{server="clickhouse",port="stage",method="countRows"} 1',
      'inlet_call_seconds_count{server="storage",port="sharedBucket",method="open"} 1',
      'inlet_call_failures_total{server="storage",port="sharedBucket",method="open"} 0',
    ];
    const lines = shown.worker.split('\n');
    expect(expected.filter((line) => !lines.includes(line))).toEqual([]);
    expect(shown.worker).toMatch(/^inlet_engine_statement_seconds_count\{statement="INSERT",shard="\d"\} /m);
  });

  it("the metrics count the API's requests by operation and all unknown paths under one name", () => {
    const expected = [
      'inlet_http_request_seconds_count{operation="queueImport",status="202"} 2',
      'inlet_http_request_seconds_count{operation="unknown",status="404"} 1',
      'inlet_call_seconds_count{server="postgres",port="importLogs",method="submitImport"} 2',
    ];
    const lines = shown.api.split('\n');
    expect(expected.filter((line) => !lines.includes(line))).toEqual([]);
    expect(shown.api).toMatch(/^inlet_http_request_seconds_count\{operation="getImportLog",status="200"\} \d+$/m);
    expect(shown.api).toMatch(/^inlet_http_request_seconds_count\{operation="health",status="200"\} \d+$/m);
  });

  it('the metrics report the queue length while no worker runs', () => {
    const expected = [
      'inlet_workers 0',
      'inlet_open_jobs{state="pending"} 2',
      'inlet_open_jobs{state="running"} 0',
      'inlet_lanes_open 1',
      'inlet_lanes_active 0',
      'inlet_lanes_without_token 0',
      'inlet_tokens_ready 1',
      'inlet_tokens_waiting 0',
      'inlet_files_in_flight 0',
    ];
    const lines = waiting.split('\n');
    expect(expected.filter((line) => !lines.includes(line))).toEqual([]);
    expect(waiting).toMatch(/^inlet_oldest_open_job_seconds\{state="pending"\} \d+$/m);
  });

  it("the metrics count a worker's retries by cause, and its failed calls, while it cannot reach ClickHouse", () => {
    expect(withoutEngine).toMatch(/^inlet_retries_total\{queue="lane",cause="away"\} [1-9]/m);
    expect(withoutEngine).toContain('inlet_retries_total{queue="lane",cause="failed"} 0\n');
    expect(withoutEngine).toMatch(
      /^inlet_call_failures_total\{server="clickhouse",port="topology",method="observe"\} [1-9]/m,
    );
  });

  it('the metrics report the state of the service in both processes', () => {
    for (const text of [shown.api, shown.worker]) {
      expect(text).toContain('\ninlet_workers 1\n');
      expect(text).toContain('inlet_open_jobs{state="pending"} 0\n');
      expect(text).toContain('\ninlet_lanes_without_token 0\n');
      expect(text).toContain('\ninlet_scrape_failed 0\n');
    }
  });

  it('the metrics have a bounded number of series', () => {
    const seriesOf = (text: string): number => text.split('\n').filter((line) => /^[a-z]/.test(line)).length;
    expect(seriesOf(shown.worker)).toBeLessThan(1_500);
    expect(seriesOf(shown.api)).toBeLessThan(1_500);
  });

  it('the metrics have no label that contains a partner, a path, or a job', () => {
    for (const text of [shown.api, shown.worker]) {
      expect(text).not.toContain(partner.name);
      expect(text).not.toContain('not-to-be-shown');
      expect(text).not.toContain('no-such-thing');
      expect(text).not.toMatch(/(partner|job|file|path)(_?id)?="/i);
    }
  });

  it('the metrics include every metric that the dashboard and the alerts use', () => {
    const files = ['grafana-dashboard.json', 'alerts.yml'].map((name) =>
      readFileSync(`deploy/observability/${name}`, 'utf8'),
    );
    const named = new Set(files.flatMap((text) => text.match(/\b(?:inlet|process)_[a-z_]+(?=[{[)\s"=]|\\")/g) ?? []));
    const there = new Set(
      [shown.api, shown.worker].flatMap((text) => text.match(/^(?:inlet|process)_[a-z_]+(?=[{ ])/gm) ?? []),
    );
    expect(named.size).toBeGreaterThan(20);
    expect([...named].filter((name) => !there.has(name))).toEqual([]);
    const described = readFileSync('docs/metrics.md', 'utf8');
    const ours = [...there].filter((name) => name.startsWith('inlet_'));
    const basic = (name: string): string => name.replace(/_seconds_(?:bucket|sum|count)$/, '_seconds');
    expect(ours.filter((name) => !described.includes(`\`${basic(name)}\``))).toEqual([]);
  });

  it('log lines contain the request, job, and batch IDs', () => {
    const linesOf = ({ logFile }: ServiceProcess): z.infer<typeof lineSchema>[] =>
      readFileSync(logFile, 'utf8')
        .split('\n')
        .filter((line) => line.startsWith('{'))
        .map((line) => lineSchema.parse(JSON.parse(line)));
    const accepted = linesOf(api).find((line) => line.msg === 'job accepted' && line.jobId === jobId);
    expect(accepted?.reqId).toMatch(/^[0-9a-f-]{36}$/);
    expect(accepted?.requestId).toBe(accepted?.reqId);
    const staged = linesOf(worker).find((line) => line.msg === 'batch staged');
    expect(staged).toMatchObject({ jobId, partnerId: partner.id, failed: [] });
    expect(staged?.batchId).toBeGreaterThan(0);
  });

  it.each(['stalled', 'cut'] as const)(
    'the metrics are served while PostgreSQL is %s and report that it is unavailable',
    async (is) => {
      proxy.make({ is });
      const start = performance.now();
      const text = await metricsOf(api);
      expect(performance.now() - start).toBeLessThan(9_000);
      expect(text).toContain('\ninlet_scrape_failed 1\n');
      expect(text).not.toContain('inlet_workers');
      proxy.make({ is: 'none' });
      await waitUntil('PostgreSQL is queried again', async () =>
        (await metricsOf(api)).includes('\ninlet_workers 1\n'),
      );
    },
  );
});
