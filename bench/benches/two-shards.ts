import { alternate, secondsOf, type Bench } from '../bench.ts';
import { loaded } from '../load.ts';
import { withService, type Running } from '../service.ts';
import { prepareTenMillion, tenMillion } from '../ten-million.ts';
import { deleteMembers } from '../warehouse.ts';

const path = 'members.csv.gz';

export const bench: Bench = {
  title: 'Load an audience from a gzipped file of 10 million rows on two shards, compared with one shard',
  compares:
    'Both sides measure how long Inlet takes until status 2 on the same machine, so two shards have no more CPUs than one shard. Both records must be equal.',
  goal: 1.2,
  run: async (printLine) =>
    withService('two', (two) =>
      withService('one', async (one) => {
        printLine('creating the known devices and the file, twice …');
        await prepareTenMillion(two, path);
        await prepareTenMillion(one, path);
        const records: { inlet?: string; yardstick?: string } = {};
        const load = (side: 'inlet' | 'yardstick', running: Running) => async (): Promise<number> => {
          await deleteMembers(running);
          return secondsOf(async () => {
            records[side] = await loadedRecord(running);
          });
        };
        const pairs = await alternate(5, printLine, { inlet: load('inlet', two), yardstick: load('yardstick', one) });
        if (records.inlet !== records.yardstick) throw new Error(JSON.stringify(records));
        return { pairs, rows: tenMillion.rows, notes: [`both: ${records.inlet}`] };
      }),
    ),
};

/** The fields that must not depend on the number of shards. */
async function loadedRecord({ audiences }: Running): Promise<string> {
  const { audienceId } = await audiences.create(path, path);
  const { unique_devices, matched_devices, uploaded_devices, file } = await loaded(audiences, audienceId, tenMillion);
  const rows = file.map(({ rows_uploaded }) => rows_uploaded).join(', ');
  return `${unique_devices} unique, ${matched_devices} matched, ${uploaded_devices} uploaded, ${rows} rows`;
}
