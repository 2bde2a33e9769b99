import type { LoadStage } from '../../ports/load-stage.ts';
import { type Engine, isOurStatement, jobQueryPrefix, loadQueryPrefix, onEveryShard } from './connect.ts';
import { countRows, listRejects, readSoFar } from './load-results.ts';
import { stageLoad, stageTogether } from './stage-load.ts';
import { closeRooms, listRooms } from './staging-tables.ts';

/** `roomBytes`: loads from this size on are staged in tables of their own. */
export function clickhouseLoadStage(engine: Engine, roomBytes: number): LoadStage {
  return {
    stage: (load, file, maxLineBytes, signal) => stageLoad(engine, load, file, { maxLineBytes, roomBytes }, signal),
    stageTogether: (load, files, maxLineBytes, signal) =>
      stageTogether(engine, load, files, { maxLineBytes, roomBytes }, signal),
    readSoFar: (load) => readSoFar(engine, load),
    countRows: (loadId) => countRows(engine, loadId),
    listRejects: (page) => listRejects(engine, page),
    dropStages: (loadIds) => dropStages(engine, loadIds),
    dropLoad: (loadId) => dropLoad(engine, loadId),
    listStaged: () => listStaged(engine),
  };
}

/** Partitioned by load and by job. A load has rows in one of the former; dropping what is not there costs nothing. */
const loadTables = ['staged_attributes_local', 'staged_members_local'];
const jobTables = ['staged_devices_local', 'job_keys_local'];

/** Removes the stages of loads that ended as they should: nothing of them can still be running. */
async function dropStages(engine: Engine, loadIds: readonly number[]): Promise<void> {
  await Promise.all([dropShared(engine, loadIds), closeRooms(engine, loadIds)]);
}

async function dropShared(engine: Engine, loadIds: readonly number[]): Promise<void> {
  await Promise.all(loadTables.map((table) => dropPartitions(engine, table, loadIds)));
}

/**
 * Removes what an attempt left that may still be running. First the stage, so that a publish which begins now finds
 * nothing; then whatever runs is stopped (ending the request does not end an insert); then what it wrote meanwhile.
 * Closing a room waits for what still uses it, and nothing can begin in it afterwards.
 */
export async function dropLoad(engine: Engine, loadId: number): Promise<void> {
  await dropShared(engine, [loadId]);
  await stopStatements(engine, loadQueryPrefix(loadId));
  await dropStages(engine, [loadId]);
}

export async function stopJob(engine: Engine, jobId: number): Promise<void> {
  await stopStatements(engine, jobQueryPrefix(jobId));
}

async function stopStatements(engine: Engine, prefix: string): Promise<void> {
  await onEveryShard(engine, (shard) =>
    shard.command({
      query: `KILL QUERY WHERE ${isOurStatement} SYNC`,
      query_params: { prefix },
    }),
  );
}

export async function dropJob(engine: Engine, jobId: number): Promise<void> {
  await Promise.all(jobTables.map((table) => dropPartitions(engine, table, [jobId])));
}

const partitionsAtATime = 200;

async function dropPartitions(engine: Engine, table: string, ids: readonly number[]): Promise<void> {
  const wrong = ids.find((id) => !Number.isSafeInteger(id));
  if (wrong !== undefined) throw new TypeError(`${wrong} is no partition`);
  for (let start = 0; start < ids.length; start += partitionsAtATime) {
    const drops = ids.slice(start, start + partitionsAtATime).map((id) => `DROP PARTITION ID '${id}'`);
    await onEveryShard(engine, (shard) =>
      shard.command({
        query: `ALTER TABLE ${table} ${drops.join(', ')}`,
        clickhouse_settings: { max_partition_size_to_drop: '0' },
      }),
    );
  }
}

/** A dropped partition may leave an empty part for a moment: it holds nothing, so it does not count. */
async function listStaged(engine: Engine): Promise<{ loadIds: number[]; jobIds: number[] }> {
  const parts = await onEveryShard(engine, async (shard) => {
    const result = await shard.query({
      query: `
        SELECT DISTINCT table, partition_id FROM system.parts
        WHERE active AND rows > 0 AND database = currentDatabase()
          AND table IN ({tables: Array(String)})`,
      query_params: { tables: [...loadTables, ...jobTables] },
      format: 'JSONEachRow',
    });
    return result.json<{ table: string; partition_id: string }>();
  });
  const ids = (tables: readonly string[]): number[] => [
    ...new Set(
      parts
        .flat()
        .filter(({ table }) => tables.includes(table))
        .map(({ partition_id }) => Number(partition_id)),
    ),
  ];
  const rooms = await listRooms(engine);
  return { loadIds: [...new Set([...ids(loadTables), ...rooms])], jobIds: ids(jobTables) };
}
