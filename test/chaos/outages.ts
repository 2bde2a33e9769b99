import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { apiClient } from '../acceptance/api-client.ts';
import { type ServerName, signalServer, startServers } from '../fault/real-servers.ts';
import { startTestCluster } from '../fault/test-cluster.ts';
import { setup } from '../support/global-setup.ts';
import { waitUntil } from '../support/wait-until.ts';
import { newBarePartner } from '../support/wired.ts';
import { auditWhenIdle } from './audit-when-idle.ts';
import { say } from './print-line.ts';
import { sendRequestsWhile, count, newChaosPartners } from './send-requests.ts';

// Each server is away for a minute, one after the other, while partners ask for more and more. Somebody reads a record and asks
// for an import all the while, and counts the answers.

const usage = 'npm run outages -- [--seconds 60] [--partners 50] [--workers 2] [--seed N]';
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
// Nothing is there: it ends with status 3, and each of them is ordinary work for the lane.
const wish = { file_path: 'nothing/', key_type: 0, compressed: false };
const watched = await watching.queue(wish);
const wrong: string[] = [];

/** Reads and writes until told to end; what was answered, and how slowly. */
async function watch(shall: () => boolean, canRead: boolean): Promise<Record<string, number>> {
  const answers: Record<string, number> = {};
  let slowest = 0;
  const note = async (what: string, asking: Promise<Response>, isExpected: (status: number) => boolean) => {
    const start = performance.now();
    const answer = await asking;
    slowest = Math.max(slowest, performance.now() - start);
    const isRefused = answer.status === 503;
    const retryAfter = answer.headers.get('retry-after');
    const key = `${what} ${answer.status}${isRefused && retryAfter !== null ? ' with Retry-After' : ''}`;
    answers[key] = (answers[key] ?? 0) + 1;
    if (!isExpected(answer.status) || (isRefused && retryAfter === null)) wrong.push(`${key}: ${await answer.text()}`);
    else await answer.text();
  };
  while (shall()) {
    const read = watching.request(`/v1/marketplace/import/${watched}`);
    await note('read', read, (status) => (canRead ? status === 200 : status === 200 || status === 503));
    const write = watching.request('/v1/marketplace/import', { method: 'POST', body: JSON.stringify(wish) });
    await note('write', write, (status) => status === 202 || status === 503);
    await pause(500);
  }
  return { ...answers, slowestMs: Math.round(slowest) };
}

let isOver = false;
const asking = sendRequestsWhile(cluster, partners, seed, () => !isOver);
const ended = 'SELECT count(*) FROM job WHERE status >= 2';
await pause(10_000); // under load
for (const { of, servers, canRead } of outages) {
  say(`${of} is killed, for ${seconds} s`);
  for (const server of servers) signalServer(server, 'SIGKILL');
  const back = Date.now() + seconds * 1000;
  const answers = await watch(() => Date.now() < back, canRead);
  await startServers();
  const start = Date.now();
  const before = await count(cluster, ended);
  await waitUntil('jobs end again', async () => (await count(cluster, ended)) > before, 120, 100);
  say(
    `${of} is back; the next job ended ${((Date.now() - start) / 1000).toFixed(1)} s later. ${JSON.stringify(answers)}`,
  );
  await pause(15_000); // work between the outages
}
isOver = true;
await asking;
wrong.push(...(await auditWhenIdle(cluster, partners)));
for (const line of wrong.slice(0, 30)) say(`WRONG: ${line}`);
const jobs = await count(cluster, 'SELECT count(*) FROM job');
say(JSON.stringify({ seconds, partners: partnerCount, workers, jobs, wrong: wrong.length }));
if (wrong.length === 0) await cluster.stop();
process.exit(wrong.length === 0 ? 0 : 1);
