import type { LoadId } from '../../domain/ids.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EngineBackup } from '../../ports/backup.ts';
import { type Engine, type Server, onEveryServer, onEveryShard, onEveryShardInSync } from './connect.ts';
import { indexTables, replicatedTables } from './migration-sql.ts';
import { engineOf } from './schema.ts';
import { stagingTableNames } from './staging-tables.ts';

/**
 * Freezes the tables by cloning them into a separate database with hard links. CLONE AS is fast for tables of any size.
 * One replica of each shard is backed up. If rows of a merge import or an audience are staged on another replica, their
 * files are loaded again after a restore.
 */
export function clickhouseBackup(engine: Engine, database: string, disk: string): EngineBackup {
  const held = heldDatabase(database);
  let replicas: readonly Server[] = [];
  const holdOnShard = async (shard: Server, stagedLoadIds: readonly LoadId[]): Promise<void> => {
    const tables = await tablesToHold(shard, database, stagedLoadIds);
    await shard.command({ query: `CREATE DATABASE ${held}` });
    // Clone the stages before the final tables. A row that leaves a stage before the stage is cloned is then included
    // in the clone of the final table.
    for (const isStage of [true, false]) {
      const now = tables.filter((table) => isStageTable(table) === isStage);
      await Promise.all(now.map((table) => holdTable(shard, `${database}.${table}`, `${held}.${table}`)));
    }
  };
  return {
    hold: async (stagedLoadIds) => {
      const tables = [...replicatedTables].map((table) => `${database}.${table}`);
      replicas = await onEveryShardInSync(engine, tables, async (shard) => {
        await holdOnShard(shard, stagedLoadIds);
        return shard;
      });
    },
    save: async (name) => {
      const sizes = await Promise.all(
        replicas.map((server, index) =>
          runToCompletion(server, `BACKUP DATABASE ${held} TO ${locationOf(disk, name, index)}`),
        ),
      );
      return sizes.reduce((sum, bytes) => sum + bytes, 0);
    },
    release: async () => {
      await onEveryServer(engine, (server) => server.command({ query: `DROP DATABASE IF EXISTS ${held} SYNC` }));
    },
  };
}

/**
 * `from` is the database that was backed up. The final tables must exist and be empty. The restore creates the staging
 * tables. Replicated tables are restored on one replica, and the other replicas copy the rows from it. The definition
 * of a replicated table differs from its definition in the backup, because the backed-up clone is not replicated.
 */
export async function restoreEngine(
  engine: Engine,
  database: string,
  backup: { readonly disk: string; readonly name: string; readonly from: string },
): Promise<void> {
  const held = heldDatabase(backup.from);
  await onEveryShard(engine, (shard, index) =>
    runToCompletion(
      shard,
      `RESTORE DATABASE ${held} AS ${database} FROM ${locationOf(backup.disk, backup.name, index)}
       SETTINGS allow_different_table_def = 1`,
    ),
  );
}

/** Throws unless the database is empty, because a backup can be restored only into an empty database. */
export async function requireEmptyEngine(engine: Engine, database: string): Promise<void> {
  const tables = await onEveryServer(engine, (server) => namesOf(server, database, '1'));
  if (tables.flat(2).length > 0)
    throw new Error(`The ClickHouse database ${database} is not empty. Drop it or choose another database.`);
}

function heldDatabase(database: string): string {
  return `${database}_backup`;
}

/** Each shard has a separate folder, so that shards can share a disk. */
function locationOf(disk: string, name: string, index: number): string {
  return `Disk('${disk}', '${name}/shard-${index + 1}')`;
}

function isStageTable(table: string): boolean {
  return /^(room_|staged_|job_keys)/.test(table);
}

/**
 * Returns all tables that store rows, with three exceptions: the device index, which is rebuilt after a restore, the
 * table that an interrupted rebuild of the known devices left, and staging tables that a load is still filling. Such
 * staging tables can be dropped at any time, and the next attempt loads their files again.
 */
async function tablesToHold(shard: Server, database: string, stagedLoadIds: readonly LoadId[]): Promise<string[]> {
  const complete = new Set(stagedLoadIds.map((loadId) => stagingTableNames(loadId).rows));
  const kept = await namesOf(shard, database, `engine LIKE '%MergeTree' AND name != 'schema_migration'`);
  const derived = new Set<string>([...indexTables, 'index_lease_local', 'known_devices_next_local']);
  return kept.filter((name) => (!name.startsWith('room_') || complete.has(name)) && !derived.has(name));
}

async function namesOf(shard: Server, database: string, condition: string): Promise<string[]> {
  const result = await shard.query({
    query: `SELECT name FROM system.tables WHERE database = {database: String} AND ${condition}`,
    query_params: { database },
    format: 'JSONEachRow',
  });
  return (await result.json<{ name: string }>()).map(({ name }) => name);
}

/** The clone of a replicated table is not replicated. */
async function holdTable(shard: Server, table: string, held: string): Promise<void> {
  const current = await engineOf(shard, table);
  const [, kind = '', rest = ''] = /^Replicated(\w+)\('[^']*', '[^']*'(?:, )?(.*)$/s.exec(current) ?? [];
  const engine = kind === '' ? '' : ` ENGINE = ${kind}(${rest}`;
  await shard.command({ query: `CREATE TABLE ${held} CLONE AS ${table}${engine}` });
  await shard.command({ query: `SYSTEM STOP MERGES ${held}` });
}

const pollEveryMs = 200;

/**
 * Runs the statement in the background on the server, because it may take hours and no connection should stay open that
 * long. Returns the number of bytes in the backup.
 */
async function runToCompletion(shard: Server, statement: string): Promise<number> {
  const started = await shard.query({ query: `${statement} ASYNC`, format: 'JSONEachRow' });
  const [operation] = await started.json<{ id: string }>();
  if (!operation) throw new Error(`ClickHouse did not start: ${statement}`);
  for (;;) {
    const result = await shard.query({
      query: 'SELECT status, error, toString(compressed_size) AS bytes FROM system.backups WHERE id = {id: String}',
      query_params: { id: operation.id },
      format: 'JSONEachRow',
    });
    const [state] = await result.json<{ status: string; error: string; bytes: string }>();
    if (state?.status === 'BACKUP_CREATED' || state?.status === 'RESTORED') return Number(state.bytes);
    if (state?.status !== 'CREATING_BACKUP' && state?.status !== 'RESTORING') {
      throw new Error(`${statement}: ${state?.status ?? 'the server was restarted'} ${state?.error ?? ''}`);
    }
    await sleep(pollEveryMs);
  }
}
