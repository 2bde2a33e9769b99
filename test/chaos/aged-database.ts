import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import { defaultRetention } from '../../src/domain/retention.ts';
import type { RetentionStore } from '../../src/ports/retention-store.ts';
import { removeExpiredRecords } from '../../src/usecases/admin/retention.ts';
import { busiestPartner, fillWithHistory } from '../support/aged-records.ts';
import { startBoundApi } from '../support/bound-api.ts';
import { configFor } from '../support/environment.ts';
import { setup } from '../support/global-setup.ts';
import { silentLog } from '../support/silent-log.ts';
import { type TestStores, createPostgresStores, withDatabase } from '../support/stores.ts';
import { type Wired, wireAll } from '../support/wired.ts';
import { printLine } from './print-line.ts';

// Fills a database with the records of millions of finished jobs and compares its response times with those of a new
// database, alternating between the two. Then measures the response times while one month of records is removed.

const { values } = parseArgs({
  options: {
    jobs: { type: 'string', default: '2000000' },
    files: { type: 'string', default: '10000000' },
    partners: { type: 'string', default: '500' },
    rounds: { type: 'string', default: '400' },
  },
});
const [jobs, files, partners, rounds] = [values.jobs, values.files, values.partners, values.rounds].map(Number);
if (!jobs || !files || !partners || !rounds)
  throw new Error('Usage: npm run aged-database -- [--jobs] [--files] [--partners] [--rounds]');
const maxRatio = 1.5;
const historyDays = 400;
const monthDays = 30;
/** The new database's busiest partner has enough jobs to fill a page of the import list and the file list. */
const recentJobs = 200;

type Side = {
  readonly stores: TestStores;
  readonly deps: Wired;
  readonly call: (method: string, path: string, body?: object) => Promise<{ status: number; text: string }>;
  readonly importLogId: number;
  readonly audienceId: number;
  readonly close: () => Promise<void>;
};

const settings = {
  INLET_MAX_OPEN_JOBS: '1000',
  INLET_REQUESTS_PER_KEY: '1000000',
  INLET_REQUESTS_PER_PARTNER: '1000000',
};

async function openSide(history: Parameters<typeof fillWithHistory>[1]): Promise<Side> {
  const stores = await createPostgresStores();
  await fillWithHistory(stores, history);
  const config = configFor({ ...stores.environment, ...settings });
  const deps = await wireAll(config);
  const api = await startBoundApi(config, 'of the caller');
  const { key, hash } = deps.apiKeys.issue();
  await withDatabase(stores, (client) =>
    client.query('INSERT INTO api_key (partner_id, key_hash) VALUES ($1, $2)', [busiestPartner, hash]),
  );
  const only = async (query: string): Promise<number> =>
    withDatabase(stores, async (client) => {
      const { rows } = await client.query<{ id: string }>(query, [busiestPartner]);
      return Number(rows[0]?.id);
    });
  return {
    stores,
    deps,
    call: async (method, path, body) => {
      const response = await fetch(api.url + path, {
        method,
        headers: { authorization: `Bearer ${key.reveal()}`, 'content-type': 'application/json' },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      return { status: response.status, text: await response.text() };
    },
    importLogId: await only(`SELECT max(job_id) AS id FROM import_log WHERE partner_id = $1`),
    audienceId: await only('SELECT max(id) AS id FROM audience WHERE partner_id = $1'),
    close: async () => {
      await api.stop();
      await deps.close();
      await stores.drop();
    },
  };
}

type Operation = {
  readonly name: string;
  readonly run: (side: Side) => Promise<void>;
  readonly after?: (side: Side) => Promise<void>;
};

async function request(side: Side, method: string, path: string, body?: object): Promise<void> {
  const { status, text } = await side.call(method, path, body);
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`);
}

const token = () => ({ partnerId: busiestPartner, id: randomUUID(), retryCount: 0 });

/** Takes the first step of the lane, which finds the next job and starts it with ten files. */
async function stepLane({ deps }: Side): Promise<void> {
  const step = await deps.lanes.nextStep(token(), 4);
  if (step.do !== 'prepare') throw new Error(`unexpected step: ${step.do}`);
  const listed = Array.from({ length: 10 }, (_, n) => ({
    key: `k${n}`,
    path: `k${n}`,
    etag: 'e',
    size: 1,
    gzip: true,
    lastModified: null,
  }));
  await deps.lanes.startImport(step.job.id, [listed]);
}

/** Ends all open jobs, so that every round starts with an idle lane. */
async function endOpenJobs({ stores }: Side): Promise<void> {
  await withDatabase(stores, async (client) => {
    await client.query('UPDATE job_file SET status = 2 WHERE status < 2');
    await client.query('UPDATE job SET status = 2, listed_at = now(), finished_at = now() WHERE status < 2');
    await client.query('DELETE FROM pgboss.job');
  });
}

const post = { file_path: 'daily/', key_type: 1, compressed: true };
const operations: readonly Operation[] = [
  { name: 'list imports', run: (side) => request(side, 'GET', '/v1/marketplace/import') },
  { name: 'list 10 imports', run: (side) => request(side, 'GET', '/v1/marketplace/import?limit=10') },
  { name: 'get an import', run: (side) => request(side, 'GET', `/v1/marketplace/import/${side.importLogId}`) },
  { name: 'list audiences', run: (side) => request(side, 'GET', '/v2/firstparty/audience') },
  { name: 'get an audience', run: (side) => request(side, 'GET', `/v2/firstparty/audience/${side.audienceId}`) },
  { name: 'POST an import', run: (side) => request(side, 'POST', '/v1/marketplace/import', post) },
  { name: 'lane step', run: stepLane, after: endOpenJobs },
];

const percentile = (times: readonly number[], share: number): number =>
  times.toSorted((one, other) => one - other)[Math.floor((times.length - 1) * share)] ?? 0;

async function timed(run: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await run();
  return performance.now() - start;
}

const start = Date.now();
await setup();
const young = await openSide({ jobs: recentJobs, files: recentJobs * 5, partners: 1, days: 2 });
const aged = await openSide({ jobs, files, partners, days: historyDays });
const [{ size, stored } = { size: '', stored: '' }] = await withDatabase(aged.stores, async (client) => {
  const query = `SELECT pg_size_pretty(pg_database_size(current_database())) AS size, (SELECT count(*) FROM job_file) AS stored`;
  return (await client.query<{ size: string; stored: string }>(query)).rows;
});
printLine(`filled in ${Math.round((Date.now() - start) / 1000)} s: ${jobs} jobs, ${stored} files, ${size}`);

const times = new Map(operations.map(({ name }) => [name, { young: [] as number[], aged: [] as number[] }]));
const warmUp = 20;
for (let round = -warmUp; round < rounds; round++) {
  for (const { name, run, after } of operations) {
    for (const [side, which] of [
      [young, 'young'],
      [aged, 'aged'],
    ] as const) {
      const ms = await timed(() => run(side));
      if (round >= 0) times.get(name)?.[which].push(ms);
      await after?.(side);
    }
  }
}
const slow: string[] = [];
for (const [name, { young: before, aged: after }] of times) {
  const [p95Young, p95Aged] = [percentile(before, 0.95), percentile(after, 0.95)];
  const ratio = p95Aged / p95Young;
  if (ratio > maxRatio) slow.push(name);
  const row = [percentile(before, 0.5), percentile(after, 0.5), p95Young, p95Aged].map((ms) => `${ms.toFixed(1)} ms`);
  printLine(`${name}: p50 ${row[0]} new, ${row[1]} aged; p95 ${row[2]} new, ${row[3]} aged; ratio ${ratio.toFixed(2)}`);
}

/** Removes the oldest month while sending one request after another. */
const transactions: number[] = [];
const { retentionStore: store } = aged.deps;
const measured = async <T>(run: () => Promise<T>): Promise<T> => {
  const begin = performance.now();
  return run().finally(() => transactions.push(performance.now() - begin));
};
const retentionStore: RetentionStore = {
  listExpiredJobs: (after) => measured(() => store.listExpiredJobs(after)),
  countFiles: (ids, limit) => measured(() => store.countFiles(ids, limit)),
  removeJobs: (ids) => measured(() => store.removeJobs(ids)),
  removeAuditEntries: (days, limit) => measured(() => store.removeAuditEntries(days, limit)),
  removePurgedGenerations: (days, limit) => measured(() => store.removePurgedGenerations(days, limit)),
  removeDeletedAudiences: (limit) => measured(() => store.removeDeletedAudiences(limit)),
  removeExpiredSessions: (limit) => measured(() => store.removeExpiredSessions(limit)),
  removeEndedCredentials: (days, limit) => measured(() => store.removeEndedCredentials(days, limit)),
};
const days = historyDays - monthDays;
const retention = { ...defaultRetention, jobDays: days, auditLogDays: days };
const countJobs = () =>
  withDatabase(aged.stores, async (client) => Number((await client.query('SELECT FROM job')).rowCount));
const jobsBefore = await countJobs();
const meanwhile = new Map(operations.map(({ name }) => [name, [] as number[]]));
const sweep = { isRunning: true };
const begin = performance.now();
const removing = removeExpiredRecords(
  { ...aged.deps, retentionStore, retention, log: silentLog },
  new AbortController().signal,
).finally(() => (sweep.isRunning = false));
while (sweep.isRunning) {
  for (const { name, run, after } of operations) {
    const ms = await timed(() => run(aged));
    meanwhile.get(name)?.push(ms);
    await after?.(aged);
  }
}
await removing;
const seconds = (performance.now() - begin) / 1000;
printLine(
  `one month: ${jobsBefore - (await countJobs())} jobs removed in ${seconds.toFixed(1)} s, ${transactions.length} transactions, ` +
    `p50 ${percentile(transactions, 0.5).toFixed(0)} ms, longest ${Math.max(...transactions).toFixed(0)} ms`,
);
for (const [name, list] of meanwhile) {
  printLine(
    `${name} meanwhile: p50 ${percentile(list, 0.5).toFixed(1)} ms, p95 ${percentile(list, 0.95).toFixed(1)} ms of ${list.length}`,
  );
}
await Promise.all([young.close(), aged.close()]);
printLine(slow.length === 0 ? `all ratios are at most ${maxRatio}` : `WRONG: over ${maxRatio}: ${slow.join(', ')}`);
process.exit(slow.length === 0 ? 0 : 1);
