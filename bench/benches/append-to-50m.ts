import { alternate, type Bench } from '../bench.ts';
import { putFile, putFiles } from '../files.ts';
import { loaded, secondsToAppend } from '../load.ts';
import { scaled } from '../scale.ts';
import { withService } from '../service.ts';
import { waitUntilIdle, createKnownDevices } from '../warehouse.ts';

const files = 5;
const rowsOfFile = scaled(10_000_000);
const members = files * rowsOfFile;
const rows = scaled(100_000);

export const bench: Bench = {
  title: 'Append 100,000 new devices to an audience of 50 million, compared with an empty audience',
  compares:
    'Both sides measure Inlet, from the PATCH request until status 2, with 20 million known devices. The empty audience contains one device, because an audience is created from a file.',
  goal: 1.5,
  run: async (printLine) =>
    withService('one', async (running) => {
      const { audiences } = running;
      printLine('creating the known devices and the files, and filling the audience …');
      await createKnownDevices(running, { from: 0, count: rowsOfFile * 2 });
      await putFiles(running, 'large/', '.csv.gz', { files, rowsOfFile });
      await putFile(running, 'one.csv', { from: 0, count: 1 });
      const { audienceId: large } = await audiences.create('large', 'large/');
      await loaded(audiences, large, { unique: members });
      const pathOf = (round: number): string => `new/${round}.csv.gz`;
      const pairs = await alternate(5, printLine, {
        inlet: async (round) => {
          await putFile(running, pathOf(round), { from: members + round * rows, count: rows });
          await waitUntilIdle(running);
          return secondsToAppend(audiences, large, pathOf(round), { unique: members + (round + 1) * rows });
        },
        yardstick: async (round) => {
          const { audienceId: empty } = await audiences.create('empty', 'one.csv');
          await loaded(audiences, empty, { unique: 1 });
          await waitUntilIdle(running);
          return secondsToAppend(audiences, empty, pathOf(round), { unique: rows + 1 });
        },
      });
      return { pairs, rows };
    }),
};
