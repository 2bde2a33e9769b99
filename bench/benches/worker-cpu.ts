import { cpuOfEngine, cpuOfProcess } from '../../test/support/cpu-time.ts';
import { alternate, type Bench } from '../bench.ts';
import { secondsToLoad } from '../load.ts';
import { withService } from '../service.ts';
import { prepareTenMillion, tenMillion } from '../ten-million.ts';
import { forgetMembers } from '../warehouse.ts';

const path = 'members.csv.gz';

export const bench: Bench = {
  title: 'Processor time of the worker in a load of 10 million gzipped rows, against that of the engine',
  compares:
    'Inlet: user and system time of the worker process, all its threads. Yardstick: what the engine says it spent on its statements in the same load, merges not included.',
  goal: 0.1,
  run: async (say) =>
    withService('one', async (running) => {
      const { service, stores, audiences } = running;
      say('making the known devices and the file …');
      await prepareTenMillion(running, path);
      let ofEngine = 0;
      const pairs = await alternate(5, say, {
        inlet: async () => {
          await forgetMembers(running);
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
