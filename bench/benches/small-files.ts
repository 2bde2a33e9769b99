import { alternate, secondsOf, type Bench } from '../bench.ts';
import { memberFile, withService } from '../service.ts';

const files = 1000;
const rowsOfFile = 1000;

export const bench: Bench = {
  title: '1,000 files of 1,000 rows under a prefix, against one file of 1,000,000 rows',
  compares: 'Inlet: create an audience from the prefix, to status 2. Yardstick: Inlet with the one file.',
  goal: '≤ 2',
  run: async (say) =>
    withService('one', async (running) => {
      const { partner, audiences } = running;
      say('making and uploading the files …');
      await partner.upload('one/all.csv', await memberFile(running, { from: 0, count: files * rowsOfFile }, false));
      for (let file = 0; file < files; file += 20) {
        await Promise.all(
          Array.from({ length: 20 }, async (_, n) => {
            const numbers = { from: (file + n) * rowsOfFile, count: rowsOfFile };
            await partner.upload(
              `many/${String(file + n).padStart(4, '0')}.csv`,
              await memberFile(running, numbers, false),
            );
          }),
        );
      }
      const load = (path: string) => (): Promise<number> =>
        secondsOf(async () => {
          const { audienceId } = await audiences.create(path, path);
          const { status, unique_devices } = await audiences.settled(audienceId);
          if (status !== 2 || unique_devices !== files * rowsOfFile) throw new Error(`${status}, ${unique_devices}`);
        });
      return {
        pairs: await alternate(5, say, { inlet: load('many/'), yardstick: load('one/all.csv') }),
        rows: files * rowsOfFile,
      };
    }),
};
