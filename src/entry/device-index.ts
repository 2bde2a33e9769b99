import { setTimeout as pause } from 'node:timers/promises';
import { clickhouseDeviceIndex } from '../adapters/clickhouse/index/device-index.ts';
import { postgresIndexStore } from '../adapters/postgres/index-store.ts';
import { requireRecordedTopology } from '../usecases/admin/topology.ts';
import { foldIndex, rebuildIndex, verifyIndex } from '../usecases/index/fold-index.ts';
import { type Config, readConfig } from './config.ts';
import { withTopology } from './connect-engine.ts';
import { createLogger } from './logging.ts';

const reportEveryMs = 2_000;
/**
 * The interval at which the command checks whether changes are left. While a worker is folding, the command only waits.
 */
const pollEveryMs = 200;

/**
 * Deletes the device index and rebuilds it from the rows. Loads continue, and reports wait until the index is complete.
 * Workers also fold the changes, so the command can be stopped after its first line of progress.
 */
export async function rebuildDeviceIndex(
  report: (left: number) => void,
  config: Config = readConfig(),
): Promise<{ readonly changes: number; readonly seconds: number }> {
  const log = createLogger({ name: 'inlet-index', level: 'silent' });
  return withTopology(config, log, async ({ db, engine, ...topology }) => {
    await requireRecordedTopology(topology);
    const deps = { index: clickhouseDeviceIndex(engine), indexStore: postgresIndexStore(db), log };
    const start = performance.now();
    const changes = await rebuildIndex(deps);
    const reporting = setInterval(() => {
      deps.indexStore.countChanges().then(report, () => null);
    }, reportEveryMs);
    try {
      while (await deps.indexStore.hasChanges()) {
        await foldIndex(deps, new AbortController().signal);
        await pause(pollEveryMs);
      }
    } finally {
      clearInterval(reporting);
    }
    return { changes, seconds: (performance.now() - start) / 1000 };
  });
}

/** Returns the number of partners and audiences whose rows the index does not contain yet. */
export async function countIndexChanges(config: Config = readConfig()): Promise<number> {
  const log = createLogger({ name: 'inlet-index', level: 'silent' });
  return withTopology(config, log, ({ db }) => postgresIndexStore(db).countChanges());
}

/** Compares the device index with the rows. */
export async function verifyDeviceIndex(config: Config = readConfig()): Promise<readonly string[]> {
  const log = createLogger({ name: 'inlet-index', level: 'silent' });
  return withTopology(config, log, ({ db, engine }) =>
    verifyIndex({ index: clickhouseDeviceIndex(engine), indexStore: postgresIndexStore(db) }),
  );
}
