import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { compositionSchema } from '../../src/adapters/http/routes/get-composition.ts';
import { insertAudience } from '../../test/support/audience-tables.ts';
import { metricsOf } from '../../test/support/metrics.ts';
import { type ServiceProcess, startApi, stopProcess } from '../../test/support/running-service.ts';
import { withDatabase } from '../../test/support/stores.ts';
import { type Bench, median, secondsOf } from '../bench.ts';
import { unlimitedReports } from '../report-warehouse.ts';
import { scaled } from '../scale.ts';
import { type Running, withService } from '../service.ts';

const reports = 100;
const attributes = scaled(1_000);
const countries = 50;
const rounds = 5;
/** A round takes seconds, so that the event loop is measured hundreds of times. */
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
          { ...running.stores.environment, ...unlimitedReports, INLET_METRICS_PORT: '0' },
          'bench-reads',
        );
        const get = ({ segmentId }: Segment): Promise<void> => getReport(api.url, running.partner.apiKey, segmentId);
        await publish(running, segments, get);
        await delayOfEventLoop(api);
        const pairs = [];
        const delays: number[] = [];
        const idleDelays: number[] = [];
        for (let round = 0; round < rounds; round += 1) {
          const stopIdle = startIdleProcess();
          const inlet = await readAll(segments, get);
          delays.push(await delayOfEventLoop(api));
          idleDelays.push(await stopIdle());
          printLine(`event loop delay: ${ms(delays.at(-1))}, of an idle process: ${ms(idleDelays.at(-1))}`);
          const yardstick = await readAll(segments, ({ audienceId }) => readRow(running, audienceId));
          pairs.push({ inlet, yardstick });
        }
        await stopProcess(api.child);
        const worst = Math.max(...delays);
        const notes = [
          `event loop delay, 99th percentile of the worst round: ${ms(worst)}. Of an idle Node.js process on the same machine at the same time: ${ms(Math.max(...idleDelays))}`,
          'Both include the sampling interval of 10 ms',
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

/** Lets the worker publish one report, which takes seconds, and copies it. */
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

/** Measures how long a process that does nothing waits for a CPU core. Returns a function that stops it. */
function startIdleProcess(): () => Promise<number> {
  const code = `
    const delay = require('node:perf_hooks').monitorEventLoopDelay({ resolution: 10 });
    delay.enable();
    process.stdin.on('end', () => console.log(delay.percentile(99) / 1e9)).resume();`;
  const child = spawn(process.execPath, ['-e', code], { stdio: ['pipe', 'pipe', 'inherit'] });
  return async () => {
    child.stdin.end();
    return Number(await text(child.stdout));
  };
}

/** The delay since the last call. */
async function delayOfEventLoop(api: ServiceProcess): Promise<number> {
  const found = /^nodejs_eventloop_lag_p99_seconds (\S+)$/m.exec(await metricsOf(api));
  return Number(found?.[1]);
}
