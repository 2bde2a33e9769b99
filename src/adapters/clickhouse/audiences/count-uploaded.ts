import { onEveryShard, type Engine } from '../connect.ts';

/** Each device is on one shard, so the totals are sums. Read in the order of the stage, which takes little memory. */
export async function countUploaded(engine: Engine, loadId: number): Promise<Map<number, number>> {
  const totals = new Map<number, number>();
  await onEveryShard(engine, async (shard) => {
    const result = await shard.query({
      query: `
        SELECT toString(file_id) AS file, toString(count()) AS devices FROM (
          SELECT file_id, device FROM staged_members_local WHERE load_id = {load: UInt64} GROUP BY file_id, device
        ) GROUP BY file_id`,
      query_params: { load: loadId },
      format: 'JSONEachRow',
      clickhouse_settings: { optimize_aggregation_in_order: 1 },
    });
    for (const { file, devices } of await result.json<{ file: string; devices: string }>()) {
      totals.set(Number(file), (totals.get(Number(file)) ?? 0) + Number(devices));
    }
  });
  return totals;
}
