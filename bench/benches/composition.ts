import { compositionSchema } from '../../src/adapters/http/routes/get-composition.ts';
import { commandOnShards, selectOnShards } from '../../test/support/shard-tables.ts';
import { insertAudience } from '../../test/support/audience-tables.ts';
import { withDatabase } from '../../test/support/stores.ts';
import { type Bench, alternate, median, secondsOf } from '../bench.ts';
import { deviceSql } from '../files.ts';
import { scaled } from '../scale.ts';
import { type Running, withService } from '../service.ts';
import { waitUntilFolded, waitUntilIdle } from '../warehouse.ts';

const known = scaled(20_000_000);
const attributes = 100;
const rowsPerAttribute = scaled(1_200_000);
/** Two thirds of the members are known devices. */
const members = scaled(1_500_000);
const countries = ['US', 'DE', 'FR', 'GB', 'BR', 'IN', 'JP', ''];

export const bench: Bench = {
  title:
    'Compute the composition of an audience of 1.5 million devices, with 100 attributes, 120 million rows, and 20 million known devices',
  compares:
    'Inlet: `GET …/composition` without a stored report. Yardstick: reading the rows, as Inlet did before it had the device index (the members sorted into a temporary table, then a `full_sorting_merge` join per attribute).',
  better: 'higher',
  goal: 15,
  run: async (printLine) =>
    withService(
      'one',
      async (running) => {
        const { audienceId, segmentId } = await fill(running, printLine);
        const folded = await fold(running);
        printLine(`folded in ${folded.toFixed(1)} s`);
        await waitUntilIdle(running);
        await commandOnShards(running.stores, 'OPTIMIZE TABLE attribute_bitmaps_local FINAL');
        const pairs = await alternate(5, printLine, {
          inlet: () => freshReport(running, segmentId),
          yardstick: () => secondsOf(() => readRows(running, audienceId)),
        });
        const stored: number[] = [];
        for (let n = 0; n < 50; n += 1) stored.push(await secondsOf(() => getReport(running, segmentId)));
        const bare: number[] = [];
        for (let n = 0; n < 5; n += 1) bare.push(await secondsOf(() => bareBitmaps(running, audienceId)));
        const fresh = median(pairs.map(({ inlet }) => inlet));
        const notes = [
          `a stored report: ${(median(stored) * 1000).toFixed(1)} ms (median of ${stored.length})`,
          `the same bitmaps in one bare statement: ${median(bare).toFixed(2)} s; Inlet takes ${(fresh / median(bare)).toFixed(2)} times as long (goal: ≤ 1.5)`,
          `fold of all rows: ${folded.toFixed(1)} s`,
          ...(await sizes(running)),
        ];
        return { pairs, rows: attributes * rowsPerAttribute, notes };
      },
      { INLET_REPORTS_PER_DAY: '0', INLET_REPORTS_PER_CUSTOMER: '0' },
    ),
};

async function fill(
  { engine, stores, partner }: Running,
  printLine: (text: string) => void,
): Promise<{ audienceId: number; segmentId: number }> {
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

/** The worker folds everything in the background. */
async function fold(running: Running): Promise<number> {
  const { stores } = running;
  return secondsOf(async () => {
    await withDatabase(stores, (client) => client.query('SELECT note_all_index_changes()'));
    await waitUntilFolded(running);
  });
}

async function getReport({ service, partner }: Running, segmentId: number): Promise<void> {
  const response = await fetch(`${service.url}/v2/firstparty/segments/${segmentId}/composition?limit=100`, {
    headers: { authorization: `Bearer ${partner.apiKey}` },
  });
  const report = compositionSchema.parse(await response.json());
  if (report.attributes.length !== attributes) throw new Error(`${report.attributes.length} attributes`);
}

async function freshReport(running: Running, segmentId: number): Promise<number> {
  await withDatabase(running.stores, (client) => client.query('DELETE FROM composition'));
  return secondsOf(() => getReport(running, segmentId));
}

async function readRows({ engine, partner }: Running, audienceId: number): Promise<void> {
  const session = {
    session_id: `bench-${Math.random()}`,
    clickhouse_settings: { join_algorithm: 'full_sorting_merge' } as const,
  };
  await engine.command({
    query: 'CREATE TEMPORARY TABLE members (device UUID, is_known UInt8) ENGINE = MergeTree ORDER BY device',
    ...session,
  });
  await engine.command({
    query: `INSERT INTO members SELECT m.device, k.is_known FROM (
        SELECT device FROM audience_devices_local WHERE partner_id = ${partner.id} AND audience_id = ${audienceId} GROUP BY device
      ) AS m LEFT JOIN (SELECT device, toUInt8(1) AS is_known FROM known_devices_local FINAL) AS k USING (device)`,
    ...session,
  });
  const ids = await engine.query({
    query: 'SELECT DISTINCT toString(attribute_id) AS id FROM attribute_bitmaps_local WHERE attribute_id > 0',
    format: 'JSONEachRow',
  });
  for (const { id } of await ids.json<{ id: string }>()) {
    const counted = await engine.query({
      query: `SELECT countIf(m.is_known), count() FROM (
          SELECT device FROM device_attributes_local FINAL WHERE partner_id = ${partner.id} AND attribute_id = ${id}
        ) AS t LEFT JOIN members AS m ON t.device = m.device`,
      format: 'JSON',
      ...session,
    });
    await counted.json();
  }
}

async function bareBitmaps({ engine, partner }: Running, audienceId: number): Promise<void> {
  const result = await engine.query({
    query: `SELECT a.attribute_id, sum(bitmapAndCardinality(a.devices, m.devices)), sum(bitmapCardinality(a.devices))
      FROM attribute_bitmaps_local AS a INNER JOIN (
        SELECT m.chunk AS chunk, bitmapAnd(m.devices, k.devices) AS devices FROM audience_bitmaps_local AS m
        INNER JOIN (SELECT chunk, devices FROM attribute_bitmaps_local WHERE partner_id = 0) AS k ON m.chunk = k.chunk
        WHERE m.partner_id = ${partner.id} AND m.audience_id = ${audienceId} AND m.kind = 0
      ) AS m ON a.chunk = m.chunk
      WHERE a.partner_id > 0 GROUP BY a.attribute_id`,
    format: 'JSON',
  });
  await result.json();
}

async function sizes({ stores }: Running): Promise<string[]> {
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
