import type { Logger } from 'pino';
import { migrateEngine } from '../adapters/clickhouse/migrate.ts';
import { assignShardIdentities } from '../adapters/clickhouse/topology.ts';
import { migrationFolder } from '../adapters/migration-files.ts';
import { migratePostgres } from '../adapters/postgres/db/migrate.ts';
import { underMigrationLock } from '../adapters/postgres/db/migration-lock.ts';
import { recordTopology, requireRecordedTopology, requireUnownedShards } from '../usecases/admin/topology.ts';
import type { Config } from './config.ts';
import { withTopology } from './connect-engine.ts';
import { prepareNotifications, prepareUploads, recordSharedBucket } from './shared-bucket.ts';
import { engineTlsOf } from './store-tls-settings.ts';

/**
 * Migrates both databases under one lock. Returns the names of the applied migrations. The first run records the
 * topology. Later runs first compare the topology with the record, because an added or swapped shard would cause
 * devices to be stored twice.
 */
export async function migrate(config: Config, log: Logger): Promise<string[]> {
  return underMigrationLock(config.INLET_POSTGRES_URL, async (client) => {
    const control = await migratePostgres(client, {
      url: config.INLET_POSTGRES_URL,
      folder: migrationFolder('postgres'),
      apiRole: config.INLET_API_ROLE,
      log,
    });
    const data = await withTopology(config, log, async ({ db, engine, ...deps }) => {
      const isRecorded = (await deps.topology.read()).length > 0;
      await (isRecorded ? requireRecordedTopology(deps) : requireUnownedShards(deps));
      const ran = await migrateShards(config);
      if (!isRecorded) {
        await assignShardIdentities(engine);
        await recordTopology(deps);
      }
      await recordSharedBucket(config, db, log);
      await prepareUploads(config, log);
      await prepareNotifications(config, log);
      return ran;
    });
    return [...control.map((name) => `postgres/${name}`), ...data.map((name) => `clickhouse/${name}`)];
  });
}

/** Creates the database on a new server and runs the pending migrations on every server. */
export function migrateShards(config: Config, { replicatesTables = false } = {}): Promise<string[]> {
  return migrateEngine({
    replicatesTables,
    shards: config.INLET_CLICKHOUSE_URLS,
    database: config.INLET_CLICKHOUSE_DATABASE,
    cluster: config.INLET_CLICKHOUSE_CLUSTER,
    folder: migrationFolder('clickhouse'),
    tls: engineTlsOf(config),
  });
}
