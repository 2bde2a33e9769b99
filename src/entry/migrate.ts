import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import { type Engine, closeEngine, connectEngine } from '../adapters/clickhouse/connect.ts';
import { migrateEngine } from '../adapters/clickhouse/migrate.ts';
import { assignShardIdentities, clickhouseTopology } from '../adapters/clickhouse/topology.ts';
import { connectPostgres } from '../adapters/postgres/db/connect.ts';
import { migratePostgres, underMigrationLock } from '../adapters/postgres/db/migrate.ts';
import { postgresTopologyStore } from '../adapters/postgres/topology-store.ts';
import { Failure } from '../domain/failure.ts';
import { type TopologyDeps, checkTopology, recordTopology } from '../usecases/admin/topology.ts';
import type { Config } from './config.ts';

export function migrationFolder(store: 'postgres' | 'clickhouse'): string {
  return fileURLToPath(new URL(`../../migrations/${store}`, import.meta.url));
}

/**
 * Migrates both databases under one lock. Returns the names of the applied migrations. The first run records the topology.
 * Later runs compare it first, because a shard that is added or swapped would store devices twice.
 */
export async function migrate(config: Config, log: Logger): Promise<string[]> {
  return underMigrationLock(config.INLET_POSTGRES_URL, async (client) => {
    const control = await migratePostgres(client, {
      url: config.INLET_POSTGRES_URL,
      folder: migrationFolder('postgres'),
      apiRole: config.INLET_API_ROLE,
      log,
    });
    const data = await withTopology(config, log, async ({ engine, ...deps }) => {
      const isRecorded = (await deps.topology.read()).length > 0;
      const differences = isRecorded ? await checkTopology(deps) : [];
      if (differences.length > 0) throw new Failure('topology_mismatch', differences.join(' '));
      const ran = await migrateShards(config);
      if (!isRecorded) {
        await assignShardIdentities(engine);
        await recordTopology(deps);
      }
      return ran;
    });
    return [...control.map((name) => `postgres/${name}`), ...data.map((name) => `clickhouse/${name}`)];
  });
}

/** Creates the database on a new shard and runs the pending migrations of every shard. */
export function migrateShards(config: Config): Promise<string[]> {
  return migrateEngine({
    urls: config.INLET_CLICKHOUSE_URLS,
    database: config.INLET_CLICKHOUSE_DATABASE,
    cluster: config.INLET_CLICKHOUSE_CLUSTER,
    folder: migrationFolder('clickhouse'),
  });
}

/** Connects to the record of the topology and to the configured shards. */
export async function withTopology<T>(
  config: Config,
  log: Logger,
  run: (deps: TopologyDeps & { readonly engine: Engine }) => Promise<T>,
): Promise<T> {
  const db = connectPostgres({ url: config.INLET_POSTGRES_URL, name: 'inlet-topology', maxConnections: 1, log });
  const engine = connectEngine({
    urls: config.INLET_CLICKHOUSE_URLS,
    database: config.INLET_CLICKHOUSE_DATABASE,
    cluster: config.INLET_CLICKHOUSE_CLUSTER,
    name: 'inlet-topology',
  });
  try {
    return await run({ topology: postgresTopologyStore(db), engineTopology: clickhouseTopology(engine), engine });
  } finally {
    await closeEngine(engine);
    await db.destroy();
  }
}
