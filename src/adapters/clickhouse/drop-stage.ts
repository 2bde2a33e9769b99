import { onEveryShard, type Engine } from './connect.ts';
import { jobQueryPrefix, loadQueryPrefix } from './query-ids.ts';

/** Removes the stage of a load that ended as it should: nothing of it can still be running. */
export async function dropStage(engine: Engine, loadId: number): Promise<void> {
  await dropPartition(engine, 'staged_attributes_local', loadId);
}

/**
 * Removes what an attempt left that may still be running. First the stage, so that a publish which begins now finds
 * nothing; then whatever runs is stopped (ending the request does not end an insert); then what it wrote meanwhile.
 */
export async function dropLoad(engine: Engine, loadId: number): Promise<void> {
  await dropStage(engine, loadId);
  await stopStatements(engine, loadQueryPrefix(loadId));
  await dropStage(engine, loadId);
}

export async function stopJob(engine: Engine, jobId: number): Promise<void> {
  await stopStatements(engine, jobQueryPrefix(jobId));
}

async function stopStatements(engine: Engine, prefix: string): Promise<void> {
  await onEveryShard(engine, (shard) =>
    shard.command({
      query: 'KILL QUERY WHERE startsWith(initial_query_id, {prefix: String}) SYNC',
      query_params: { prefix },
    }),
  );
}

export async function dropJob(engine: Engine, jobId: number): Promise<void> {
  await dropPartition(engine, 'staged_devices_local', jobId);
  await dropPartition(engine, 'job_keys_local', jobId);
}

async function dropPartition(engine: Engine, table: string, id: number): Promise<void> {
  if (!Number.isSafeInteger(id)) throw new TypeError(`${id} is no partition`);
  await onEveryShard(engine, (shard) => shard.command({ query: `ALTER TABLE ${table} DROP PARTITION ID '${id}'` }));
}

export async function listStaged(engine: Engine): Promise<{ loadIds: number[]; jobIds: number[] }> {
  const parts = await onEveryShard(engine, async (shard) => {
    const result = await shard.query({
      query: `
        SELECT DISTINCT table, partition_id FROM system.parts
        WHERE active AND database = currentDatabase()
          AND table IN ('staged_attributes_local', 'staged_devices_local', 'job_keys_local')`,
      format: 'JSONEachRow',
    });
    return result.json<{ table: string; partition_id: string }>();
  });
  const ids = (isLoad: boolean): number[] => [
    ...new Set(
      parts
        .flat()
        .filter(({ table }) => (table === 'staged_attributes_local') === isLoad)
        .map(({ partition_id }) => Number(partition_id)),
    ),
  ];
  return { loadIds: ids(true), jobIds: ids(false) };
}
