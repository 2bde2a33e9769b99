import { alternate, median, secondsOf, type Bench } from '../bench.ts';
import { putFile, putFiles } from '../files.ts';
import { loaded } from '../load.ts';
import { scaled } from '../scale.ts';
import { withService } from '../service.ts';
import { deleteMembers } from '../warehouse.ts';

const files = 5;
const rowsOfFile = scaled(10_000_000);
const members = files * rowsOfFile;

export const bench: Bench = {
  title: 'Clear an audience of 50 million devices, compared with an empty audience',
  compares:
    'Both sides measure only the HTTP request to Inlet. Because the audience must be refilled before each clear, there are only three pairs.',
  goal: 'at most 50 ms more',
  run: async (printLine) =>
    withService('two', async (running) => {
      const { audiences } = running;
      printLine('creating the files …');
      await putFiles(running, 'large/', '.csv.gz', { files, rowsOfFile });
      await putFile(running, 'one.csv', { from: 0, count: 1 });
      const { audienceId: empty } = await audiences.create('empty', 'one.csv');
      await loaded(audiences, empty, { unique: 1 });
      await audiences.clear(empty);
      const pairs = await alternate(3, printLine, {
        inlet: async () => {
          await deleteMembers(running);
          const { audienceId } = await audiences.create('large', 'large/');
          await loaded(audiences, audienceId, { unique: members });
          const seconds = await secondsOf(() => audiences.clear(audienceId));
          const { unique_devices, file } = await audiences.get(audienceId);
          if (unique_devices !== 0 || file.length !== 0) throw new Error('not empty');
          return seconds;
        },
        yardstick: () => secondsOf(() => audiences.clear(empty)),
      });
      const more = pairs.map(({ inlet, yardstick }) => Math.round((inlet - yardstick) * 1000));
      const notes = [`milliseconds more than an empty audience: ${more.join(', ')}`];
      return { pairs, rows: members, notes, isReached: median(more) <= 50 };
    }),
};
