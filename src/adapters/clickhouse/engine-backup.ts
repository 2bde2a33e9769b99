import { setTimeout as sleep } from 'node:timers/promises';
import type { EngineBackup } from '../../ports/backup.ts';
import { type Engine, type Shard, onEveryShard } from './connect.ts';
import { roomNames } from './staging-tables.ts';

/** Hard links to the files of the tables, in a database of their own: CLONE AS takes moments at any size. */
export function clickhouseBackup(engine: Engine, database: string, disk: string): EngineBackup {
  const held = heldDatabase(database);
  const holdOnShard = async (shard: Shard, stagedLoadIds: readonly number[]): Promise<void> => {
    const tables = await tablesToHold(shard, database, stagedLoadIds);
    await shard.command({ query: `CREATE DATABASE ${held}` });
    // First what is staged, then where it is published: what left its stage before that was held is published then.
    for (const isStage of [true, false]) {
      const now = tables.filter((table) => isStageTable(table) === isStage);
      await Promise.all(now.map((table) => holdTable(shard, `${database}.${table}`, `${held}.${table}`)));
    }
  };
  return {
    hold: async (stagedLoadIds) => {
      await onEveryShard(engine, (shard) => holdOnShard(shard, stagedLoadIds));
    },
    save: async (name) => {
      await onEveryShard(engine, (shard, index) =>
        runToEnd(shard, `BACKUP DATABASE ${held} TO ${placeOf(disk, name, index)}`),
      );
    },
    release: async () => {
      await onEveryShard(engine, (shard) => shard.command({ query: `DROP DATABASE IF EXISTS ${held} SYNC` }));
    },
  };
}

/** `from`: the database that the backup was taken of. The tables are there already, and empty; rooms are made. */
export async function restoreEngine(
  engine: Engine,
  database: string,
  backup: { readonly disk: string; readonly name: string; readonly from: string },
): Promise<void> {
  const held = heldDatabase(backup.from);
  await onEveryShard(engine, (shard, index) =>
    runToEnd(shard, `RESTORE DATABASE ${held} AS ${database} FROM ${placeOf(backup.disk, backup.name, index)}`),
  );
}

/** A backup is never mixed with what is there. */
export async function requireEmptyEngine(engine: Engine, database: string): Promise<void> {
  const tables = await onEveryShard(engine, (shard) => namesOf(shard, database, '1'));
  if (tables.flat().length > 0)
    throw new Error(`The engine's database ${database} is not empty. Drop it, or name another.`);
}

function heldDatabase(database: string): string {
  return `${database}_backup`;
}

/** Each shard has a folder of its own, so that a disk may be shared by all of them. */
function placeOf(disk: string, name: string, index: number): string {
  return `Disk('${disk}', '${name}/shard-${index + 1}')`;
}

function isStageTable(table: string): boolean {
  return /^(room_|staged_|job_keys)/.test(table);
}

/**
 * Everything that keeps rows, but for rooms that are still being filled: whoever loads those files next begins anew, and
 * such a room may vanish at any moment.
 */
async function tablesToHold(shard: Shard, database: string, stagedLoadIds: readonly number[]): Promise<string[]> {
  const rooms = new Set(stagedLoadIds.map((loadId) => roomNames(loadId).rows));
  const kept = await namesOf(shard, database, `engine LIKE '%MergeTree' AND name != 'schema_migration'`);
  return kept.filter((name) => !name.startsWith('room_') || rooms.has(name));
}

async function namesOf(shard: Shard, database: string, condition: string): Promise<string[]> {
  const result = await shard.query({
    query: `SELECT name FROM system.tables WHERE database = {database: String} AND ${condition}`,
    query_params: { database },
    format: 'JSONEachRow',
  });
  return (await result.json<{ name: string }>()).map(({ name }) => name);
}

async function holdTable(shard: Shard, table: string, held: string): Promise<void> {
  await shard.command({ query: `CREATE TABLE ${held} CLONE AS ${table}` });
  await shard.command({ query: `SYSTEM STOP MERGES ${held}` });
}

const lookEveryMs = 200;

/** In the background of the server: it may take hours, and no connection has to last for them. */
async function runToEnd(shard: Shard, statement: string): Promise<void> {
  const started = await shard.query({ query: `${statement} ASYNC`, format: 'JSONEachRow' });
  const [begun] = await started.json<{ id: string }>();
  if (!begun) throw new Error(`The engine did not begin: ${statement}`);
  for (;;) {
    const result = await shard.query({
      query: 'SELECT status, error FROM system.backups WHERE id = {id: String}',
      query_params: { id: begun.id },
      format: 'JSONEachRow',
    });
    const [state] = await result.json<{ status: string; error: string }>();
    if (state?.status === 'BACKUP_CREATED' || state?.status === 'RESTORED') return;
    if (state?.status !== 'CREATING_BACKUP' && state?.status !== 'RESTORING') {
      throw new Error(`${statement}: ${state?.status ?? 'the server was restarted'} ${state?.error ?? ''}`);
    }
    await sleep(lookEveryMs);
  }
}
