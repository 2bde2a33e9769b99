import type { Load } from '../../ports/warehouse.ts';
import { onEveryShard, type Engine } from './connect.ts';
import { loadQueryId } from './query-ids.ts';

/** From stage to warehouse, on each shard for itself. The warehouse is a set: repeating it changes nothing. */
export async function publishLoad(engine: Engine, load: Load): Promise<void> {
  await onEveryShard(engine, (shard) =>
    shard.command({
      query: `
        INSERT INTO device_attributes_local (partner_id, attribute_id, device, version, is_deleted)
        SELECT partner_id, attribute_id, device, version, is_deleted FROM staged_attributes_local
        WHERE load_id = {load: UInt64}`,
      query_id: loadQueryId(load.loadId, 'publish'),
      query_params: { load: load.loadId },
      clickhouse_settings: { optimize_on_insert: 0 },
    }),
  );
}

/**
 * The devices of a job, each once, over all loads that were committed. Read in the order of the table, so that it
 * takes little memory; each device is on one shard, so the total is a sum.
 */
export async function publishDevices(engine: Engine, jobId: number, loadIds: readonly number[]): Promise<number> {
  if (loadIds.length === 0) return 0;
  const devices = `SELECT device FROM staged_devices_local
    WHERE job_id = {job: UInt64} AND load_id IN ({loads: Array(UInt64)}) GROUP BY device`;
  const counts = await onEveryShard(engine, async (shard) => {
    const params = {
      query_params: { job: jobId, loads: loadIds },
      clickhouse_settings: { optimize_aggregation_in_order: 1 as const },
    };
    await shard.command({ query: `INSERT INTO known_devices_local (device) ${devices}`, ...params });
    const result = await shard.query({
      query: `SELECT count() AS devices FROM (${devices})`,
      format: 'JSONEachRow',
      ...params,
    });
    const [row] = await result.json<{ devices: string }>();
    return Number(row?.devices ?? 0);
  });
  return counts.reduce((sum, count) => sum + count, 0);
}
