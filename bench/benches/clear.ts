import { alternate, secondsOf, type Bench } from '../bench.ts';
import { memberFile, withService } from '../service.ts';

const members = 10_000_000;

export const bench: Bench = {
  title: 'Clearing an audience of 10 million devices, against clearing an empty one',
  compares: 'Both over HTTP, the request alone; the audience is filled again before each clear.',
  goal: 'at most 50 ms more',
  run: async (say) =>
    withService('two', async (running) => {
      const { partner, audiences } = running;
      say('making and uploading a file of 10 million rows …');
      await partner.upload('large.csv.gz', await memberFile(running, { from: 0, count: members }, true));
      await partner.upload('empty-later.csv', await memberFile(running, { from: 0, count: 1 }, false));
      const { audienceId: large } = await audiences.create('large', 'large.csv.gz');
      const { audienceId: empty } = await audiences.create('empty', 'empty-later.csv');
      await audiences.settled(empty);
      await audiences.clear(empty);
      const pairs = await alternate(5, say, {
        inlet: async () => {
          const filled = await audiences.settled(large, 600);
          if (filled.unique_devices !== members) throw new Error(`not filled: ${JSON.stringify(filled)}`);
          const seconds = await secondsOf(() => audiences.clear(large));
          const { unique_devices, file } = await audiences.get(large);
          if (unique_devices !== 0 || file.length !== 0) throw new Error('not empty');
          await audiences.append(large, 'large.csv.gz');
          return seconds;
        },
        yardstick: () => secondsOf(() => audiences.clear(empty)),
      });
      const more = pairs.map(({ inlet, yardstick }) => Math.round((inlet - yardstick) * 1000));
      return { pairs, rows: members, notes: [`milliseconds more than an empty one: ${more.join(', ')}`] };
    }),
};
