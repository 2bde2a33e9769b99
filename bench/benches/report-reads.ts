import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { compositionSchema } from '../../src/adapters/http/routes/get-composition.ts';
import { insertAudience } from '../../test/support/audience-tables.ts';
import { startApi, stopProcess } from '../../test/support/running-service.ts';
import { withDatabase } from '../../test/support/stores.ts';
import { type Bench, median, secondsOf } from '../bench.ts';
import { unlimitedReports } from '../report-warehouse.ts';
import { scaled } from '../scale.ts';
import { type Running, withService } from '../service.ts';

const reports = 100;
const attributes = scaled(1_000);
const countries = 50;
const rounds = 5;
const monitor = new URL('../event-loop-monitor.ts', import.meta.url).href;
/** High enough that a round takes seconds and the event loop is measured hundreds of times. */
const readsPerReport = 20;

export const bench: Bench = {
  title: 'Read 100 stored reports of 1,000 attributes in 50 countries, ten at a time',
  compares:
    'Inlet: the median time of `GET …/composition?split=country&limit=100`. Yardstick: reading the published report from PostgreSQL with one statement.',
  goal: 'the event loop of the API is delayed by at most 20 ms (99th percentile)',
  run: async (printLine) =>
    withService(
      'one',
      async (running) => {
        const segments = await fill(running, printLine);
        const api = await startApi(
          { ...running.stores.environment, ...unlimitedReports, NODE_OPTIONS: `--import ${monitor}` },
          'bench-reads',
        );
        const monitored = { child: api.child, output: () => readFileSync(api.logFile, 'utf8') };
        const idle = startIdleProcess();
        const get = ({ segmentId }: Segment): Promise<void> => getReport(api.url, running.partner.apiKey, segmentId);
        await publish(running, segments, get);
        const pairs = [];
        const delays: number[] = [];
        const idleDelays: number[] = [];
        for (let round = 0; round < rounds; round += 1) {
          await Promise.all([delayOf(monitored), delayOf(idle)]);
          const inlet = await readAll(segments, get);
          delays.push(await delayOf(monitored));
          idleDelays.push(await delayOf(idle));
          printLine(`event loop delay: ${ms(delays.at(-1))}, of an idle process: ${ms(idleDelays.at(-1))}`);
          const yardstick = await readAll(segments, ({ audienceId }) => readRow(running, audienceId));
          pairs.push({ inlet, yardstick });
        }
        await stopProcess(api.child);
        idle.child.kill();
        const worst = Math.max(...delays);
        const notes = [
          `event loop delay, 99th percentile of the worst round: ${ms(worst)}. Of an idle Node.js process on the same machine at the same time: ${ms(Math.max(...idleDelays))}`,
        ];
        return { pairs, rows: reports * attributes * countries, notes, isReached: worst <= 0.02 };
      },
      unlimitedReports,
    ),
};

function ms(seconds = 0): string {
  return `${(1000 * seconds).toFixed(1)} ms`;
}

type Segment = { readonly audienceId: number; readonly segmentId: number };

/** Stores exact counts, so that the worker only has to protect them. */
async function fill({ stores, partner }: Running, printLine: (text: string) => void): Promise<Segment[]> {
  printLine(`storing ${reports} reports with ${attributes * countries} cells …`);
  const cells = Array.from({ length: attributes * countries }, (_, n) => [
    1 + Math.floor(n / countries),
    `c${n % countries}`,
    (n * 7_919) % 5_000,
    10_000,
    `s${n}`,
  ]);
  const report = JSON.stringify({ members: 'm', matched: 50_000, known: 1_000_000, cells });
  const segments: Segment[] = [];
  for (let n = 0; n < reports; n += 1) {
    const segment = await insertAudience(stores, partner.id, `bench ${n}`);
    segments.push(segment);
    await withDatabase(stores, (client) =>
      client.query(
        `INSERT INTO composition (audience_id, split, generation, last_load_id, report) VALUES ($1, 'country', 0, 1, $2)`,
        [segment.audienceId, report],
      ),
    );
  }
  return segments;
}

/** Lets the worker publish only one report and copies it, because publishing takes seconds. */
async function publish(
  { stores }: Running,
  segments: readonly Segment[],
  get: (segment: Segment) => Promise<void>,
): Promise<void> {
  const [first] = segments;
  if (!first) return;
  await get(first);
  await withDatabase(stores, (client) =>
    client.query(
      `UPDATE composition SET published = one.published, published_with = one.published_with
       FROM (SELECT published, published_with FROM composition WHERE audience_id = $1) AS one`,
      [first.audienceId],
    ),
  );
  for (const segment of segments) await get(segment);
}

async function readAll(segments: readonly Segment[], read: (segment: Segment) => Promise<void>): Promise<number> {
  const times: number[] = [];
  const waiting = Array.from({ length: readsPerReport }, () => segments).flat();
  const next = async (): Promise<void> => {
    for (let one = waiting.pop(); one; one = waiting.pop()) {
      const segment = one;
      times.push(await secondsOf(() => read(segment)));
    }
  };
  await Promise.all(Array.from({ length: 10 }, next));
  return median(times);
}

async function getReport(address: string, apiKey: string, segmentId: number): Promise<void> {
  const url = `${address}/v2/firstparty/segments/${segmentId}/composition?split=country&limit=100`;
  for (;;) {
    const response = await fetch(url, { headers: { authorization: `Bearer ${apiKey}` } });
    if (response.status === 503) continue;
    const { attributes: entries } = compositionSchema.parse(await response.json());
    if (entries.length !== 100) throw new Error(`${entries.length} entries`);
    return;
  }
}

async function readRow({ stores }: Running, audienceId: number): Promise<void> {
  await withDatabase(stores, (client) =>
    client.query(`SELECT published, computed_at FROM composition WHERE audience_id = $1 AND split = 'country'`, [
      audienceId,
    ]),
  );
}

/** Starts a process that does nothing. Its event loop delay is the time for which it waits for a CPU core. */
function startIdleProcess(): Monitored {
  const child = spawn(process.execPath, ['--import', monitor, '-e', 'setInterval(() => {}, 1000)']);
  let output = '';
  child.stdout.on('data', (data: Buffer) => {
    output += data.toString();
  });
  return { child, output: () => output };
}

type Monitored = { readonly child: ChildProcess; readonly output: () => string };

/** The 99th percentile of the delay since the last call, in seconds. */
async function delayOf({ child, output }: Monitored): Promise<number> {
  const before = output().length;
  child.kill('SIGUSR2');
  for (;;) {
    await pause(20);
    const found = /^event loop delay: (\S+)$/m.exec(output().slice(before));
    if (found) return Number(found[1]);
  }
}
