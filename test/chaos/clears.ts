import { parseArgs } from 'node:util';
import { setup } from '../support/global-setup.ts';
import { startWorker, stopProcess } from '../support/running-service.ts';
import { createStores } from '../support/stores.ts';
import { wireUp } from '../support/wired.ts';
import { clearAndReload } from './clear-and-reload.ts';
import { printLine } from './print-line.ts';

// Clears and reloads audiences as fast as possible while one worker purges, and prints the number of dead rows over
// time. Exits with code 1 if the number of dead rows grows without bound.

const { values } = parseArgs({
  options: {
    clears: { type: 'string', default: '50000' },
    audiences: { type: 'string', default: '1000' },
    partners: { type: 'string', default: '50' },
    rows: { type: 'string', default: '100' },
  },
});
const [clears, audiences, partners, rows] = [values.clears, values.audiences, values.partners, values.rows].map(Number);
if (!clears || !audiences || !partners || !rows)
  throw new Error('Usage: npm run clears -- [--clears] [--audiences] [--partners] [--rows]');
const drainSeconds = 300;

await setup();
const stores = await createStores('two');
const deps = await wireUp(stores);
const worker = await startWorker({ ...stores.environment, INLET_PURGE_SECONDS: '1' }, 'clears');
const { samples, clearSeconds, ...result } = await clearAndReload(stores, deps, {
  clears,
  audiences,
  partners,
  rows,
  drainSeconds,
  sampleSeconds: 10,
  onSample: (sample) => printLine(JSON.stringify(sample)),
});
const during = samples.filter((sample) => sample.clears < clears);
const peakOf = (some: typeof samples): number => Math.max(0, ...some.map(({ deadRows }) => deadRows));
const third = Math.ceil(during.length / 3);
const [middle, last] = [peakOf(during.slice(third, 2 * third)), peakOf(during.slice(2 * third))];
const seconds = clearSeconds + result.drainSeconds;
// An unbounded backlog is larger in the last third of the run than in the middle third.
const isBounded = Number.isFinite(seconds) && last <= middle * 1.5 + audiences * rows;
printLine(
  JSON.stringify({
    clears,
    audiences,
    partners,
    rows,
    clearSeconds: Math.round(clearSeconds),
    drainSeconds: Math.round(result.drainSeconds),
    peakDeadRows: peakOf(samples),
    peakMiddleThird: middle,
    peakLastThird: last,
    purgedGenerations: result.purgedGenerations,
    purgesPerDay: Math.round((result.purgedGenerations / seconds) * 86_400),
    mutations: samples.at(-1)?.mutations,
    maxParts: Math.max(...samples.map(({ parts }) => parts)),
    isBounded,
  }),
);
await stopProcess(worker.child);
await deps.close();
await stores.drop();
process.exit(isBounded ? 0 : 1);
