import { fileURLToPath } from 'node:url';
import type { Logger } from 'pino';
import { migrateEngine } from '../adapters/clickhouse/migrate.ts';
import { migratePostgres, underMigrationLock } from '../adapters/postgres/db/migrate.ts';
import type { Config } from './config.ts';

export function migrationFolder(store: 'postgres' | 'clickhouse'): string {
  return fileURLToPath(new URL(`../../migrations/${store}`, import.meta.url));
}

/** Migrates both databases under one lock. Returns the names of the applied migrations. */
export async function migrate(config: Config, log: Logger): Promise<string[]> {
  return underMigrationLock(config.INLET_POSTGRES_URL, async (client) => {
    const control = await migratePostgres(client, {
      url: config.INLET_POSTGRES_URL,
      folder: migrationFolder('postgres'),
      apiRole: config.INLET_API_ROLE,
      log,
    });
    const data = await migrateEngine({
      urls: config.INLET_CLICKHOUSE_URLS,
      database: config.INLET_CLICKHOUSE_DATABASE,
      cluster: config.INLET_CLICKHOUSE_CLUSTER,
      folder: migrationFolder('clickhouse'),
    });
    return [...control.map((name) => `postgres/${name}`), ...data.map((name) => `clickhouse/${name}`)];
  });
}
