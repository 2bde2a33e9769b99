import { clickhouseKnownDevicesRebuild } from '../adapters/clickhouse/known-devices.ts';
import { underMigrationLock } from '../adapters/postgres/db/migration-lock.ts';
import { postgresKnownDevicesStore } from '../adapters/postgres/known-devices-store.ts';
import { type RebuiltDevices, rebuildKnownDevices } from '../usecases/admin/rebuild-known-devices.ts';
import { requireRecordedTopology } from '../usecases/admin/topology.ts';
import { type Config, readConfig } from './config.ts';
import { withTopology } from './connect-engine.ts';
import { createLogger } from './logging.ts';

/** Runs under the lock that migrations and backups use, because the rebuild creates, swaps, and drops tables. */
export async function rebuild(config: Config = readConfig()): Promise<RebuiltDevices> {
  const log = createLogger({ name: 'inlet-known-devices', level: 'silent' });
  return underMigrationLock(config.INLET_POSTGRES_URL, () =>
    withTopology(config, log, async ({ db, engine, ...topology }) => {
      await requireRecordedTopology(topology);
      const deps = {
        knownDevices: clickhouseKnownDevicesRebuild(engine),
        knownDevicesStore: postgresKnownDevicesStore(db, config.INLET_POSTGRES_URL),
      };
      return rebuildKnownDevices(deps, new AbortController().signal);
    }),
  );
}
