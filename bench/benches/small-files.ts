import { alternate, type Bench } from '../bench.ts';
import { putFile, putFiles } from '../files.ts';
import { secondsToLoad } from '../load.ts';
import { scaled } from '../scale.ts';
import { withService } from '../service.ts';
import { deleteMembers } from '../warehouse.ts';

const files = scaled(1000);
const rowsOfFile = 5000;
const rows = files * rowsOfFile;

export const bench: Bench = {
  title: 'Load 1,000 files of 5,000 rows under a prefix, compared with one file of 5,000,000 rows',
  compares:
    'Both sides measure how long Inlet takes to create an audience until status 2. The yardstick is the audience from one file.',
  goal: 1.5,
  run: async (printLine) =>
    withService('one', async (running) => {
      printLine('creating the files …');
      await putFile(running, 'one/all.csv', { from: 0, count: rows });
      await putFiles(running, 'many/', '.csv', { files, rowsOfFile });
      const load = (path: string) => async (): Promise<number> => {
        await deleteMembers(running);
        return secondsToLoad(running.audiences, path, { unique: rows });
      };
      const pairs = await alternate(5, printLine, { inlet: load('many/'), yardstick: load('one/all.csv') });
      return { pairs, rows };
    }),
};
