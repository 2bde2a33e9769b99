import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import type { Secret } from '../../domain/secret.ts';
import { pendingMigrations, readMigrationFiles } from '../migration-files.ts';

/** What goes wrong is thrown; the client need not print it as well. */
const log = { level: ClickHouseLogLevel.OFF };

export type EngineMigration = {
  readonly urls: readonly Secret[];
  readonly database: string;
  readonly cluster: string;
  readonly folder: string;
};

/**
 * Runs what is missing on each shard, one after the other, so that a new shard gets everything. The engine has no
 * transactions: every statement can be run again. The caller holds the lock (in PostgreSQL).
 */
export async function migrateEngine(options: EngineMigration): Promise<string[]> {
  const files = await readMigrationFiles(options.folder);
  const variables = { cluster: options.cluster, on_cluster: '', replicated: '' };
  const ran = new Set<string>();
  for (const url of options.urls) {
    const shard = await openDatabase(url, options.database);
    try {
      for (const file of pendingMigrations(files, await migrationsDone(shard))) {
        for (const statement of splitStatements(fillVariables(file.text, variables))) {
          await shard.command({ query: statement });
        }
        await shard.insert({
          table: 'schema_migration',
          values: [{ name: file.name, checksum: file.checksum }],
          format: 'JSONEachRow',
          clickhouse_settings: { async_insert: 0 },
        });
        ran.add(file.name);
      }
    } finally {
      await shard.close();
    }
  }
  return [...ran];
}

async function openDatabase(url: Secret, database: string): Promise<ClickHouseClient> {
  if (!/^[a-z_][a-z0-9_]*$/.test(database)) throw new Error(`"${database}" is no name for a database`);
  const server = createClient({ url: url.reveal(), log });
  try {
    await server.command({ query: `CREATE DATABASE IF NOT EXISTS ${database}` });
  } finally {
    await server.close();
  }
  return createClient({ url: url.reveal(), database, log });
}

async function migrationsDone(shard: ClickHouseClient): Promise<Map<string, string>> {
  await shard.command({
    query: `CREATE TABLE IF NOT EXISTS schema_migration (name String, checksum String, ran_at DateTime DEFAULT now())
      ENGINE = MergeTree ORDER BY name`,
  });
  const result = await shard.query({ query: 'SELECT name, checksum FROM schema_migration', format: 'JSONEachRow' });
  const rows = await result.json<{ name: string; checksum: string }>();
  return new Map(rows.map(({ name, checksum }) => [name, checksum]));
}

/** Splits a migration into statements: each ends with a semicolon at the end of a line; comment lines are left out. */
export function splitStatements(text: string): string[] {
  return text
    .split('\n')
    .filter((line) => !line.trimStart().startsWith('--'))
    .join('\n')
    .split(/;[ \t]*(?:\n|$)/)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
}

/** Puts the cluster's words into a migration. A variable that is not known is a mistake in the file. */
export function fillVariables(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$\{(\w+)\}/g, (_match, name: string) => {
    const value = variables[name];
    if (value === undefined) throw new Error(`the migration uses an unknown variable \${${name}}`);
    return value;
  });
}
