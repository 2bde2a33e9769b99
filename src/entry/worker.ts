import { requeueLostTokens } from '../adapters/postgres/queue/token-recovery.ts';
import { type WorkHandlers, startWork, stopWork } from '../adapters/postgres/queue/tokens.ts';
import { startWorkerLiveness } from '../adapters/postgres/queue/worker-liveness.ts';
import {
  sweepStages,
  forgetAcceptedRequests,
  forgetEverySeconds,
  measureUsage,
  orphansEverySeconds,
  purgeGenerations,
  requeueIdleLanes,
  sweepRequestWindows,
  usageEverySeconds,
  wakeEverySeconds,
  windowsEverySeconds,
} from '../usecases/admin/maintenance.ts';
import { removeExpiredStorageKeys, removeStorageKeysEverySeconds } from '../usecases/access/manage-storage-keys.ts';
import { removeExpiredRecords, retentionTriedEverySeconds } from '../usecases/admin/retention.ts';
import { forgetTriedEverySeconds, forgetUnheldDevices } from '../usecases/admin/rebuild-known-devices.ts';
import { foldEverySeconds, foldIndex } from '../usecases/index/fold-index.ts';
import { refreshMatched, refreshMatchedEverySeconds } from '../usecases/index/refresh-matched.ts';
import { pause } from '../usecases/admin/pause.ts';
import { matchesTopology } from '../usecases/admin/topology.ts';
import { runLane } from '../usecases/lane/run-lane.ts';
import { abandonBatch, loadBatch } from '../usecases/load/load-batch.ts';
import { removeUnseenDevices, removeUnseenEverySeconds } from '../usecases/privacy/remove-unseen-devices.ts';
import { runErasures, runErasuresEveryMs } from '../usecases/privacy/run-erasures.ts';
import { exportRejects, exportRejectsEveryMs } from '../usecases/rejects/export-rejects.ts';
import {
  computeReports,
  computeReportsEveryMs,
  removeExpiredReportsEverySeconds,
} from '../usecases/report/compute-reports.ts';
import {
  arrivalLister,
  listArrivalsEveryMs,
  removeExpiredObjects,
  removeExpiredObjectsEverySeconds,
} from '../usecases/subscription/list-arrivals.ts';
import { dispatchEveryMs, dispatchPauseMs, eventDispatcher } from '../usecases/webhook/deliver-events.ts';
import { readConfig } from './config.ts';
import { createLogger } from './logging.ts';
import { startNotifications } from './notifications.ts';
import { repeat } from './repeat.ts';
import { stopInOrder } from './shutdown.ts';
import { wireWorker } from './wire-worker.ts';

const config = readConfig();
const log = createLogger({ name: 'inlet-worker', level: config.INLET_LOG_LEVEL });
const wired = await wireWorker(config, log);
const deps = {
  ...wired,
  log,
  maxBatchesPerLane: config.INLET_FILES_OUT_PER_LANE,
  stepsPerTurn: 10,
  purgeWaitSeconds: config.INLET_PURGE_WAIT_HOURS * 3600,
  rebuildDays: config.INLET_KNOWN_DEVICES_DAYS,
};
const liveness = startWorkerLiveness({ url: config.INLET_POSTGRES_URL, log });
const handBack = new AbortController();
const recoverTokensMilliseconds = 500;
const whileTopologyMatches = async (sweep: () => Promise<void>): Promise<void> => {
  await deps.requireTopology();
  await sweep();
};
const dispatcher = eventDispatcher(deps);
const arrivals = arrivalLister(deps);
const sweepers = [
  repeat(
    dispatchEveryMs,
    async (signal) => {
      await dispatcher.dispatch();
      // A burst of notifications causes one query per pause, not one per commit.
      await pause(dispatchPauseMs, signal);
    },
    log,
    deps.newEvents,
  ),
  repeat(listArrivalsEveryMs, () => arrivals.list(), log),
  repeat(removeExpiredObjectsEverySeconds * 1000, () => removeExpiredObjects(deps), log),
  repeat(recoverTokensMilliseconds, () => requeueLostTokens(deps, liveness), log),
  repeat(wakeEverySeconds * 1000, () => requeueIdleLanes(deps), log),
  repeat(orphansEverySeconds * 1000, () => whileTopologyMatches(() => sweepStages(deps)), log),
  repeat(windowsEverySeconds * 1000, () => sweepRequestWindows(deps), log),
  repeat(forgetEverySeconds * 1000, () => forgetAcceptedRequests(deps), log),
  repeat(usageEverySeconds * 1000, () => whileTopologyMatches(() => measureUsage(deps)), log),
  repeat(foldEverySeconds * 1000, (signal) => whileTopologyMatches(() => foldIndex(deps, signal)), log),
  repeat(refreshMatchedEverySeconds * 1000, (signal) => whileTopologyMatches(() => refreshMatched(deps, signal)), log),
  repeat(
    computeReportsEveryMs,
    (signal) => whileTopologyMatches(() => computeReports(deps, signal)),
    log,
    deps.requestedReports,
  ),
  repeat(exportRejectsEveryMs, (signal) => whileTopologyMatches(() => exportRejects(deps, signal)), log),
  repeat(runErasuresEveryMs, (signal) => whileTopologyMatches(() => runErasures(deps, signal)), log),
  repeat(
    removeUnseenEverySeconds * 1000,
    (signal) => whileTopologyMatches(() => removeUnseenDevices(deps, signal)),
    log,
  ),
  repeat(removeExpiredReportsEverySeconds * 1000, () => deps.reports.removeExpired(), log),
  repeat(removeExpiredReportsEverySeconds * 1000, (signal) => deps.events.removeExpired(signal), log),
  repeat(removeStorageKeysEverySeconds * 1000, () => removeExpiredStorageKeys(deps), log),
  repeat(retentionTriedEverySeconds * 1000, (signal) => removeExpiredRecords(deps, signal), log),
  repeat(
    forgetTriedEverySeconds * 1000,
    (signal) => whileTopologyMatches(() => forgetUnheldDevices(deps, signal)),
    log,
  ),
  repeat(
    config.INLET_PURGE_SECONDS * 1000,
    (signal) => whileTopologyMatches(() => purgeGenerations(deps, signal)),
    log,
  ),
];
const handlers = deps.failpoints.wrapPort(
  'work',
  deps.observability.instrumentWork({
    runLane: async (token, signal) => {
      await deps.requireTopology();
      await runLane(deps, token, signal);
    },
    loadBatch: async (batchId, signal) => {
      await deps.requireTopology();
      await loadBatch(deps, batchId, signal);
    },
    abandonBatch: (batchId) => abandonBatch(deps, batchId),
  } satisfies WorkHandlers),
);
const slots = { lanes: config.INLET_WORKER_LANES, files: config.INLET_WORKER_FILES };
let isWorking: boolean | null = null;
// A worker with the wrong shards claims no tokens, because it could keep them from the other workers. While a server is
// unavailable, the result of the last check stays valid. A worker without a previous result starts anyway, and its work
// waits for the server.
const followTopology = async (): Promise<void> => {
  const matches = (await matchesTopology(deps.requireTopology)) ?? isWorking ?? true;
  if (matches === isWorking) return;
  await stopWork(deps.boss);
  if (matches) await startWork({ ...deps, liveness, handBack: handBack.signal }, handlers, slots);
  isWorking = matches;
};
const notifications = await startNotifications(config, deps, log);
await followTopology();
sweepers.push(repeat(config.INLET_TOPOLOGY_SECONDS * 1000, followTopology, log));
// Start this server last, so that a response from `/live` means that the worker is running.
await deps.observability.serve();
// Work that would exceed the grace period is handed over to another worker. The handover starts early enough to be
// recorded.
const finishMilliseconds = Math.max(1, config.INLET_SHUTDOWN_GRACE_SECONDS - 10) * 1000;
const handBackMilliseconds = 5_000;
const finish = async (): Promise<void> => {
  const late = setTimeout(() => handBack.abort(), finishMilliseconds);
  await deps.boss.stop({ graceful: true, timeout: finishMilliseconds + handBackMilliseconds, close: false });
  clearTimeout(late);
};
stopInOrder(log, config.INLET_SHUTDOWN_GRACE_SECONDS, [
  [
    ...sweepers.map((sweeper) => ({ name: 'stop sweepers', run: () => sweeper.stop() })),
    { name: 'finish lanes and files', run: finish },
    { name: 'finish sending events', run: dispatcher.stop },
    { name: 'finish listing arrivals', run: arrivals.stop },
    { name: 'stop receiving notifications', run: async () => notifications?.close() },
  ],
  [{ name: 'close liveness connection', run: () => liveness.close() }],
  [{ name: 'close connections', run: () => deps.close() }],
]);
log.info({ lanes: config.INLET_WORKER_LANES, files: config.INLET_WORKER_FILES }, 'working');
