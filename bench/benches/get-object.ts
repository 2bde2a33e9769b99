import { alternate, type Bench } from '../bench.ts';
import { secondsToLoad } from '../load.ts';
import { withService } from '../service.ts';
import { prepareTenMillion, tenMillion } from '../ten-million.ts';
import { deleteMembers } from '../warehouse.ts';
import { readAndDiscard } from '../yardsticks/get-object.ts';

const path = 'members.csv.gz';

export const bench: Bench = {
  title: 'Load an audience from a gzipped file of 10 million rows, compared with downloading the file',
  compares:
    'Inlet: from the POST request until status 2. Yardstick: one GET request for the object, with the body discarded.',
  run: async (printLine) =>
    withService('one', async (running) => {
      printLine('creating the known devices and the file …');
      await prepareTenMillion(running, path);
      let bytes = 0;
      const pairs = await alternate(5, printLine, {
        inlet: async () => {
          await deleteMembers(running);
          return secondsToLoad(running.audiences, path, tenMillion);
        },
        yardstick: async () => {
          const read = await readAndDiscard(running.partner, path);
          ({ bytes } = read);
          return read.seconds;
        },
      });
      return { pairs, rows: tenMillion.rows, notes: [`the object has ${bytes.toLocaleString('en')} bytes`] };
    }),
};
