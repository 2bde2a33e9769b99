import { alternate, type Bench } from '../bench.ts';
import { secondsToLoad } from '../load.ts';
import { withService } from '../service.ts';
import { prepareTenMillion, tenMillion } from '../ten-million.ts';
import { forgetMembers } from '../warehouse.ts';
import { loadByNode } from '../yardsticks/node-way.ts';

const path = 'members.csv.gz';

export const bench: Bench = {
  title: 'An audience from a gzipped file of 10 million rows, against rows that pass through Node',
  compares:
    'Inlet: to status 2, both counts included. Yardstick: Node reads S3, unzips, parses with `csv-parse`, checks every id and inserts with `@clickhouse/client`; nothing is counted. The ratio says how many times faster Inlet is.',
  better: 'higher',
  goal: 5,
  run: async (say) =>
    withService('one', async (running) => {
      say('making the known devices and the file …');
      await prepareTenMillion(running, path);
      const pairs = await alternate(5, say, {
        inlet: async () => {
          await forgetMembers(running);
          return secondsToLoad(running.audiences, path, tenMillion);
        },
        yardstick: async () => {
          await forgetMembers(running);
          return loadByNode(running, path);
        },
      });
      return { pairs, rows: tenMillion.rows };
    }),
};
