import { overlapSchema } from '../../src/adapters/http/routes/get-overlap.ts';
import { insertAudience } from '../../test/support/audience-tables.ts';
import { commandOnShards } from '../../test/support/shard-tables.ts';
import { withDatabase } from '../../test/support/stores.ts';
import { type Bench, alternate, median, secondsOf } from '../bench.ts';
import { deviceSql } from '../files.ts';
import { unlimitedReports } from '../report-warehouse.ts';
import { scaled } from '../scale.ts';
import { type Running, withService } from '../service.ts';
import { waitUntilFolded, waitUntilIdle } from '../warehouse.ts';

const audiences = 5;
const members = scaled(1_000_000);

export const bench: Bench = {
  title: 'Compute all intersections and the reach of five audiences of a million devices',
  compares:
    'Inlet: `POST /v2/firstparty/overlap` without a stored overlap. Yardstick: one statement that groups the rows of the five audiences by device.',
  better: 'higher',
  goal: 'Inlet: ≤ 0.5 s',
  run: async (printLine) =>
    withService(
      'one',
      async (running) => {
        printLine(`creating ${audiences} audiences of ${members.toLocaleString('en')} devices …`);
        const ids = await fill(running);
        await waitUntilFolded(running);
        await waitUntilIdle(running);
        const pairs = await alternate(5, printLine, {
          inlet: async () => {
            await withDatabase(running.stores, (client) => client.query('DELETE FROM overlap'));
            return secondsOf(() => getOverlap(running, ids));
          },
          yardstick: () => secondsOf(() => groupRows(running, ids)),
        });
        const isReached = median(pairs.map(({ inlet }) => inlet)) <= 0.5;
        return { pairs, rows: audiences * members, isReached };
      },
      unlimitedReports,
    ),
};

/** Each audience shares half of its devices with the next one. */
async function fill({ engine, stores, partner }: Running): Promise<number[]> {
  const ids: number[] = [];
  for (let n = 0; n < audiences; n += 1) {
    const { audienceId } = await insertAudience(stores, partner.id, `bench ${n}`);
    await engine.command({
      query: `INSERT INTO audience_devices_local SELECT ${partner.id}, ${audienceId}, 0, ${deviceSql(`number + ${(n * members) / 2}`)}, '', 1
        FROM numbers(${members})`,
    });
    ids.push(audienceId);
  }
  await commandOnShards(stores, 'OPTIMIZE TABLE audience_devices_local FINAL');
  // The rows were inserted after the audiences were marked as changed, so mark them again.
  await withDatabase(stores, (client) => client.query('SELECT note_all_index_changes()'));
  return ids;
}

async function getOverlap({ service, partner }: Running, audience_ids: readonly number[]): Promise<void> {
  const response = await fetch(`${service.url}/v2/firstparty/overlap`, {
    method: 'POST',
    headers: { authorization: `Bearer ${partner.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ audience_ids }),
  });
  const { intersections } = overlapSchema.parse(await response.json());
  if (intersections.length !== 26) throw new Error(`${intersections.length} intersections`);
}

async function groupRows({ engine, partner }: Running, ids: readonly number[]): Promise<void> {
  const result = await engine.query({
    query: `SELECT found, count() FROM (
        SELECT device, groupUniqArray(audience_id) AS of_device, arraySort(of_device) AS found FROM audience_devices_local
        WHERE partner_id = ${partner.id} AND audience_id IN (${ids.join()}) GROUP BY device
      ) GROUP BY found`,
    format: 'JSON',
  });
  await result.json();
}
