import { parseArgs } from 'node:util';
import type { FaultPartner } from '../fault/fault-partner.ts';
import { submitAFew } from '../fault/submit-one-of-each.ts';
import { startTestCluster } from '../fault/test-cluster.ts';
import { setup } from '../support/global-setup.ts';
import { withDatabase, withServer } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';
import { printLine } from './print-line.ts';
import { runConcurrently } from './run-concurrently.ts';

// Runs many worker processes and many lanes with tiny files. Checks that every job runs exactly once, and measures the
// load on PostgreSQL.

const { values } = parseArgs({
  options: {
    workers: { type: 'string', default: '50' },
    lanes: { type: 'string', default: '500' },
    rounds: { type: 'string', default: '1' },
  },
});
const [workers, lanes, rounds] = [values.workers, values.lanes, values.rounds].map(Number);
if (!workers || !lanes || !rounds) throw new Error('Usage: npm run many-workers -- [--workers] [--lanes] [--rounds]');

await setup();
const settings = {
  INLET_POSTGRES_CONNECTIONS: '2',
  INLET_WORKER_LANES: String(Math.ceil(lanes / workers)),
  INLET_WORKER_FILES: '2',
};
const cluster = await startTestCluster('many-workers', { topology: 'one', workers: 0 });
const partners: FaultPartner[] = [];
for (let n = 0; n < lanes; n++) partners.push(await cluster.newPartner());
await runConcurrently(
  Array.from({ length: workers }, (_, n) => n),
  4,
  // Bypasses the proxies, which run in this process and would be the bottleneck for 50 workers.
  () => cluster.addWorker({ ...cluster.stores.environment, ...settings }),
);
printLine(`${workers} workers have started`);
// Suspends the workers until all jobs are queued. Otherwise, the first workers would finish before the last one starts.
const toAll = (signal: NodeJS.Signals): void => cluster.workers.forEach(({ child }) => child.kill(signal));
toAll('SIGSTOP');
await runConcurrently(partners, 16, async (partner) => {
  for (let round = 0; round < rounds; round++) await submitAFew(partner, round);
});
const jobs = partners.flatMap(({ submitted }) => submitted).length;
printLine(`queued ${jobs} jobs for ${lanes} partners`);

const start = Date.now();
const most = { connections: 0, lanes: 0, running: 0 };
const transactions = (): Promise<number> =>
  withServer(async (client) => {
    const { rows } = await client.query<{ done: string }>(
      'SELECT xact_commit + xact_rollback AS done FROM pg_stat_database WHERE datname = $1',
      [cluster.stores.database],
    );
    return Number(rows[0]?.done);
  });
const before = await transactions();
toAll('SIGCONT');
await waitUntil(
  'no job is open',
  () =>
    withDatabase(cluster.stores, async (client) => {
      const { rows } = await client.query<{ connections: number; lanes: number; running: number; open: number }>(
        `SELECT (SELECT count(*)::int FROM pg_stat_activity WHERE datname = current_database()) AS connections,
           (SELECT count(*)::int FROM pgboss.job WHERE name = 'lane' AND state = 'active') AS lanes,
           (SELECT count(*)::int FROM job WHERE status = 1) AS running,
           (SELECT count(*)::int FROM job WHERE status < 2) AS open`,
      );
      most.connections = Math.max(most.connections, rows[0]?.connections ?? 0);
      most.lanes = Math.max(most.lanes, rows[0]?.lanes ?? 0);
      most.running = Math.max(most.running, rows[0]?.running ?? 0);
      return rows[0]?.open === 0;
    }),
  3_600,
  250,
);
const seconds = (Date.now() - start) / 1000;
const transactionsPerSecond = Math.round(((await transactions()) - before) / seconds);
const wrong = await cluster.auditAtEnd(partners, 300);
for (const line of wrong.slice(0, 20)) printLine(`WRONG: ${line}`);
printLine(
  JSON.stringify({
    workers,
    partners: lanes,
    jobs,
    seconds,
    jobsPerSecond: Math.round(jobs / seconds),
    transactionsPerSecond,
    maxConnections: most.connections,
    maxTokensHeld: most.lanes,
    maxLanesWithRunningJob: most.running,
    wrong: wrong.length,
  }),
);
await cluster.stop();
process.exit(wrong.length === 0 ? 0 : 1);
