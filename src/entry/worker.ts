import { startWork } from '../adapters/postgres/work.ts';
import { giveUpBatch, loadBatch } from '../usecases/load-batch.ts';
import { purgeEverySeconds, purgeGenerations } from '../usecases/purge-generations.ts';
import { runLane } from '../usecases/run-lane.ts';
import { dropOrphanedStages, orphansEverySeconds, wakeEverySeconds, wakeLanes } from '../usecases/sweep.ts';
import { readConfig } from './config.ts';
import { createLogger } from './logging.ts';
import { repeat } from './repeat.ts';
import { stopInOrder } from './shutdown.ts';
import { wire } from './wiring.ts';

const config = readConfig();
const log = createLogger({ name: 'inlet-worker', level: config.INLET_LOG_LEVEL });
const wired = await wire(config, { name: 'inlet-worker', boss: 'work' }, log);
const deps = { ...wired, log, filesOutPerLane: config.INLET_FILES_OUT_PER_LANE, stepsPerTurn: 10 };
const sweepers = [
  repeat(wakeEverySeconds * 1000, () => wakeLanes(deps), log),
  repeat(orphansEverySeconds * 1000, () => dropOrphanedStages(deps), log),
  repeat(purgeEverySeconds * 1000, (signal) => purgeGenerations(deps, signal), log),
];
await startWork(
  deps.boss,
  {
    runLane: (token, signal) => runLane(deps, token, signal),
    loadBatch: (batchId, signal) => loadBatch(deps, batchId, signal),
    giveUpBatch: (batchId) => giveUpBatch(deps, batchId),
  },
  { lanes: config.INLET_WORKER_LANES, files: config.INLET_WORKER_FILES },
  log,
);
const finishMilliseconds = Math.max(1, config.INLET_SHUTDOWN_GRACE_SECONDS - 5) * 1000;
stopInOrder(log, config.INLET_SHUTDOWN_GRACE_SECONDS, [
  sweepers.map((sweeper) => ({ name: 'stop sweeping', run: () => sweeper.stop() })),
  [
    {
      name: 'finish lanes and files',
      run: () => deps.boss.stop({ graceful: true, timeout: finishMilliseconds, close: false }),
    },
  ],
  [{ name: 'close connections', run: () => deps.close() }],
]);
log.info({ lanes: config.INLET_WORKER_LANES, files: config.INLET_WORKER_FILES }, 'working');
