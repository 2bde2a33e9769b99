import { alternate, type Bench } from '../bench.ts';
import { putFiles } from '../files.ts';
import { secondsToLoad } from '../load.ts';
import { enginePeak, workerPeak } from '../memory.ts';
import { scaled } from '../scale.ts';
import { withService } from '../service.ts';
import { prepareTenMillion, tenMillion } from '../ten-million.ts';
import { forgetMembers } from '../warehouse.ts';

const path = 'members.csv.gz';
/** More than are in flight, so that sixteen are for a while. */
const files = 20;
const rowsOfFile = scaled(2_000_000);
const mostOfEngine = 1024;
const mostOfWorker = 300;

export const bench: Bench = {
  title: 'Peak memory of the engine in a load, and of a worker with 16 files in flight',
  compares:
    'Inlet: a load of 10 million rows, then 20 gzipped files of 2 million rows each under a prefix; a statement of the engine may take 1 GiB, the worker process 300 MiB. The ratio is peak ÷ what it may take, of the one that is nearer to it. Three rounds.',
  unit: 'mebibytes',
  goal: 1,
  run: async (say) =>
    withService(
      'one',
      async (running) => {
        const { audiences } = running;
        say('making the known devices and the files …');
        await prepareTenMillion(running, path);
        await putFiles(running, 'many/', '.csv.gz', { files, rowsOfFile });
        const notes: string[] = [];
        let limit = mostOfEngine;
        const pairs = await alternate(3, say, {
          inlet: async (round) => {
            await forgetMembers(running);
            const start = new Date();
            await secondsToLoad(audiences, path, tenMillion);
            const worker = await workerPeak(running, () =>
              secondsToLoad(audiences, 'many/', { unique: files * rowsOfFile }),
            );
            const engine = await enginePeak(running, start);
            if (round > 0)
              notes.push(`engine ${engine} of ${mostOfEngine} MiB, worker ${worker} of ${mostOfWorker} MiB`);
            const isEngineNearer = engine / mostOfEngine > worker / mostOfWorker;
            limit = isEngineNearer ? mostOfEngine : mostOfWorker;
            return isEngineNearer ? engine : worker;
          },
          yardstick: () => Promise.resolve(limit),
        });
        return { pairs, rows: tenMillion.rows + files * rowsOfFile, notes };
      },
      { INLET_WORKER_FILES: '16', INLET_FILES_OUT_PER_LANE: '16' },
    ),
};
