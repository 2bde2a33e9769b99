import { alternate, type Bench } from '../bench.ts';
import { secondsToLoad } from '../load.ts';
import { withService } from '../service.ts';
import { prepareTenMillion, tenMillion } from '../ten-million.ts';
import { forgetMembers } from '../warehouse.ts';
import { readToNowhere } from '../yardsticks/get-object.ts';

const path = 'members.csv.gz';

export const bench: Bench = {
  title: 'An audience from a gzipped file of 10 million rows, against reading that file and throwing it away',
  compares: 'Inlet: to status 2. Yardstick: the speed of the S3 server, one GET of the object to nowhere.',
  run: async (say) =>
    withService('one', async (running) => {
      say('making the known devices and the file …');
      await prepareTenMillion(running, path);
      let bytes = 0;
      const pairs = await alternate(5, say, {
        inlet: async () => {
          await forgetMembers(running);
          return secondsToLoad(running.audiences, path, tenMillion);
        },
        yardstick: async () => {
          const read = await readToNowhere(running.partner, path);
          ({ bytes } = read);
          return read.seconds;
        },
      });
      return { pairs, rows: tenMillion.rows, notes: [`the object has ${bytes.toLocaleString('en')} bytes`] };
    }),
};
