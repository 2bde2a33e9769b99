import { clickhouseAudienceWarehouse } from '../../src/adapters/clickhouse/audience-warehouse.ts';
import { closeEngine } from '../../src/adapters/clickhouse/connect.ts';
import { connectTestEngine } from '../../test/support/test-engine.ts';
import { type Bench, alternate, secondsOf } from '../bench.ts';
import { deviceSql } from '../files.ts';
import { scaled } from '../scale.ts';
import { type Running, withService } from '../service.ts';

const members = scaled(10_000_000);
const known = scaled(50_000_000);

export const bench: Bench = {
  title: 'Count the unique and matched devices of an audience of 10 million among 50 million known devices',
  compares:
    'Inlet: both counts, as the worker computes them. Yardstick: a hand-written `full_sorting_merge` join that counts only the matched devices.',
  goal: 1.3,
  run: async (printLine) =>
    withService('one', async ({ stores, engine }) => {
      printLine(`creating ${known.toLocaleString('en')} known devices and ${members.toLocaleString('en')} members …`);
      const insert = (table: string, values: string, count: number): Promise<unknown> =>
        engine.command({
          query: `INSERT INTO ${table} SELECT ${values} FROM numbers(${count}) SETTINGS optimize_on_insert = 0`,
        });
      await insert('known_devices_local', deviceSql(`number + ${members / 2}`), known);
      await insert('audience_devices_local', `1, 1, 0, ${deviceSql('number')}, '', 1`, members);
      // Adds a second audience of the same partner, which the counts must not read.
      await insert('audience_devices_local', `1, 2, 0, ${deviceSql('number')}, '', 1`, members / 2);
      const own = connectTestEngine(stores);
      const warehouse = clickhouseAudienceWarehouse(own);
      const bare = `SELECT count() FROM audience_devices_local AS a ANY INNER JOIN known_devices_local AS k ON a.device = k.device
        WHERE a.partner_id = 1 AND a.audience_id = 1 AND a.generation = 0 SETTINGS join_algorithm = 'full_sorting_merge'`;
      const pairs = await alternate(5, printLine, {
        inlet: () =>
          secondsOf(async () => {
            const audience = { id: 1, partnerId: 1, audienceId: 1, generation: 0 };
            const counts = await warehouse.countDevices(audience, members);
            if (counts.unique !== members || counts.matched !== members / 2) throw new Error(JSON.stringify(counts));
          }),
        yardstick: () => secondsOf(async () => (await engine.query({ query: bare, format: 'JSON' })).json()),
      });
      await closeEngine(own);
      return { pairs, rows: members, notes: await ownFigures(engine, stores.database) };
    }),
};

/** Duration and peak memory from the query log. */
async function ownFigures(engine: Running['engine'], database: string): Promise<string[]> {
  await engine.command({ query: 'SYSTEM FLUSH LOGS' });
  const result = await engine.query({
    query: `
      SELECT if(position(query, 'ANY INNER JOIN') > 0, 'bare join', 'a range of both counts') AS what,
        round(median(query_duration_ms) / 1000, 2) AS seconds, round(max(memory_usage) / 1048576) AS mebibytes
      FROM system.query_log
      WHERE type = 'QueryFinish' AND query_kind = 'Select' AND current_database = {database: String}
        AND has(tables, concat({database: String}, '.audience_devices_local'))
      GROUP BY what ORDER BY what`,
    query_params: { database },
    format: 'JSONEachRow',
  });
  const rows = await result.json<{ what: string; seconds: number; mebibytes: number }>();
  return rows.map(({ what, seconds, mebibytes }) => `${what}: ${seconds} s, peak ${mebibytes} MiB`);
}
