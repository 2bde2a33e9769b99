import { onEveryShard, type Engine } from './connect.ts';
import { loadQueryPrefix } from './query-ids.ts';

/** Ending the request does not end an insert; this does. Only then the partition is dropped, on every shard. */
export async function dropLoad(engine: Engine, loadId: number): Promise<void> {
  await onEveryShard(engine, (shard) =>
    shard.command({
      query: 'KILL QUERY WHERE startsWith(initial_query_id, {prefix: String}) SYNC',
      query_params: { prefix: loadQueryPrefix(loadId) },
    }),
  );
  await dropPartition(engine, 'staged_attributes_local', loadId);
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
