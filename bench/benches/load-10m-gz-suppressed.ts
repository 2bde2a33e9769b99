import { syncList } from '../../src/entry/suppression.ts';
import { selectOnShards } from '../../test/support/shard-tables.ts';
import { withDatabase } from '../../test/support/stores.ts';
import { type Bench, alternate } from '../bench.ts';
import { secondsToLoad } from '../load.ts';
import { scaled } from '../scale.ts';
import { type Running, withService } from '../service.ts';
import { prepareTenMillion, tenMillion } from '../ten-million.ts';
import { deleteMembers } from '../warehouse.ts';

const path = 'members.csv.gz';
const hashes = scaled(10_000_000);

export const bench: Bench = {
  title: 'Load an audience from a gzipped file of 10 million rows, with 10 million hashes on the suppression list',
  compares:
    'Both sides measure how long Inlet takes until status 2. Yardstick: the same load with an empty suppression list. Three pairs follow the warm-up. No device of the file is on the list.',
  goal: 1.1,
  run: async (printLine) =>
    withService('one', async (running) => {
      printLine('creating the known devices, the file, and the list …');
      await prepareTenMillion(running, path);
      const version = await createList(running);
      const load = (isListed: boolean) => async (): Promise<number> => {
        await deleteMembers(running);
        await recordHashes(running, isListed ? hashes : 0);
        return secondsToLoad(running.audiences, path, tenMillion);
      };
      const pairs = await alternate(3, printLine, { inlet: load(true), yardstick: load(false) });
      return { pairs, rows: tenMillion.rows, notes: [await memoryOfSet(running, version)] };
    }),
};

async function createList({ engine, stores }: Running): Promise<number> {
  await engine.command({
    query: `INSERT INTO suppressed_hashes_local SELECT SHA256(toString(number)), 1, 0 FROM numbers(${hashes})`,
  });
  return (await syncList(stores.config)).version;
}

/** With 0 hashes, loads are not checked. The set stays in memory. */
async function recordHashes({ stores }: Running, count: number): Promise<void> {
  await withDatabase(stores, (client) => client.query('UPDATE suppression SET hashes = $1', [count]));
}

async function memoryOfSet({ stores }: Running, version: number): Promise<string> {
  const [bytes] = await selectOnShards(
    stores,
    `SELECT formatReadableSize(total_bytes) FROM system.tables
     WHERE database = currentDatabase() AND name = 'suppression_set_${version}'`,
  );
  return `the set of ${hashes.toLocaleString('en-US')} hashes takes ${bytes}`;
}
