import { type ClickHouseClient, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import { randomUUID } from 'node:crypto';
import { Failure } from '../../domain/failure.ts';
import type { Secret } from '../../domain/secret.ts';
import { type MigrationFile, pendingMigrations, readMigrationFiles } from '../migration-files.ts';
import { type EngineTls, selectNumber, selectRows } from './connect.ts';
import { type ReplicaPath, renderMigration, replicatedTables } from './migration-sql.ts';
import { replicateTables } from './replicate-tables.ts';

/** The client does not print errors, because it throws them. */
const log = { level: ClickHouseLogLevel.OFF };

export type EngineMigration = {
  /** The URLs of each shard's replicas. */
  readonly shards: readonly (readonly Secret[])[];
  readonly database: string;
  readonly cluster: string;
  readonly folder: string;
  readonly tls?: EngineTls | null;
  /**
   * If a shard now has several replicas, replaces its tables with replicated tables. If this option is not set, such a
   * shard causes an error.
   */
  readonly replicatesTables?: boolean;
};

/**
 * Runs the pending migrations of each shard in turn, so that a new shard gets all of them. ClickHouse has no transactions,
 * so every statement is idempotent. The caller holds the migration lock (in PostgreSQL).
 */
export async function migrateEngine(migration: EngineMigration): Promise<string[]> {
  const { shards, database, cluster, folder, replicatesTables = false, tls = null } = migration;
  const files = await readMigrationFiles(folder);
  const ran = new Set<string>();
  for (const urls of shards) {
    const clients = await Promise.all(urls.map((url) => openDatabase(url, database, tls)));
    try {
      for (const name of await migrateShard(clients, files, { cluster, replicatesTables })) ran.add(name);
    } finally {
      await Promise.all(clients.map((client) => client.close()));
    }
  }
  return [...ran];
}

type Replica = {
  readonly client: ClickHouseClient;
  /** Null if the tables of the shard are not replicated. */
  readonly path: ReplicaPath | null;
  /** The checksum of each migration that ran, by name. */
  readonly done: Map<string, string>;
};

/**
 * Runs each migration on all replicas before the next one, because a replica of a table must be created with the table's current
 * columns.
 */
async function migrateShard(
  clients: readonly ClickHouseClient[],
  files: readonly MigrationFile[],
  { cluster, replicatesTables }: { readonly cluster: string; readonly replicatesTables: boolean },
): Promise<string[]> {
  const shardPath = await findShardPath(clients, replicatesTables);
  const replicas: Replica[] = [];
  for (const client of clients) {
    const path = shardPath === null ? null : { shardPath, replicaName: await nameOf(client) };
    replicas.push({ client, path, done: await migrationsDone(client) });
  }
  const [first] = replicas;
  if (replicatesTables) await replicatePlainTables(replicas);
  await addNewReplicas(replicas);
  const ran: string[] = [];
  for (const file of files) {
    const pending = replicas.filter(({ done }) => pendingMigrations([file], done).length > 0);
    for (const replica of pending) {
      for (const { sql, runsOn } of renderMigration(file.text, cluster, replica.path)) {
        if (runsOn === 'one replica per shard' && replica !== first) continue;
        await replica.client.command({ query: sql, clickhouse_settings: { alter_sync: '2' } });
      }
      await recordMigration(replica.client, file.name, file.checksum);
    }
    if (pending.length > 0) ran.push(file.name);
  }
  return ran;
}

/**
 * Returns the path under which the replicas of a shard register their tables, or null if its tables are not replicated.
 * The path is read from the existing tables, because an interrupted migration must continue with the same path.
 */
async function findShardPath(clients: readonly ClickHouseClient[], replicatesTables: boolean): Promise<string | null> {
  const found = new Set<string | null>();
  for (const client of clients) {
    const tables = await selectRows<{ path: string }>(
      client,
      `SELECT DISTINCT extract(engine_full, '^Replicated\\\\w+\\\\(\\'([^\\']+)/\\\\w+\\'') AS path FROM system.tables
       WHERE database = currentDatabase() AND name IN ({tables: Array(String)})`,
      // An interrupted `replicateTables` leaves a table with the suffix `_replicated`.
      { tables: [...replicatedTables].flatMap((table) => [table, `${table}_replicated`]) },
    );
    for (const { path } of tables) found.add(path === '' ? null : path);
  }
  const paths = [...found].filter((path) => path !== null);
  const [path = null] = paths;
  if (paths.length > 1 || (path !== null && found.has(null) && !replicatesTables))
    throw new Failure('topology_mismatch', 'The replicas of a shard have tables of different shards.');
  if (path !== null) return path;
  if (clients.length === 1) return null;
  if (found.has(null) && !replicatesTables) {
    throw new Failure(
      'topology_mismatch',
      'A shard has several replicas, but its tables are not replicated. Run `inlet topology change --confirm` to replicate them.',
    );
  }
  return `/inlet/${randomUUID()}`;
}

/** The name of a server, which is unique among the replicas of a shard. */
async function nameOf(client: ClickHouseClient): Promise<string> {
  const [row] = await selectRows<{ name: string }>(
    client,
    `SELECT concat(hostName(), '-', toString(tcpPort())) AS name`,
  );
  if (!row || !/^[\w.-]+$/.test(row.name)) throw new Error(`"${row?.name ?? ''}" is not a valid replica name`);
  return row.name;
}

async function replicatePlainTables(replicas: readonly Replica[]): Promise<void> {
  const [source, ...others] = replicas.filter(({ done }) => done.size > 0);
  if (!source?.path) return;
  const isPlain = `SELECT toString(countIf(NOT startsWith(engine, 'Replicated'))) AS number FROM system.tables
    WHERE database = currentDatabase() AND name = 'device_attributes_local'`;
  for (const { client } of others) {
    if ((await selectNumber(client, { query: isPlain })) > 0) {
      throw new Failure(
        'topology_mismatch',
        "Two replicas of one shard each contain rows that were never replicated. Only one replica's rows can be kept.",
      );
    }
  }
  await replicateTables(source.client, source.path);
}

/**
 * Creates the tables on a replica that was added to a migrated shard. Copies their definitions from another replica.
 */
async function addNewReplicas(replicas: readonly Replica[]): Promise<void> {
  const source = replicas.find(({ done }) => done.size > 0);
  if (!source?.path) return;
  for (const added of replicas.filter(({ done }) => done.size === 0)) {
    await forgetReplica(source.client, added.path?.replicaName ?? '');
    for (const sql of await createStatements(source, added)) await added.client.command({ query: sql });
    for (const [name, checksum] of source.done) {
      await recordMigration(added.client, name, checksum);
      added.done.set(name, checksum);
    }
  }
}

/**
 * Removes the registrations that a replica made before it lost its disk. Keeps active registrations, because they
 * belong to tables that exist.
 */
async function forgetReplica(client: ClickHouseClient, name: string): Promise<void> {
  const registered = await selectRows<{ table: string }>(
    client,
    `SELECT table FROM system.replicas
     WHERE database = currentDatabase() AND mapContains(replica_is_active, {name: String})
       AND replica_is_active[{name: String}] = 0`,
    { name },
  );
  for (const { table } of registered) {
    await client.command({ query: `SYSTEM DROP REPLICA '${name}' FROM TABLE ${table}` });
  }
}

/**
 * Returns the tables before the views that read them. Omits the staging tables of loads, because they belong to one
 * replica.
 */
async function createStatements(source: Replica, { path }: Replica): Promise<string[]> {
  const tables = await selectRows<{ name: string; sql: string }>(
    source.client,
    `SELECT name, create_table_query AS sql FROM system.tables
     WHERE database = currentDatabase() AND NOT startsWith(name, 'room_') AND name != 'schema_migration'
     ORDER BY engine = 'MaterializedView', engine = 'Distributed', name`,
  );
  return tables.map(({ sql }) =>
    sql
      .replace(/^CREATE (TABLE|MATERIALIZED VIEW) /, 'CREATE $1 IF NOT EXISTS ')
      .replace(`', '${source.path?.replicaName ?? ''}'`, () => `', '${path?.replicaName ?? ''}'`),
  );
}

async function openDatabase(url: Secret, database: string, tls: EngineTls | null): Promise<ClickHouseClient> {
  if (!/^[a-z_][a-z0-9_]*$/.test(database)) throw new Error(`"${database}" is not a valid database name`);
  const options = { url: url.reveal(), log, ...(tls ? { tls } : {}) };
  const server = createClient(options);
  try {
    await server.command({ query: `CREATE DATABASE IF NOT EXISTS ${database}` });
  } finally {
    await server.close();
  }
  return createClient({ ...options, database });
}

async function migrationsDone(client: ClickHouseClient): Promise<Map<string, string>> {
  await client.command({
    query: `CREATE TABLE IF NOT EXISTS schema_migration (name String, checksum String, ran_at DateTime DEFAULT now())
      ENGINE = MergeTree ORDER BY name`,
  });
  const rows = await selectRows<{ name: string; checksum: string }>(
    client,
    'SELECT name, checksum FROM schema_migration',
  );
  return new Map(rows.map(({ name, checksum }) => [name, checksum]));
}

async function recordMigration(client: ClickHouseClient, name: string, checksum: string): Promise<void> {
  await client.insert({
    table: 'schema_migration',
    values: [{ name, checksum }],
    format: 'JSONEachRow',
    clickhouse_settings: { async_insert: 0 },
  });
}
