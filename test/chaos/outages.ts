import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { apiClient } from '../acceptance/api-client.ts';
import { type ServerName, signalServer, startServers } from '../fault/real-servers.ts';
import { startTestCluster } from '../fault/test-cluster.ts';
import { setup } from '../support/global-setup.ts';
import { waitUntil } from '../support/wait-until.ts';
import { newBarePartner } from '../support/wired.ts';
import { auditWhenIdle } from './audit-when-idle.ts';
import { printLine } from './print-line.ts';
import { sendRequestsWhile, count, newChaosPartners } from './send-requests.ts';

// Takes each dependency down for a minute, one after another, while partners submit requests. An additional client
// reads a record and submits an import in a loop, and counts the responses.

const usage = 'Usage: npm run outages -- [--seconds 60] [--partners 50] [--workers 2] [--seed N]';
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    partners: { type: 'string', default: '50' },
    workers: { type: 'string', default: '2' },
    seed: { type: 'string', default: '1' },
  },
});
const [seconds, partnerCount, workers, seed] = [values.seconds, values.partners, values.workers, values.seed].map(
  Number,
);
if (!seconds || !partnerCount || !workers || !seed) throw new Error(usage);

type Outage = { readonly of: string; readonly servers: readonly ServerName[]; readonly canRead: boolean };
const outages: readonly Outage[] = [
  { of: 'PostgreSQL', servers: ['PostgreSQL'], canRead: false },
  { of: 'ClickHouse', servers: ['shard 1', 'shard 2'], canRead: true },
  { of: 'S3', servers: ['S3 gateway'], canRead: true },
];

await setup();
const cluster = await startTestCluster('outages', { topology: 'two', workers });
const partners = await newChaosPartners(cluster, seed, partnerCount);
const watching = apiClient(cluster.url, (await newBarePartner(cluster.deps)).apiKey);
// The path matches no file, so the job ends with status 3. To the lane, it is an ordinary job.
const importBody = { file_path: 'nothing/', key_type: 0, compressed: false };
const watched = await watching.queue(importBody);
const wrong: string[] = [];

/**
 * Reads and writes while the condition is true. Returns the number of responses by kind and the slowest response time.
 */
async function watch(shouldContinue: () => boolean, canRead: boolean): Promise<Record<string, number>> {
  const answers: Record<string, number> = {};
  let slowest = 0;
  const note = async (what: string, request: Promise<Response>, isExpected: (status: number) => boolean) => {
    const start = performance.now();
    const answer = await request;
    slowest = Math.max(slowest, performance.now() - start);
    const isUnavailable = answer.status === 503;
    const retryAfter = answer.headers.get('retry-after');
    const key = `${what} ${answer.status}${isUnavailable && retryAfter !== null ? ' with Retry-After' : ''}`;
    answers[key] = (answers[key] ?? 0) + 1;
    if (!isExpected(answer.status) || (isUnavailable && retryAfter === null))
      wrong.push(`${key}: ${await answer.text()}`);
    else await answer.text();
  };
  while (shouldContinue()) {
    const read = watching.request(`/v1/marketplace/import/${watched}`);
    await note('read', read, (status) => (canRead ? status === 200 : status === 200 || status === 503));
    const write = watching.request('/v1/marketplace/import', { method: 'POST', body: JSON.stringify(importBody) });
    await note('write', write, (status) => status === 202 || status === 503);
    await pause(500);
  }
  return { ...answers, slowestMs: Math.round(slowest) };
}

let isOver = false;
const submitting = sendRequestsWhile(cluster, partners, seed, () => !isOver);
const ended = 'SELECT count(*) FROM job WHERE status >= 2';
await pause(10_000); // Runs under load before the outage.
for (const { of, servers, canRead } of outages) {
  printLine(`killing ${of} for ${seconds} s`);
  for (const server of servers) signalServer(server, 'SIGKILL');
  const back = Date.now() + seconds * 1000;
  const answers = await watch(() => Date.now() < back, canRead);
  await startServers();
  const start = Date.now();
  const before = await count(cluster, ended);
  await waitUntil('jobs finish again', async () => (await count(cluster, ended)) > before, 120, 100);
  printLine(
    `${of} is available again; the next job finished ${((Date.now() - start) / 1000).toFixed(1)} s later. ${JSON.stringify(answers)}`,
  );
  await pause(15_000); // Runs normally between outages.
}
isOver = true;
await submitting;
wrong.push(...(await auditWhenIdle(cluster, partners)));
for (const line of wrong.slice(0, 30)) printLine(`WRONG: ${line}`);
const jobs = await count(cluster, 'SELECT count(*) FROM job');
printLine(JSON.stringify({ seconds, partners: partnerCount, workers, jobs, wrong: wrong.length }));
if (wrong.length === 0) await cluster.stop();
process.exit(wrong.length === 0 ? 0 : 1);
