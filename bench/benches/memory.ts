import { alternate, type Bench } from '../bench.ts';
import { putFiles } from '../files.ts';
import { secondsToLoad } from '../load.ts';
import { enginePeak, workerPeak } from '../memory.ts';
import { scaled } from '../scale.ts';
import { withService } from '../service.ts';
import { prepareTenMillion, tenMillion } from '../ten-million.ts';
import { deleteMembers } from '../warehouse.ts';

const path = 'members.csv.gz';
/** More than sixteen, so that sixteen files stay in flight for a while. */
const files = 20;
const rowsOfFile = scaled(2_000_000);
const engineLimit = 1024;
const workerLimit = 300;

export const bench: Bench = {
  title: 'Peak memory of ClickHouse during a load, and of a worker that loads 16 files in parallel',
  compares:
    'Inlet: a load of 10 million rows, then 20 gzipped files of 2 million rows each under a prefix. The limits are 1 GiB for a ClickHouse statement and 300 MiB for the worker process. The ratio is the peak divided by the limit, for the process that is closer to its limit. There are three rounds.',
  unit: 'mebibytes',
  goal: 1,
  run: async (printLine) =>
    withService(
      'one',
      async (running) => {
        const { audiences } = running;
        printLine('creating the known devices and the files …');
        await prepareTenMillion(running, path);
        await putFiles(running, 'many/', '.csv.gz', { files, rowsOfFile });
        const notes: string[] = [];
        let limit = engineLimit;
        const pairs = await alternate(3, printLine, {
          inlet: async (round) => {
            await deleteMembers(running);
            const start = new Date();
            await secondsToLoad(audiences, path, tenMillion);
            const worker = await workerPeak(running, () =>
              secondsToLoad(audiences, 'many/', { unique: files * rowsOfFile }),
            );
            const engine = await enginePeak(running, start);
            if (round > 0)
              notes.push(`ClickHouse ${engine} of ${engineLimit} MiB, worker ${worker} of ${workerLimit} MiB`);
            const isEngineNearer = engine / engineLimit > worker / workerLimit;
            limit = isEngineNearer ? engineLimit : workerLimit;
            return isEngineNearer ? engine : worker;
          },
          yardstick: () => Promise.resolve(limit),
        });
        return { pairs, rows: tenMillion.rows + files * rowsOfFile, notes };
      },
      { INLET_WORKER_FILES: '16', INLET_FILES_OUT_PER_LANE: '16' },
    ),
};
