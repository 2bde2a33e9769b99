import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startTestCluster } from '../fault/test-cluster.ts';
import { setup } from '../support/global-setup.ts';
import { auditWhenIdle } from './audit-when-idle.ts';
import { pickerOf } from './chaos-partner.ts';
import { type Fault, type Faults, faultsOf } from './faults.ts';
import { say } from './print-line.ts';
import { filesOf } from './record.ts';
import { sendRequestsWhile, count, newChaosPartners } from './send-requests.ts';

// Random requests of many partners, and random faults, for as long as it is told; then all is left in peace, and the auditor
// looks. The same seed chooses the same things; what happens between them is up to the machine.

const usage = 'npm run chaos -- [--minutes 30] [--seed N] [--partners 200] [--workers 4]';
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    partners: { type: 'string', default: '200' },
    workers: { type: 'string', default: '4' },
  },
});
const minutes = Number(values.minutes);
const seed = Number(values.seed);
const partnerCount = Number(values.partners);
const workerCount = Number(values.workers);
if (!(minutes > 0 && partnerCount > 0 && workerCount > 0 && Number.isSafeInteger(seed))) throw new Error(usage);

async function spoil({ list }: Faults, end: number): Promise<Map<Fault, number>> {
  const pick = pickerOf(seed + 2);
  const happened = new Map<Fault, number>();
  const total = list.reduce((sum, { weight }) => sum + weight, 0);
  while (Date.now() < end) {
    let at = pick(total);
    const fault = list.find(({ weight }) => (at -= weight) < 0);
    if (!fault) continue;
    await fault.happen();
    happened.set(fault, (happened.get(fault) ?? 0) + 1);
    await pause(1_000 + pick(10_000));
  }
  return happened;
}

await setup();
const start = Date.now();
const settings = {
  INLET_WORKER_LANES: '4',
  INLET_WORKER_FILES: '4',
  INLET_ROOM_BYTES: '600',
  INLET_PURGE_SECONDS: '5',
};
const cluster = await startTestCluster('chaos', { topology: 'two', workers: workerCount, settings });
await cluster.addApi();
const partners = await newChaosPartners(cluster, seed, partnerCount);
say(
  `seed ${seed}, ${minutes} minutes, ${partnerCount} partners, ${workerCount} workers, logs of ${cluster.stores.database}`,
);
const faults = faultsOf(cluster, pickerOf(seed));
const end = Date.now() + minutes * 60_000;
const progress = setInterval(() => {
  const requests = partners.flatMap(({ record }) => record.requests);
  say(`${requests.length} requests, ${requests.filter(({ answer }) => answer === null).length} without an answer`);
}, 60_000);
const [happened] = await Promise.all([
  spoil(faults, end),
  sendRequestsWhile(cluster, partners, seed, () => Date.now() < end),
]);
clearInterval(progress);
await faults.allAreBack();
say('left in peace');
const quiet = Date.now();
const wrong = [...(await auditWhenIdle(cluster, partners)), ...faults.unexpected];
const requests = partners.flatMap(({ record }) => record.requests);
const jobs = await count(cluster, 'SELECT count(*) FROM job');
const kills = [...happened].reduce((sum, [{ kills: each }, times]) => sum + each * times, 0);
for (const [{ name }, times] of [...happened].toSorted((a, b) => b[1] - a[1]))
  say(`${String(times).padStart(5)}  ${name}`);
for (const line of wrong.slice(0, 50)) say(`WRONG: ${line}`);
say(
  JSON.stringify({
    seed,
    minutes: Math.round((Date.now() - start) / 6_000) / 10,
    kills,
    faults: [...happened.values()].reduce((sum, times) => sum + times, 0),
    partners: partners.filter(({ record }) => record.requests.length > 0).length,
    requests: requests.length,
    unanswered: requests.filter(({ answer }) => answer === null).length,
    jobs,
    files: requests.reduce((sum, request) => sum + filesOf(request), 0),
    quietAfterSeconds: Math.round((Date.now() - quiet) / 1000),
    wrong: wrong.length,
  }),
);
if (wrong.length === 0) await cluster.stop();
process.exit(wrong.length === 0 ? 0 : 1);
