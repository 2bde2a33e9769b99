import { alternate, type Bench } from '../bench.ts';
import { secondsToLoad } from '../load.ts';
import { withService } from '../service.ts';
import { prepareTenMillion, tenMillion } from '../ten-million.ts';
import { deleteMembers } from '../warehouse.ts';
import { loadByNode } from '../yardsticks/node-way.ts';

const path = 'members.csv.gz';

export const bench: Bench = {
  title: 'Load an audience from a gzipped file of 10 million rows, compared with a loader that parses rows in Node',
  compares:
    "Inlet: from the POST request until status 2, including both counts. Yardstick: a Node program that reads the file from S3, decompresses it, parses it with `csv-parse`, validates every ID, and inserts the rows with `@clickhouse/client`. It does not count. The ratio is Inlet's speedup.",
  better: 'higher',
  goal: 5,
  run: async (printLine) =>
    withService('one', async (running) => {
      printLine('creating the known devices and the file …');
      await prepareTenMillion(running, path);
      const pairs = await alternate(5, printLine, {
        inlet: async () => {
          await deleteMembers(running);
          return secondsToLoad(running.audiences, path, tenMillion);
        },
        yardstick: async () => {
          await deleteMembers(running);
          return loadByNode(running, path);
        },
      });
      return { pairs, rows: tenMillion.rows };
    }),
};
