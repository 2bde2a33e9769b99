import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Pool } from 'pg';
import { parse } from 'yaml';
import { z } from 'zod';
import { readAddresses } from '../../stack/addresses.ts';
import { noLimits } from '../support/environment.ts';
import { setup } from '../support/global-setup.ts';
import { runOperator } from '../support/run-operator.ts';
import { type ServiceProcess, startApi, startWorker } from '../support/running-service.ts';
import { createStores } from '../support/stores.ts';
import { wireUp } from '../support/wired.ts';
import { type Sample, newNeighbors } from './neighbors.ts';
import {
  type Noise,
  deletes,
  hangingStorage,
  largeFiles,
  startHangingStorage,
  tinyJobs,
  unreadResponses,
} from './noise.ts';
import { printLine } from './print-line.ts';
import { type SampledProcess, sampleProcesses, sampleTokens, selectTokenTimes } from './resource-samples.ts';

// Measures how much a few partners can slow down the others. Many partners import one small file a minute, first alone and
// then alongside partners that use as much of the service as its limits allow.

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '20' },
    'idle-minutes': { type: 'string', default: '3' },
    partners: { type: 'string', default: '50' },
    workers: { type: 'string', default: '2' },
    files: { type: 'string', default: '40' },
    rows: { type: 'string', default: '5000000' },
    jobs: { type: 'string', default: '10000' },
    deletes: { type: 'string', default: '500' },
    seed: { type: 'string', default: '19' },
    only: { type: 'string' },
  },
});
const numberOf = (name: Exclude<keyof typeof values, 'only'>): number => {
  const number = Number(values[name]);
  if (number > 0) return number;
  throw new Error(
    'Usage: npm run noisy-neighbor -- [--minutes 20] [--idle-minutes 3] [--partners 50] [--workers 2] [--files 40] [--rows 5000000] [--jobs 10000] [--deletes 500] [--seed 19] [--only "tiny jobs,deletes"]',
  );
};
const minutes = numberOf('minutes');
const idleMinutes = numberOf('idle-minutes');
const maxRatio = 3;
const mebibyte = 2 ** 20;

const limitsSchema = z.object({
  api: z.object({ resources: z.object({ limits: z.object({ memory: z.literal('512Mi') }) }) }),
  worker: z.object({ resources: z.object({ limits: z.object({ memory: z.literal('1Gi') }) }) }),
});
limitsSchema.parse(parse(readFileSync('deploy/helm/inlet/values.yaml', 'utf8')));
const memoryLimits = { api: 512 * mebibyte, worker: 1024 * mebibyte, clickhouse: 6 * 1024 * mebibyte };

function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
type Times = {
  readonly imports: number;
  readonly p50: number;
  readonly p95: number;
  readonly max: number;
  readonly failed: number;
};
function timesOf(samples: readonly Sample[]): Times {
  const sorted = samples.map(({ ms }) => ms).toSorted((a, b) => a - b);
  return {
    imports: sorted.length,
    p50: percentile(sorted, 0.5),
    p95: percentile(sorted, 0.95),
    max: sorted.at(-1) ?? Number.NaN,
    failed: samples.filter(({ failure }) => failure !== null).length,
  };
}
const row = (name: string, { imports, p50, p95, max, failed }: Times): string =>
  `${name.padEnd(28)} ${[imports, p50, p95, max, failed].map((value) => String(value).padStart(8)).join('')}`;
const header = `${''.padEnd(28)} ${['imports', 'p50 ms', 'p95 ms', 'max ms', 'failed'].map((name) => name.padStart(8)).join('')}`;

await setup();
const stores = await createStores('two');
const deps = await wireUp(stores);
const storage = await startHangingStorage();
const limited = Object.fromEntries(Object.entries(stores.environment).filter(([name]) => !(name in noLimits)));
const environment = {
  ...limited,
  INLET_LOG_LEVEL: 'info',
  INLET_PARTNER_S3_ENDPOINT: `http://127.0.0.1:${storage.port}`,
};
const api = await startApi(environment, 'noisy-neighbor');
const workers: ServiceProcess[] = [];
for (let n = 0; n < numberOf('workers'); n++) workers.push(await startWorker(environment, 'noisy-neighbor'));
printLine(`database ${stores.database}, logs ${[api, ...workers].map(({ logFile }) => logFile).join(' ')}`);

const client = new Pool({ connectionString: stores.config.INLET_POSTGRES_URL.reveal(), max: 3 });
const isMet = await (async () => {
  const context = { deps, stores, url: api.url, client };
  const all: Readonly<Record<string, () => Promise<Noise>>> = {
    'large files': () => largeFiles(context, { files: numberOf('files'), rowsOfFile: numberOf('rows') }),
    'tiny jobs': () => tinyJobs(context, numberOf('jobs')),
    deletes: () => deletes(context, numberOf('deletes')),
    'hanging list': () => hangingStorage(context, 'list', storage),
    'hanging files': () => hangingStorage(context, 'files', storage),
    'unread responses': () => unreadResponses(context),
  };
  const noises: Noise[] = [];
  const chosen = values.only?.split(',') ?? Object.keys(all);
  for (const [name, create] of Object.entries(all)) if (chosen.includes(name)) noises.push(await create());
  const bucket = stores.config.INLET_S3_BUCKET;
  const neighbors = await newNeighbors(deps, {
    url: api.url,
    bucket,
    count: numberOf('partners'),
    seed: numberOf('seed'),
  });
  const names = new Map(noises.map(({ partnerId, name }) => [partnerId, name]));
  const tokens = sampleTokens(client, (partnerId) => names.get(partnerId) ?? 'neighbors');
  const sampled: SampledProcess[] = [
    { name: 'api', pid: api.child.pid ?? 0, limitBytes: memoryLimits.api },
    ...workers.map(({ child }, n) => ({
      name: `worker ${n + 1}`,
      pid: child.pid ?? 0,
      limitBytes: memoryLimits.worker,
    })),
    ...readAddresses().clickhouse.shards.map(({ pid }, n) => ({
      name: `clickhouse ${n + 1}`,
      pid,
      limitBytes: memoryLimits.clickhouse,
    })),
  ];
  const processes = sampleProcesses(sampled);
  const sampling = new AbortController();
  const sampleEverySecond = (async () => {
    while (!sampling.signal.aborted) {
      processes.sample();
      await tokens.sample();
      await pause(1_000);
    }
  })();

  /** Measures the neighbors and prints a line per minute. */
  const measure = async (label: string, length: number): Promise<{ readonly from: number; readonly to: number }> => {
    const from = Date.now();
    let minute = 0;
    const printMinute = async (): Promise<void> => {
      minute += 1;
      const since = Date.now() - 60_000;
      printLine(row(`${label}, minute ${minute}`, timesOf(neighbors.samples.filter(({ at, ms }) => at + ms >= since))));
      const cpu = [...processes.takeCpu()].map(([name, seconds]) => `${name} ${seconds.toFixed(0)} s`);
      printLine(`  CPU: ${cpu.join(', ')}`);
      for (const line of tokens.take()) printLine(`  ${line}`);
      for (const noise of noises) printLine(`  ${noise.name}: ${await noise.describe()}`);
    };
    const progress = setInterval(() => void printMinute(), 60_000);
    await neighbors.importUntil(from + length * 60_000);
    clearInterval(progress);
    return { from, to: Date.now() };
  };

  printLine(header);
  processes.takeCpu();
  const idle = await measure('idle', idleMinutes);
  const idleSamples = [...neighbors.samples];
  const stop = new AbortController();
  const ends = new Map<string, number>();
  const errors: string[] = [];
  const running = noises.map(async ({ name, run }) => {
    await run(stop.signal).catch((error: unknown) => errors.push(`${name}: ${String(error)}`));
    if (!stop.signal.aborted) printLine(`${name} has ended`);
    ends.set(name, Date.now());
  });
  const noisy = await measure('noisy', minutes);
  stop.abort();
  await Promise.all(running);
  sampling.abort();
  await sampleEverySecond;

  const noisySamples = neighbors.samples.slice(idleSamples.length);
  const before = timesOf(idleSamples);
  const after = timesOf(noisySamples);
  printLine(header);
  printLine(row('idle', before));
  printLine(row('noisy', after));
  const endOf = (name: string): number => Math.min(ends.get(name) ?? noisy.to, noisy.to);
  const beside = (end: number): Sample[] => noisySamples.filter(({ at }) => at <= end);
  printLine(row('alongside all of them', timesOf(beside(Math.min(...noises.map(({ name }) => endOf(name)))))));
  for (const { name } of noises) printLine(row(`beside ${name}`, timesOf(beside(endOf(name)))));
  for (const [label, period] of Object.entries({ idle, noisy }))
    for (const { queue, waited, held, tokens: count } of await selectTokenTimes(client, neighbors.ids, period))
      printLine(`${label}: p95 of ${count} ${queue} tokens of the neighbors: waited ${waited} ms, held ${held} ms`);
  for (const noise of noises)
    printLine(
      `${noise.name}: ${await noise.describe()}, ended after ${Math.round((endOf(noise.name) - noisy.from) / 1000)} s`,
    );
  const tooLarge: string[] = [];
  for (const { name, limitBytes } of sampled) {
    const most = processes.most.get(name) ?? 0;
    printLine(`${name}: at most ${Math.round(most / mebibyte)} of ${limitBytes / mebibyte} MiB`);
    if (most > limitBytes) tooLarge.push(`${name} used more memory than its limit`);
  }
  const ratio = after.p95 / before.p95;
  printLine(`p95 ratio ${ratio.toFixed(2)} (goal: at most ${maxRatio})`);
  const exited = [api, ...workers].filter(({ child }) => child.exitCode !== null || child.signalCode !== null);
  const wrong = [
    ...errors,
    ...tooLarge,
    ...exited.map(({ logFile }) => `a process exited: see ${logFile}`),
    ...neighbors.samples.flatMap(({ failure }) => failure ?? []).slice(0, 20),
    ...(ratio <= maxRatio ? [] : ['the neighbors were slower than the goal']),
  ];
  for (const { child } of workers) child.kill('SIGKILL');
  const { code, out, err } = await runOperator(stores.environment, ['audit']);
  printLine(`inlet audit: ${(out + err).trim()}`);
  if (code !== 0) wrong.push('inlet audit found differences');
  for (const line of wrong) printLine(`WRONG: ${line}`);
  return wrong.length === 0;
})();
await client.end();
api.child.kill('SIGKILL');
storage.close();
await deps.close();
await stores.drop();
process.exit(isMet ? 0 : 1);
