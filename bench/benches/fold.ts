import { indexTables } from '../../src/adapters/clickhouse/migration-sql.ts';
import { cpuOfEngine } from '../../test/support/cpu-time.ts';
import { commandOnShards } from '../../test/support/shard-tables.ts';
import { alternate, type Bench, median, secondsOf } from '../bench.ts';
import { secondsToLoad } from '../load.ts';
import { withService } from '../service.ts';
import { prepareTenMillion, tenMillion } from '../ten-million.ts';
import { deleteMembers, waitUntilFolded } from '../warehouse.ts';

const path = 'members.csv.gz';

export const bench: Bench = {
  title: 'CPU time for folding an audience of 10 million devices into the device index, compared with loading it',
  compares:
    'Inlet: the CPU time that ClickHouse reports from status 2 until the index is up to date. Yardstick: the CPU time that it reports for the load, until status 2.',
  goal: 0.3,
  run: async (printLine) =>
    withService('one', async (running) => {
      const { stores, audiences } = running;
      printLine('creating the known devices and the file …');
      await prepareTenMillion(running, path);
      let ofFold = 0;
      const lags: number[] = [];
      const pairs = await alternate(5, printLine, {
        yardstick: () => Promise.resolve(ofFold),
        inlet: async () => {
          await deleteMembers(running);
          // Devices without a number cost more to fold, so every round starts without numbers.
          for (const table of indexTables) await commandOnShards(stores, `TRUNCATE TABLE ${table}`);
          const before = await cpuOfEngine(stores.config);
          await secondsToLoad(audiences, path, tenMillion);
          const loaded = await cpuOfEngine(stores.config);
          lags.push(await secondsOf(() => waitUntilFolded(running)));
          ofFold = (await cpuOfEngine(stores.config)) - loaded;
          return loaded - before;
        },
      });
      // Half of the numbers remain, so the devices are joined with the numbers twice.
      await deleteMembers(running);
      await commandOnShards(
        stores,
        'ALTER TABLE device_numbers_local DELETE WHERE number % 2 = 0 SETTINGS mutations_sync = 2',
      );
      const before = await cpuOfEngine(stores.config);
      await secondsToLoad(audiences, path, tenMillion);
      const loaded = await cpuOfEngine(stores.config);
      await waitUntilFolded(running);
      const ofHalf = ((await cpuOfEngine(stores.config)) - loaded) / (loaded - before);
      const inverted = pairs.map(({ inlet, yardstick }) => ({ inlet: yardstick, yardstick: inlet }));
      const notes = [
        `lag after status 2: ${median(lags.slice(1)).toFixed(1)} s (goal: ≤ 10 s)`,
        `all devices are new to the index. If half of them are: ${ofHalf.toFixed(2)} (one round)`,
      ];
      return { pairs: inverted, rows: tenMillion.rows, notes };
    }),
};
