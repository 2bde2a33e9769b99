import { apiClient, type ApiClient } from '../../test/acceptance/api-client.ts';
import { createPartner } from '../../test/support/partners.ts';
import { startApi, stopProcess } from '../../test/support/running-service.ts';
import { alternate, secondsOf, summarize, type Bench, type Pair } from '../bench.ts';
import { scaled } from '../scale.ts';
import { withService, type Running } from '../service.ts';

/** The number of concurrent requests. Each request uses its own connection. */
const together = 8;

type Reading = { readonly api: ApiClient; readonly id: number };

export const bench: Bench = {
  title: 'Read one import log with row-level security, compared with the table owner',
  compares:
    'Both sides send Inlet 1,000 GET requests for one record, eight at a time. The requests alternate between two partners, so that connections keep switching partners. The yardstick runs with `INLET_API_ROLE=none`, which turns off row-level security.',
  run: async (printLine) =>
    withService('one', async (running) => {
      const requests = scaled(1_000);
      const bound = await startTwo(running, {});
      const free = await startTwo(running, { INLET_API_ROLE: 'none' });
      try {
        const side = (records: readonly Reading[]) => (): Promise<number> =>
          secondsOf(() => readAll(records, requests));
        const pairs = await alternate(10, printLine, { inlet: side(bound.records), yardstick: side(free.records) });
        printLine('one partner alone:');
        const alone = await alternate(10, printLine, {
          inlet: side(bound.records.slice(0, 1)),
          yardstick: side(free.records.slice(0, 1)),
        });
        return { pairs, rows: 2, notes: [`one partner alone: ${ratioOf(alone)}`] };
      } finally {
        await Promise.all([bound.stop(), free.stop()]);
      }
    }),
};

function ratioOf(pairs: readonly Pair[]): string {
  const { ratio, spread } = summarize(bench, { pairs, rows: 0 });
  return `${ratio} (${spread.join(' to ')})`;
}

/** Starts an API process and creates two partners with one import each. */
async function startTwo(
  { stores }: Running,
  settings: { readonly [name: string]: string },
): Promise<{ records: Reading[]; stop: () => Promise<void> }> {
  const api = await startApi({ ...stores.environment, INLET_LOG_LEVEL: 'info', ...settings }, 'bench');
  const records: Reading[] = [];
  for (let made = 0; made < 2; made += 1) {
    const client = apiClient(api.url, (await createPartner(stores.environment)).apiKey);
    records.push({ api: client, id: await client.queue({ file_path: 'nothing.csv', key_type: 1 }) });
  }
  for (const { api: client, id } of records) await client.waitForEnd(id);
  return { records, stop: () => stopProcess(api.child) };
}

async function readAll(records: readonly Reading[], requests: number): Promise<void> {
  let next = 0;
  const reader = async (): Promise<void> => {
    while (next < requests) {
      const record = records[(next += 1) % records.length];
      if (!record) throw new Error('no record');
      const answer = await record.api.request(`/v1/marketplace/import/${record.id}`);
      if (answer.status !== 200) throw new Error(`answered ${answer.status}`);
      await answer.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: together }, reader));
}
