import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { Inlet } from '@inlet/sdk';
import {
  operatorJobDetailsSchema,
  operatorJobSchema,
  operatorLaneSchema,
  operatorPartnerSchema,
} from '../../src/adapters/http/records/operator.ts';
import { advisoryLocks } from '../../src/adapters/postgres/db/advisory-locks.ts';
import { device } from '../support/device-id.ts';
import { answerChecker, readAnswer } from '../support/openapi/check-answer.ts';
import { type DescribedOperation, operationsOf, parseOpenApi, readOpenApiText } from '../support/openapi/document.ts';
import { operatorHeaders } from '../support/operator-session.ts';
import { type TestPartner, createPartner } from '../support/partners.ts';
import { startProxy } from '../support/proxy.ts';
import { operatorOutput } from '../support/run-operator.ts';
import { type ServiceProcess, startApi, startWorker, stopProcess } from '../support/running-service.ts';
import { type TestStores, createStores, withDatabase } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type ApiClient, apiClient } from './api-client.ts';

const document = parseOpenApi(readOpenApiText());
const operations = operationsOf(document);
const check = answerChecker(document);

const engineSchema = z.object({
  replicas: z.array(
    z.object({
      shard: z.int(),
      url: z.string(),
      reachable: z.boolean(),
      problem: z.string().nullable(),
      state: z.looseObject({ version: z.string(), replication: z.unknown() }).nullable(),
    }),
  ),
});
const backupSchema = z.looseObject({
  outcome: z.string(),
  bytes: z.int().nullable(),
  destination: z.string(),
  error: z.string().nullable(),
});
const backupsSchema = z.object({
  newest_complete: backupSchema.extend({ age_seconds: z.int() }).nullable(),
  backups: z.array(backupSchema),
});
const alertsSchema = z.object({ alerts: z.array(z.looseObject({ name: z.string() })) });

let stores: TestStores;
let api: ServiceProcess & { readonly url: string };
let session: { readonly cookie: string };
let first: TestPartner;
let second: TestPartner;

beforeAll(async () => {
  stores = await createStores('two');
  [api, session, first, second] = await Promise.all([
    startApi(stores.environment, 'operator-api'),
    operatorHeaders(stores),
    createPartner(stores.environment),
    createPartner(stores.environment),
  ]);
});
afterAll(async () => {
  await stopProcess(api.child);
  await stores.drop();
});

function operationAt(path: string): DescribedOperation {
  const pattern = `/v1/operator/${path.split('?')[0]?.replace(/\d+$/, '{job_id}')}`;
  const operation = operations.find((one) => one.path === pattern);
  if (!operation) throw new Error(`no operation ${pattern}`);
  return operation;
}

/** Reads as an operator and checks the response against the contract. */
async function read(path: string, url = api.url): Promise<{ body: unknown; next: string | null }> {
  const answer = await readAnswer(await fetch(`${url}/v1/operator/${path}`, { headers: session }));
  expect(check(operationAt(path), answer)).toEqual([]);
  expect(answer.status, answer.text).toBe(200);
  const next = /^<\/v1\/operator\/([^>]+)>; rel="next"$/.exec(answer.headers.get('link') ?? '')?.[1] ?? null;
  return { body: JSON.parse(answer.text), next };
}

const lanesOf = async (path = 'lanes') => z.array(operatorLaneSchema.strict()).parse((await read(path)).body);
const jobsOf = async (query: string) => z.array(operatorJobSchema.strict()).parse((await read(`jobs${query}`)).body);
const jobOf = async (id: number) => operatorJobDetailsSchema.strict().parse((await read(`jobs/${id}`)).body);
const alertsOf = async (url?: string) => alertsSchema.parse((await read('alerts', url)).body).alerts;
const engineOf = async (url?: string) => engineSchema.parse((await read('engine', url)).body).replicas;

/** Ignores the state of the servers, which depends on the machine that runs the tests. */
function waitForAlerts(...expected: readonly string[]): Promise<void> {
  const ofServers = new Set(['InletReplicaUnreachable', 'InletDiskLow']);
  return waitUntil(`the alerts are ${expected.join(', ')}`, async () => {
    const names = (await alertsOf()).map(({ name }) => name);
    return names.filter((name) => !ofServers.has(name)).join() === expected.join();
  });
}

/** Runs a command from a response. */
async function run(command: string | undefined): Promise<string> {
  const [program, ...parameters] = command?.split(' ') ?? [];
  expect(program).toBe('inlet');
  return operatorOutput(stores.environment, parameters);
}

describe('the operator API without a worker', () => {
  const jobs: number[] = [];
  let firstApi: ApiClient;

  beforeAll(async () => {
    firstApi = apiClient(api.url, first.apiKey);
    await first.createAttribute('sport', 'sport');
    await first.upload('a.csv', `${device(1)},sport\n`);
    jobs.push(await firstApi.queue({ file_path: 'a.csv', key_type: 1 }));
    jobs.push(await apiClient(api.url, second.apiKey).queue({ file_path: 'missing.csv', key_type: 1 }));
    jobs.push(await firstApi.queue({ file_path: 'missing.csv', key_type: 1 }));
  });

  it('lists the lane with the oldest job first, and shows why each lane waits and which commands apply to it', async () => {
    const lanes = await lanesOf();
    expect(lanes.map(({ partner }) => partner)).toEqual([first.name, second.name]);
    expect(lanes[0]).toMatchObject({
      partner_id: first.id,
      state: 'waiting_for_worker',
      waits_for: 'a free worker',
      next_attempt_at: null,
      paused: false,
      open_jobs: 2,
      oldest_job: { job_id: jobs[0], kind: 'import', status: 0, started_at: null },
      cli: [
        { action: 'list_jobs', command: `inlet jobs list --partner ${first.name}` },
        { action: 'show', command: `inlet jobs show ${jobs[0]}` },
        { action: 'cancel', command: `inlet jobs cancel ${jobs[0]}` },
        { action: 'suspend', command: `inlet partner suspend ${first.name}` },
      ],
    });
    expect(Date.now() - Date.parse(lanes[0]?.since ?? '')).toBeLessThan(60_000);
  });

  it('returns lanes, jobs, and partners in pages that link to the next page', async () => {
    // A partner's last activity is recorded after its requests, so it can change in between.
    const ids = z.array(z.object({ partner_id: z.int(), job_id: z.int() }).partial());
    for (const [list, count] of [
      ['lanes', 2],
      ['jobs', 3],
      ['partners', 2],
    ] as const) {
      const all = ids.parse((await read(list)).body);
      expect(all.length).toBe(count);
      const paged: unknown[] = [];
      for (let next: string | null = `${list}?limit=1`; next !== null;) {
        const page = await read(next);
        paged.push(...ids.length(1).parse(page.body));
        ({ next } = page);
      }
      expect(paged).toEqual(all);
    }
  });

  it('shows that all lanes are paused by a backup', async () => {
    await withDatabase(stores, async (client) => {
      await client.query('SELECT pg_advisory_lock($1)', [advisoryLocks.backupCut]);
      const lanes = await lanesOf();
      expect(lanes.map(({ paused, waits_for }) => ({ paused, waits_for }))).toEqual(
        lanes.map(() => ({ paused: true, waits_for: 'the backup that pauses publishing' })),
      );
    });
    await waitUntil('the lock is released', async () => !(await lanesOf())[0]?.paused);
  });

  it('filters jobs by partner and status, newest first', async () => {
    expect((await jobsOf('')).map(({ job_id }) => job_id)).toEqual(jobs.toReversed());
    expect((await jobsOf(`?partner=${first.name}`)).map(({ job_id }) => job_id)).toEqual([jobs[2], jobs[0]]);
    expect(await jobsOf('?partner=unknown')).toEqual([]);
    expect(await jobsOf('?status=1,2,3')).toEqual([]);
    expect((await jobsOf(`?status=0,3&partner=${second.name}`)).length).toBe(1);
    for (const query of ['status=4', 'status=0,', 'status=', 'limit=201', 'partner=a&partner=b', 'cursor=x']) {
      const response = await fetch(`${api.url}/v1/operator/jobs?${query}`, { headers: session });
      expect([query, response.status]).toEqual([query, 400]);
    }
  });

  it('reports that no worker is connected', async () => {
    await waitForAlerts('InletNoWorkers', 'InletBackupOverdue');
    const [alert] = await alertsOf();
    expect(alert).toMatchObject({ severity: 'critical', runbook: 'docs/operators/incidents.md#nothing-is-loaded' });
  });

  it('shows the open jobs, the keys, and the last activity of a partner', async () => {
    await first.createKey('second key');
    await waitUntil('the use of the key is recorded', async () => {
      const { body } = await read('partners');
      const partner = z
        .array(operatorPartnerSchema.strict())
        .parse(body)
        .find(({ name }) => name === first.name);
      expect(partner).toMatchObject({ open_jobs: 2, api_keys: { valid: 2, all: 2 } });
      expect(partner?.quotas.attributes).toEqual({ limit: 10_000, used: 1, measured_at: null });
      return Date.now() - Date.parse(partner?.last_active_at ?? '') < 60_000;
    });
  });

  it('lists commands that do what they say', async () => {
    const canceled = await jobOf(jobs[2] ?? 0);
    expect(canceled).toMatchObject({ status: 0, canceled: false, files: [], has_more_files: false });
    await run(canceled.cli.find(({ action }) => action === 'cancel')?.command);
    const after = await jobOf(jobs[2] ?? 0);
    expect(after).toMatchObject({ canceled: true, cli: [{ action: 'show' }] });
    expect(JSON.parse(await run(`${after.cli[0]?.command} --json`))).toMatchObject({ job_id: jobs[2], canceled: true });
    for (const { command } of (await lanesOf())[1]?.cli.slice(0, 2) ?? [])
      expect(await run(`${command} --json`)).toMatch(/^[[{]/);
  });

  it('shows the files of a loaded job, and retries a failed job', async () => {
    const worker = await startWorker(stores.environment, 'operator-api');
    try {
      await waitUntil('all lanes are done', async () => (await lanesOf()).length === 0);
      await waitForAlerts('InletBackupOverdue');
      const done = await jobOf(jobs[0] ?? 0);
      expect(done).toMatchObject({ status: 2, partner: first.name, file_path: 'a.csv', error: null, lane_position: 1 });
      expect(done.files).toMatchObject([
        { path: 'a.csv', status: 2, attempts: 1, rows: 1, accepted_rows: 1, error: null },
      ]);
      const failed = await jobOf(jobs[1] ?? 0);
      expect(failed).toMatchObject({ status: 3, error: { code: 'no_files' } });
      await run(failed.cli.find(({ action }) => action === 'retry')?.command);
      expect((await jobsOf(`?partner=${second.name}`)).length).toBe(2);
    } finally {
      await stopProcess(worker.child);
    }
  });

  it('returns 404 for an unknown job', async () => {
    const response = await fetch(`${api.url}/v1/operator/jobs/999999`, { headers: session });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({
      code: 'not_found',
      detail: expect.stringContaining('999999') as unknown,
    });
  });
});

describe('the state of ClickHouse', () => {
  /** A response takes at most two seconds. On a busy machine, the test itself waits for CPU time. */
  const longestMs = 3_000;

  const waitUntilReachable = (expected: readonly boolean[], url?: string): Promise<void> =>
    waitUntil(
      `the servers are reachable: ${String(expected)}`,
      async () => String((await engineOf(url)).map(({ reachable }) => reachable)) === String(expected),
    );

  it('shows every shard without replication and without credentials', async () => {
    await waitUntilReachable([true, true]);
    const replicas = await engineOf();
    expect(replicas.map(({ shard }) => shard)).toEqual([1, 2]);
    expect(replicas[0]?.state).toMatchObject({
      version: expect.stringMatching(/^\d+\.\d+/) as unknown,
      mutations: { unfinished: 0, oldest_seconds: null, latest_failure: null },
      replication: null,
    });
    const configured = stores.config.INLET_CLICKHOUSE_URLS.flat().map((url) => new URL(url.reveal()));
    expect(replicas.map(({ url }) => url)).toEqual(configured.map(({ origin }) => origin));
    expect(configured[0]?.password).not.toBe('');
    expect(JSON.stringify(replicas)).not.toContain(configured[0]?.password);
  });

  it('shows within two seconds that a server has become unreachable', async () => {
    const [reachable = '', stalling = ''] = (stores.environment['INLET_CLICKHOUSE_URLS'] ?? '').split(',');
    const proxy = await startProxy(stalling);
    const urls = { INLET_CLICKHOUSE_URLS: `${reachable},${proxy.address}` };
    const other = await startApi({ ...stores.environment, ...urls }, 'operator-dead-shard');
    try {
      await waitUntilReachable([true, true], other.url);
      for (const is of ['stalled', 'cut'] as const) {
        proxy.make({ is });
        const start = performance.now();
        const [, down] = await engineOf(other.url);
        expect(performance.now() - start).toBeLessThan(longestMs);
        await waitUntilReachable([true, false], other.url);
        expect(down).toMatchObject({ shard: 2, reachable: false, state: null, problem: expect.any(String) as unknown });
        expect((await alertsOf(other.url)).map(({ name }) => name)).toContain('InletReplicaUnreachable');
      }
      proxy.make({ is: 'none' });
      await waitUntilReachable([true, true], other.url);
    } finally {
      await stopProcess(other.child);
      await proxy.close();
    }
  });

  it('reports that the configured topology differs from the recorded one', async () => {
    const [only = ''] = (stores.environment['INLET_CLICKHOUSE_URLS'] ?? '').split(',');
    const other = await startApi({ ...stores.environment, INLET_CLICKHOUSE_URLS: only }, 'operator-one-shard');
    try {
      await waitUntil('the topology is checked', async () =>
        (await alertsOf(other.url)).some(({ name }) => name === 'InletTopologyMismatch'),
      );
      expect((await alertsOf(other.url))[0]).toMatchObject({ severity: 'critical' });
    } finally {
      await stopProcess(other.child);
    }
  });
});

describe('backups', () => {
  const folder = mkdtempSync(join(tmpdir(), 'inlet-operator-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('shows the outcome of each backup attempt, and the newest complete backup', async () => {
    expect(backupsSchema.parse((await read('backups')).body)).toEqual({ newest_complete: null, backups: [] });
    const target = join(folder, `backup-${process.pid}`);
    await operatorOutput(stores.environment, ['backup', target]);
    await expect(operatorOutput(stores.environment, ['backup', target])).rejects.toThrow('EEXIST');
    const { newest_complete: newest, backups } = backupsSchema.parse((await read('backups')).body);
    expect(backups.map(({ outcome, destination }) => ({ outcome, destination }))).toEqual([
      { outcome: 'failed', destination: `${target}, ClickHouse disk backups` },
      { outcome: 'complete', destination: `${target}, ClickHouse disk backups` },
    ]);
    expect(backups[0]?.error).toContain('EEXIST');
    expect(newest?.bytes).toBeGreaterThan(10_000);
    expect(newest?.age_seconds).toBeLessThan(60);
    await waitForAlerts('InletNoWorkers');
  });
});

describe('the operator API', () => {
  it('the operator API uses at most two read-only connections, which it opens for the first request', async () => {
    const own = await startApi(stores.environment, 'operator-pool');
    const connections = () =>
      withDatabase(stores, async (client) => {
        const { rows } = await client.query(
          `SELECT FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'inlet-api-operator'`,
        );
        return rows.length;
      });
    try {
      // The other API process has its own connections.
      const before = await connections();
      await apiClient(own.url, first.apiKey).list();
      expect(await connections()).toBe(before);
      await Promise.all(Array.from({ length: 12 }, () => read('partners', own.url)));
      expect(await connections()).toBe(before + 2);
    } finally {
      await stopProcess(own.child);
    }
  });

  it('the operator API does not exist without a console', async () => {
    const { INLET_CONSOLE_URL: _url, ...environment } = stores.environment;
    const bare = await startApi(environment, 'operator-no-console');
    try {
      const headers = { authorization: `Bearer ${first.apiKey}` };
      expect((await fetch(`${bare.url}/v1/operator/lanes`, { headers })).status).toBe(403);
      expect((await fetch(`${bare.url}/v1/operator/lanes`, { headers: session })).status).toBe(401);
    } finally {
      await stopProcess(bare.child);
    }
  });

  it('the operator API is part of the SDK, which calls it without an API key', async () => {
    const inlet = new Inlet({ url: api.url, apiKey: first.apiKey });
    const answer = await inlet.listOperatorLanes();
    expect(answer.ok).toBe(false);
    expect(answer.ok ? null : answer.problem.code).toBe('unauthenticated');
  });
});
