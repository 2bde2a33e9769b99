import { requestedDeletionSchema } from '../../src/adapters/http/records/deletion.ts';
import { apiClient } from '../../test/acceptance/api-client.ts';
import type { AudienceClient } from '../../test/acceptance/audience-client.ts';
import { deleteReplacedPartsSoon } from '../../test/support/replaced-parts.ts';
import { selectOnShards } from '../../test/support/shard-tables.ts';
import { withDatabase } from '../../test/support/stores.ts';
import { waitUntil } from '../../test/support/wait-until.ts';
import { type Bench, alternate, median, secondsOf } from '../bench.ts';
import { deviceSql, putFile } from '../files.ts';
import { secondsToLoad } from '../load.ts';
import { otherPartners } from '../other-partners.ts';
import { foldWarehouse } from '../report-warehouse.ts';
import { scaled } from '../scale.ts';
import { type Running, withService } from '../service.ts';
import { waitUntilIdle } from '../warehouse.ts';

const attributes = 4;
const devices = scaled(25_000_000);
const listed = scaled(10_000_000);
/** The other listed devices are unknown to Inlet. Every erasure is of other devices. */
const known = listed / 4;
const smallRows = 1_000;

export const bench: Bench = {
  title: 'Erase a list of 10 million devices from 100 million rows, compared with bare mutations of the same size',
  compares:
    'A quarter of the listed devices have rows, four each. Inlet: from the POST request until no replica has a row, with the list read from a file, the rows counted before and after, and the known devices and the device index updated. Yardstick: `ALTER TABLE … DELETE` with a list that is already in a table, of the attributes, the known devices, and the numbers of the index, one after the other. Filling takes minutes, so there is one pair after a smaller warm-up.',
  goal: 1.5,
  run: async (printLine) =>
    withService('one', async (running) => {
      await deleteReplacedPartsSoon(running.stores);
      await fill(running, printLine);
      const [other] = await otherPartners(running, 1, 'small.csv', smallRows);
      if (!other) throw new Error('no partner');
      await waitUntilIdle(running);
      printLine('filled');
      const notes: string[] = [];
      const pairs = await alternate(1, printLine, {
        inlet: async (round) => {
          const path = await putList(running, 2 * round, round === 0);
          const { seconds, steps, mebibytes } = await erase(running, path);
          if (round > 0) notes.push(`steps: ${steps}`, `peak memory of ClickHouse: ${mebibytes} MiB more than before`);
          return seconds;
        },
        yardstick: async (round) => {
          const parts = await mutate(running, 2 * round + 1, round === 0);
          if (round > 0) notes.push(`yardstick: ${parts.map(([table, s]) => `${table} ${s.toFixed(1)} s`).join(', ')}`);
          return parts.reduce((sum, [, seconds]) => sum + seconds, 0);
        },
      });
      notes.push(await latencyOfOthers(running, other));
      return { pairs, rows: attributes * devices, notes };
    }),
};

async function fill(running: Running, printLine: (text: string) => void): Promise<void> {
  const { engine, partner } = running;
  printLine(`creating ${(attributes * devices).toLocaleString('en')} rows …`);
  const insert = (query: string): Promise<unknown> =>
    engine.command({ query: `INSERT INTO ${query} SETTINGS optimize_on_insert = 0` });
  await insert(`known_devices_local (device) SELECT ${deviceSql('number')} FROM numbers(${devices})`);
  for (let n = 0; n < attributes; n += 1) {
    const id = await partner.createAttribute(`attribute ${n}`);
    await insert(`device_attributes_local
      SELECT ${partner.id}, ${id}, ${deviceSql('number')}, 1, 'DE', 3, 0 FROM numbers(${devices})`);
  }
  for (const table of ['known_devices_local', 'device_attributes_local'])
    await engine.command({ query: `OPTIMIZE TABLE ${table} FINAL` });
  printLine('folding them into the device index …');
  await foldWarehouse(running);
}

/** The warm-up has a tenth of the devices. */
const sizeOf = (isWarmUp: boolean): number => (isWarmUp ? Math.ceil(listed / 10) : listed);

function listedDevice(slice: number): string {
  return deviceSql(`if(number % 4 = 0, intDiv(number, 4) + ${slice * known}, number + 1000000000)`);
}

async function putList(running: Running, slice: number, isWarmUp: boolean): Promise<string> {
  const path = `erase-${slice}.csv`;
  await putFile(running, path, { from: 0, count: sizeOf(isWarmUp) }, { line: `toString(${listedDevice(slice)})` });
  return path;
}

type Erased = { readonly seconds: number; readonly steps: string; readonly mebibytes: number };

/** Measures until no row remains. The files of replaced parts are deleted later. */
async function erase(running: Running, path: string): Promise<Erased> {
  const { service, partner, stores } = running;
  const api = apiClient(service.url, partner.apiKey);
  const memory = async (): Promise<number> =>
    Number((await selectOnShards(stores, `SELECT value FROM system.metrics WHERE metric = 'MemoryTracking'`))[0]);
  const before = await memory();
  let peak = before;
  const seen: { readonly step: string; readonly at: number }[] = [];
  const start = performance.now();
  const body = JSON.stringify({ file_path: path });
  const answer = await api.request('/v1/privacy/deletions', { method: 'POST', body });
  const { deletion_id: id } = requestedDeletionSchema.parse(await answer.json());
  const readStep = (): Promise<string> =>
    withDatabase(stores, async (client) => {
      const { rows } = await client.query<{ step: string }>(
        'SELECT step FROM erasure_batch WHERE id = (SELECT batch_id FROM erasure WHERE id = $1)',
        [id],
      );
      return rows[0]?.step ?? 'waiting for a worker';
    });
  await waitUntil(
    'no row remains',
    async () => {
      peak = Math.max(peak, await memory());
      const step = await readStep();
      if (step !== seen.at(-1)?.step) seen.push({ step, at: performance.now() });
      return step === 'clean' || step === 'done';
    },
    3_600,
    100,
  );
  const seconds = (performance.now() - start) / 1000;
  await waitUntil('replaced parts are deleted', async () => (await readStep()) === 'done', 600);
  const steps = seen.flatMap(({ step, at }, index) => {
    const next = seen[index + 1];
    return next ? [`${step} ${((next.at - at) / 1000).toFixed(1)} s`] : [];
  });
  return { seconds, steps: steps.join(', '), mebibytes: Math.round((peak - before) / 1_048_576) };
}

async function mutate(
  { engine }: Running,
  slice: number,
  isWarmUp: boolean,
): Promise<readonly (readonly [string, number])[]> {
  const list = `bare_list_${slice}`;
  await engine.command({ query: `CREATE TABLE ${list} (device UUID) ENGINE = MergeTree ORDER BY device` });
  await engine.command({
    query: `INSERT INTO ${list} SELECT ${listedDevice(slice)} FROM numbers(${sizeOf(isWarmUp)})`,
  });
  const parts: (readonly [string, number])[] = [];
  for (const table of ['device_attributes', 'known_devices', 'device_numbers']) {
    const query = `ALTER TABLE ${table}_local DELETE WHERE device IN (SELECT device FROM ${list})`;
    const clickhouse_settings = { mutations_sync: '2', allow_nondeterministic_mutations: 1 } as const;
    parts.push([table, await secondsOf(() => engine.command({ query, clickhouse_settings }))]);
  }
  return parts;
}

/** Loads of another partner, one after the other, while a list is erased and afterward. */
async function latencyOfOthers(running: Running, other: AudienceClient): Promise<string> {
  const path = await putList(running, 4, false);
  const load = (): Promise<number> => secondsToLoad(other, 'small.csv', { unique: smallRows });
  const during: number[] = [];
  const over = new AbortController();
  const erasing = erase(running, path).finally(() => over.abort());
  while (!over.signal.aborted) during.push(await load());
  const { seconds } = await erasing;
  await waitUntilIdle(running);
  const idle: number[] = [];
  for (let n = 0; n < 10; n += 1) idle.push(await load());
  const ratio = median(during) / median(idle);
  return `an audience of ${smallRows} rows of another partner: ${median(during).toFixed(2)} s during an erasure of ${seconds.toFixed(1)} s (median of ${during.length}, at most ${Math.max(...during).toFixed(2)} s), ${median(idle).toFixed(2)} s without (median of ${idle.length}), ratio ${ratio.toFixed(2)}`;
}
