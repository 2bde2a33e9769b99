import type { JobId, LoadId } from '../../domain/ids.ts';
import type { LoadStage } from '../../ports/load-stage.ts';
import { type Engine, isOurStatement, jobQueryPrefix, loadQueryPrefix, onEveryShard } from './connect.ts';
import { countRows, listRejects, readSoFar } from './load-results.ts';
import { stageLoad, stageTogether } from './stage-load.ts';
import { dropStagingTables, listLoadsWithStagingTables } from './staging-tables.ts';

/** Loads of at least `stagingTableBytes` get their own staging tables. */
export function clickhouseLoadStage(engine: Engine, stagingTableBytes: number): LoadStage {
  return {
    stage: (load, file, maxLineBytes, signal) =>
      stageLoad(engine, load, file, { maxLineBytes, stagingTableBytes }, signal),
    stageTogether: (load, files, maxLineBytes, signal) =>
      stageTogether(engine, load, files, { maxLineBytes, stagingTableBytes }, signal),
    readSoFar: (load) => readSoFar(engine, load),
    countRows: (loadId) => countRows(engine, loadId),
    listRejects: (page) => listRejects(engine, page),
    dropStages: (loadIds) => dropStages(engine, loadIds),
    dropLoad: (loadId) => dropLoad(engine, loadId),
    listStaged: () => listStaged(engine),
  };
}

/**
 * Staging tables that are partitioned by load, and tables that are partitioned by job. A load has rows in only one of
 * the tables that are partitioned by load. Dropping a missing partition is free.
 */
const loadTables = ['staged_attributes_local', 'staged_members_local'];
const jobTables = ['staged_devices_local', 'job_keys_local'];

/** Removes the stages of completed loads, which have no running statements. */
async function dropStages(engine: Engine, loadIds: readonly LoadId[]): Promise<void> {
  await Promise.all([dropShared(engine, loadIds), dropStagingTables(engine, loadIds)]);
}

async function dropShared(engine: Engine, loadIds: readonly LoadId[]): Promise<void> {
  await Promise.all(loadTables.map((table) => dropPartitions(engine, table, loadIds)));
}

/**
 * Removes the data of an abandoned attempt whose statements may still be running. It drops the stage first, so that a
 * late publish finds no rows. It then kills the statements, because closing the request does not stop an INSERT.
 * Finally, it drops the rows that the statements wrote in the meantime. Dropping a staging table waits for the
 * statements that use it, and no new ones can start.
 */
export async function dropLoad(engine: Engine, loadId: LoadId): Promise<void> {
  await dropShared(engine, [loadId]);
  await stopStatements(engine, loadQueryPrefix(loadId));
  await dropStages(engine, [loadId]);
}

export async function stopJob(engine: Engine, jobId: JobId): Promise<void> {
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

export async function dropJob(engine: Engine, jobId: JobId): Promise<void> {
  await Promise.all(jobTables.map((table) => dropPartitions(engine, table, [jobId])));
}

const partitionsPerStatement = 200;

async function dropPartitions(engine: Engine, table: string, ids: readonly number[]): Promise<void> {
  const wrong = ids.find((id) => !Number.isSafeInteger(id));
  if (wrong !== undefined) throw new TypeError(`${wrong} is not a partition ID`);
  for (let start = 0; start < ids.length; start += partitionsPerStatement) {
    const drops = ids.slice(start, start + partitionsPerStatement).map((id) => `DROP PARTITION ID '${id}'`);
    await onEveryShard(engine, (shard) =>
      shard.command({
        query: `ALTER TABLE ${table} ${drops.join(', ')}`,
        clickhouse_settings: { max_partition_size_to_drop: '0' },
      }),
    );
  }
}

/** Ignores the empty parts that exist for a short time after a partition is dropped. */
async function listStaged(engine: Engine): Promise<{ loadIds: LoadId[]; jobIds: JobId[] }> {
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
  const ownTables = await listLoadsWithStagingTables(engine);
  return { loadIds: [...new Set([...ids(loadTables), ...ownTables])], jobIds: ids(jobTables) };
}
