import { cpuOfEngine, cpuOfProcess } from '../../test/support/cpu-time.ts';
import { alternate, type Bench } from '../bench.ts';
import { secondsToLoad } from '../load.ts';
import { withService } from '../service.ts';
import { prepareTenMillion, tenMillion } from '../ten-million.ts';
import { deleteMembers } from '../warehouse.ts';

const path = 'members.csv.gz';

export const bench: Bench = {
  title: 'CPU time of the worker during a load of 10 million gzipped rows, compared with ClickHouse',
  compares:
    'Inlet: the user and system time of all threads of the worker process. Yardstick: the CPU time that ClickHouse reports for the statements of the same load, without merges.',
  goal: 0.1,
  run: async (printLine) =>
    withService('one', async (running) => {
      const { service, stores, audiences } = running;
      printLine('creating the known devices and the file …');
      await prepareTenMillion(running, path);
      let ofEngine = 0;
      const pairs = await alternate(5, printLine, {
        inlet: async () => {
          await deleteMembers(running);
          const pid = service.worker.pid ?? 0;
          const before = { worker: cpuOfProcess(pid), engine: await cpuOfEngine(stores.config) };
          await secondsToLoad(audiences, path, tenMillion);
          const ofWorker = cpuOfProcess(pid) - before.worker;
          ofEngine = (await cpuOfEngine(stores.config)) - before.engine;
          return ofWorker;
        },
        yardstick: () => Promise.resolve(ofEngine),
      });
      return { pairs, rows: tenMillion.rows };
    }),
};
