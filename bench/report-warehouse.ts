import { compositionSchema } from '../src/adapters/http/routes/get-composition.ts';
import { insertAudience } from '../test/support/audience-tables.ts';
import { commandOnShards, selectOnShards } from '../test/support/shard-tables.ts';
import { withDatabase } from '../test/support/stores.ts';
import { secondsOf } from './bench.ts';
import { deviceSql } from './files.ts';
import { scaled } from './scale.ts';
import type { Running } from './service.ts';
import { waitUntilFolded, waitUntilIdle } from './warehouse.ts';

/** Turns off the report limits, so that a benchmark can compute reports repeatedly. */
export const unlimitedReports = { INLET_REPORTS_PER_DAY: '0', INLET_REPORTS_PER_CUSTOMER: '0' };

export type WarehouseSize = { readonly known: number; readonly attributes: number; readonly rowsPerAttribute: number };

/** Two thirds of the members are known devices. */
const members = scaled(1_500_000);
const countries = ['US', 'DE', 'FR', 'GB', 'BR', 'IN', 'JP', ''];

export type BenchAudience = { readonly audienceId: number; readonly segmentId: number };

/** Inserts known devices, attribute rows, and an audience directly into the tables. */
export async function fillWarehouse(
  { engine, stores, partner }: Running,
  { known, attributes, rowsPerAttribute }: WarehouseSize,
  printLine: (text: string) => void,
): Promise<BenchAudience> {
  const insert = (query: string): Promise<unknown> =>
    engine.command({ query: `INSERT INTO ${query} SETTINGS optimize_on_insert = 0` });
  printLine(`creating ${known.toLocaleString('en')} known devices and ${attributes} attributes …`);
  await insert(`known_devices_local SELECT ${deviceSql('number')} FROM numbers(${known})`);
  const country = `[${countries.map((one) => `'${one}'`).join()}][number % ${countries.length} + 1]`;
  for (let n = 0; n < attributes; n += 1) {
    const id = await partner.createAttribute(`attribute ${n}`);
    await insert(`device_attributes_local SELECT ${partner.id}, ${id}, ${deviceSql('number')}, if(number % 3 = 0, 1, 3), ${country}, 3, 0
      FROM (SELECT toUInt64(sipHash64(number, ${n}) % ${known}) AS number FROM numbers(${rowsPerAttribute}))`);
  }
  const audience = await insertAudience(stores, partner.id, 'bench');
  await insert(`audience_devices_local SELECT ${partner.id}, ${audience.audienceId}, 0, ${deviceSql(`number + ${known - (members / 3) * 2}`)}, '', 1
    FROM numbers(${members})`);
  for (const table of ['known_devices_local', 'device_attributes_local', 'audience_devices_local'])
    await engine.command({ query: `OPTIMIZE TABLE ${table} FINAL` });
  return audience;
}

/** Lets the worker fold everything in the background and returns how long the fold takes. */
export async function foldWarehouse(running: Running): Promise<number> {
  const { stores } = running;
  const seconds = await secondsOf(async () => {
    await withDatabase(stores, (client) => client.query('SELECT note_all_index_changes()'));
    await waitUntilFolded(running);
  });
  await waitUntilIdle(running);
  await commandOnShards(stores, 'OPTIMIZE TABLE attribute_bitmaps_local FINAL');
  return seconds;
}

export async function getReport({ service, partner }: Running, { segmentId }: BenchAudience): Promise<void> {
  const response = await fetch(`${service.url}/v2/firstparty/segments/${segmentId}/composition?limit=100`, {
    headers: { authorization: `Bearer ${partner.apiKey}` },
  });
  const report = compositionSchema.parse(await response.json());
  if (report.attributes.length !== 100) throw new Error(`${report.attributes.length} entries instead of 100`);
}

/** Returns how long it takes to compute a report that is not stored. */
export async function freshReport(running: Running, audience: BenchAudience): Promise<number> {
  await withDatabase(running.stores, (client) => client.query('DELETE FROM composition'));
  return secondsOf(() => getReport(running, audience));
}

export async function sizesOfIndex({ stores }: Running): Promise<string[]> {
  const bytes = async (condition: string): Promise<number> => {
    const found = await selectOnShards(
      stores,
      `SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = '${stores.database}' AND ${condition}`,
    );
    return found.reduce((sum, some) => sum + Number(some), 0);
  };
  const rows = await bytes(`table = 'device_attributes_local'`);
  const bitmaps = await bytes(`table = 'attribute_bitmaps_local'`);
  const numbers = await bytes(`table = 'device_numbers_local'`);
  const mebibytes = (value: number): string => `${Math.round(value / 1_048_576)} MiB`;
  return [
    `rows ${mebibytes(rows)}, bitmaps ${mebibytes(bitmaps)} (${(bitmaps / rows).toFixed(3)} of the rows; goal: ≤ 0.15), numbers ${mebibytes(numbers)} (${((bitmaps + numbers) / rows).toFixed(3)} together)`,
  ];
}
