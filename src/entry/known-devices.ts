import { sql } from 'kysely';
import { clickhouseKnownDevicesRebuild, finishInterruptedSwap } from '../adapters/clickhouse/known-devices.ts';
import { noteKnownDevices } from '../adapters/postgres/index-store.ts';
import { underMigrationLock } from '../adapters/postgres/db/migrate.ts';
import { rebuildKnownDevices } from '../usecases/admin/rebuild-known-devices.ts';
import { requireRecordedTopology } from '../usecases/admin/topology.ts';
import { type Config, readConfig } from './config.ts';
import { withTopology } from './connect-engine.ts';
import { createLogger } from './logging.ts';

/** Runs under the lock that migrations and backups use, because the rebuild creates, swaps, and drops tables. */
export async function rebuild(config: Config = readConfig()): Promise<{ before: number; after: number }> {
  const log = createLogger({ name: 'inlet-known-devices', level: 'silent' });
  return underMigrationLock(config.INLET_POSTGRES_URL, () =>
    withTopology(config, log, async ({ db, engine, ...topology }) => {
      await finishInterruptedSwap(engine);
      await requireRecordedTopology(topology);
      return rebuildKnownDevices({
        knownDevices: clickhouseKnownDevicesRebuild(engine),
        advanceKnownDevices: async () => {
          await sql`SELECT nextval('known_devices_version')`.execute(db);
          await noteKnownDevices(db);
        },
      });
    }),
  );
}
