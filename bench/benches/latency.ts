import type { AudienceClient } from '../../test/acceptance/audience-client.ts';
import { alternate, median, type Bench, type Series } from '../bench.ts';
import { secondsToLoad } from '../load.ts';
import { otherPartners } from '../other-partners.ts';
import { withService, type Running } from '../service.ts';
import { prepareTenMillion, tenMillion } from '../ten-million.ts';
import { deleteMembers } from '../warehouse.ts';

const path = 'members.csv.gz';
const partnerCount = 5;
const audiencesOfRound = 10;
const rows = 1000;

export const bench: Bench = {
  title: 'Load a small audience while another partner loads 10 million rows, compared with an idle system',
  compares:
    'Both sides measure Inlet, from the POST request for an audience of 1,000 rows until status 2. Five partners create ten audiences one after the other, and the result is the median. When the large load completes, it starts again.',
  run: async (printLine) =>
    withService('one', async (running) => {
      printLine('creating the partners, the known devices and the files …');
      await prepareTenMillion(running, path);
      const clients = await otherPartners(running, partnerCount, 'small.csv', rows);
      const all = { underLoad: new Array<number>(), idle: new Array<number>() };
      const pairs = await alternate(5, printLine, {
        inlet: async (round) => {
          await deleteMembers(running);
          const latencies = await whileLoading(running, () => createSmall(clients));
          if (round > 0) all.underLoad.push(...latencies);
          return median(latencies);
        },
        yardstick: async (round) => {
          await deleteMembers(running);
          const latencies = await createSmall(clients);
          if (round > 0) all.idle.push(...latencies);
          return median(latencies);
        },
      });
      const notes = [`under load: ${figuresOf(all.underLoad)}`, `idle: ${figuresOf(all.idle)}`];
      return { pairs, rows, notes, series: [sorted('idle', all.idle), sorted('under load', all.underLoad)] };
    }),
};

async function createSmall(clients: readonly AudienceClient[]): Promise<number[]> {
  const latencies: number[] = [];
  for (let n = 0; n < audiencesOfRound; n++) {
    const client = clients[n % clients.length];
    if (client) latencies.push(await secondsToLoad(client, 'small.csv', { unique: rows }));
  }
  return latencies;
}

async function whileLoading<T>({ audiences }: Running, run: () => Promise<T>): Promise<T> {
  const over = new AbortController();
  const loading = async (): Promise<void> => {
    while (!over.signal.aborted) await secondsToLoad(audiences, path, tenMillion);
  };
  const measuring = run().finally(() => over.abort());
  const [result] = await Promise.all([measuring, loading()]);
  return result;
}

function figuresOf(latencies: readonly number[]): string {
  const inOrder = latencies.toSorted((a, b) => a - b);
  const at = (share: number): string => (inOrder[Math.ceil(inOrder.length * share) - 1] ?? 0).toFixed(2);
  return `p50 ${at(0.5)} s, p95 ${at(0.95)} s, max ${at(1)} s`;
}

function sorted(name: string, latencies: readonly number[]): Series {
  return { name, points: latencies.toSorted((a, b) => a - b).map((y, n) => ({ x: n + 1, y })) };
}
