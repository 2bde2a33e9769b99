import { type Bench, alternate, median, secondsOf } from '../bench.ts';
import {
  fillWarehouse,
  foldWarehouse,
  freshReport,
  getReport,
  sizesOfIndex,
  unlimitedReports,
} from '../report-warehouse.ts';
import { withDatabase } from '../../test/support/stores.ts';
import { scaled } from '../scale.ts';
import { type Running, withService } from '../service.ts';

export const smallWarehouse = {
  known: scaled(20_000_000),
  attributes: 100,
  rowsPerAttribute: scaled(1_200_000),
};

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
        const audience = await fillWarehouse(running, smallWarehouse, printLine);
        const folded = await foldWarehouse(running);
        printLine(`folded in ${folded.toFixed(1)} s`);
        await freshReport(running, audience);
        await requireSameCount(running, await readRows(running, audience.audienceId));
        const pairs = await alternate(5, printLine, {
          inlet: () => freshReport(running, audience),
          yardstick: () => secondsOf(async () => void (await readRows(running, audience.audienceId))),
        });
        const stored: number[] = [];
        for (let n = 0; n < 50; n += 1) stored.push(await secondsOf(() => getReport(running, audience)));
        const bare: number[] = [];
        const fresh: number[] = [];
        for (let n = 0; n < 5; n += 1) {
          fresh.push(await freshReport(running, audience));
          bare.push(await secondsOf(() => bareBitmaps(running, audience.audienceId)));
        }
        const notes = [
          `a stored report: ${(median(stored) * 1000).toFixed(1)} ms (median of ${stored.length})`,
          `the same bitmaps in one bare statement: ${median(bare).toFixed(2)} s; Inlet, alternating with it: ${median(fresh).toFixed(2)} s, ${(median(fresh) / median(bare)).toFixed(2)} times as long (goal: ≤ 1.5)`,
          `fold of all rows: ${folded.toFixed(1)} s`,
          ...(await sizesOfIndex(running)),
        ];
        return { pairs, rows: smallWarehouse.attributes * smallWarehouse.rowsPerAttribute, notes };
      },
      unlimitedReports,
    ),
};

/** Returns the sum of the matched devices of all attributes. */
async function readRows({ engine, partner }: Running, audienceId: number): Promise<number> {
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
  let total = 0;
  for (const { id } of await ids.json<{ id: string }>()) {
    const counted = await engine.query({
      query: `SELECT toString(countIf(m.is_known)) AS matched, count() FROM (
          SELECT device FROM device_attributes_local FINAL WHERE partner_id = ${partner.id} AND attribute_id = ${id}
        ) AS t LEFT JOIN members AS m ON t.device = m.device`,
      format: 'JSONEachRow',
      ...session,
    });
    const [row] = await counted.json<{ matched: string }>();
    total += Number(row?.matched);
  }
  return total;
}

async function requireSameCount({ stores }: Running, ofRows: number): Promise<void> {
  const { rows } = await withDatabase(stores, (client) =>
    client.query<{ total: string }>(
      "SELECT sum((cell->>2)::bigint) AS total FROM composition, jsonb_array_elements(report->'cells') AS cell",
    ),
  );
  if (Number(rows[0]?.total) !== ofRows)
    throw new Error(`the report counts ${rows[0]?.total} matched devices, but the rows contain ${ofRows}`);
}

/** Uses the same settings as Inlet. */
async function bareBitmaps({ engine, partner }: Running, audienceId: number): Promise<void> {
  const result = await engine.query({
    query: `SELECT a.attribute_id, sum(bitmapAndCardinality(a.devices, m.devices)), sum(bitmapCardinality(a.devices))
      FROM (SELECT * FROM attribute_bitmaps_local FINAL) AS a INNER JOIN (
        SELECT m.chunk AS chunk, bitmapAnd(m.devices, k.devices) AS devices FROM audience_bitmaps_local AS m FINAL
        INNER JOIN (SELECT chunk, devices FROM attribute_bitmaps_local FINAL WHERE partner_id = 0) AS k ON m.chunk = k.chunk
        WHERE m.partner_id = ${partner.id} AND m.audience_id = ${audienceId} AND m.kind = 0
      ) AS m ON a.chunk = m.chunk
      WHERE a.partner_id > 0 GROUP BY a.attribute_id`,
    format: 'JSON',
    clickhouse_settings: {
      join_algorithm: 'hash',
      merge_tree_min_rows_for_concurrent_read: '1',
      merge_tree_min_bytes_for_concurrent_read: '1',
    },
  });
  await result.json();
}
