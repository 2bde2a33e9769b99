import { median, type Bench, type Pair, type Point } from '../bench.ts';
import { putFile } from '../files.ts';
import { secondsToLoad } from '../load.ts';
import { scaled } from '../scale.ts';
import { removeFiles, withService } from '../service.ts';
import { deleteMembers, createKnownDevices } from '../warehouse.ts';

const million = scaled(1_000_000);
const small = 10 * million;
const middle = 50 * million;
const large = 100 * million;

const pathOf = (rows: number): string => `${rows}.csv.gz`;

export const bench: Bench = {
  title: 'Throughput of a load of 100 million rows, compared with a load of 10 million rows',
  compares:
    'Both sides measure how long Inlet takes to load one gzipped file until status 2, with 20 million known devices, in seconds per million rows. The file is gzipped because the development storage has a capacity of 4 GiB. There are only two pairs, because the large load takes a long time.',
  better: 'higher',
  goal: 0.9,
  run: async (printLine) =>
    withService('one', async (running) => {
      printLine('creating the known devices and the files …');
      await createKnownDevices(running, { from: 0, count: 20 * million });
      const put = (rows: number): Promise<void> => putFile(running, pathOf(rows), { from: 0, count: rows });
      const rates: Point[] = [];
      const secondsPerMillion = async (rows: number): Promise<number> => {
        await deleteMembers(running);
        const seconds = await secondsToLoad(running.audiences, pathOf(rows), { unique: rows });
        printLine(`${rows.toLocaleString('en')} rows: ${seconds.toFixed(2)} s`);
        rates.push({ x: rows, y: Math.round(rows / seconds) });
        return (seconds / rows) * 1_000_000;
      };
      await put(million);
      await secondsToLoad(running.audiences, pathOf(million), { unique: million }); // the warm-up
      await secondsPerMillion(million);
      await put(middle);
      await secondsPerMillion(middle);
      // The storage cannot hold this file in addition to two copies of the other files.
      await removeFiles(running.stores, running.partner.prefix + pathOf(middle));
      await put(small);
      await put(large);
      const pairs: Pair[] = [];
      for (let time = 0; time < 2; time++) {
        pairs.push({ inlet: await secondsPerMillion(large), yardstick: await secondsPerMillion(small) });
      }
      const points = Array.from(
        Map.groupBy(rates, ({ x }) => x),
        ([x, some]) => ({ x, y: Math.round(median(some.map(({ y }) => y))) }),
      ).toSorted((a, b) => a.x - b.x);
      const notes = points.map(
        ({ x, y }) => `${x.toLocaleString('en')} rows: ${y.toLocaleString('en')} rows per second`,
      );
      return { pairs, rows: large, notes, series: [{ name: 'Inlet', points }] };
    }),
};
