import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import type { Secret } from '../../domain/secret.ts';
import { pendingMigrations, readMigrationFiles } from '../migration-files.ts';

/** The client does not print errors, because it throws them. */
const log = { level: ClickHouseLogLevel.OFF };

export type EngineMigration = {
  readonly urls: readonly Secret[];
  readonly database: string;
  readonly cluster: string;
  readonly folder: string;
};

/**
 * Runs the pending migrations of each shard in turn, so that a new shard gets all of them. ClickHouse has no transactions,
 * so every statement is idempotent. The caller holds the migration lock (in PostgreSQL).
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
  if (!/^[a-z_][a-z0-9_]*$/.test(database)) throw new Error(`"${database}" is not a valid database name`);
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

/** Splits a migration at semicolons that end a line. Removes comment lines. */
export function splitStatements(text: string): string[] {
  return text
    .split('\n')
    .filter((line) => !line.trimStart().startsWith('--'))
    .join('\n')
    .split(/;[ \t]*(?:\n|$)/)
    .map((statement) => statement.trim())
    .filter((statement) => statement !== '');
}

/** Replaces `${name}` variables. An unknown variable is an error in the file. */
export function fillVariables(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$\{(\w+)\}/g, (_match, name: string) => {
    const value = variables[name];
    if (value === undefined) throw new Error(`the migration uses an unknown variable \${${name}}`);
    return value;
  });
}
