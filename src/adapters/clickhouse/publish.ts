import type { JobVersions } from '../../domain/device-version.ts';
import type { Load } from '../../ports/load-stage.ts';
import { onEveryShard, type Engine } from './connect.ts';
import { jobQueryPrefix, loadQueryPrefix, newQueryId } from './query-ids.ts';

const columns = 'partner_id, attribute_id, device, id_type, country, version, is_deleted';

/** From stage to warehouse, on each shard for itself. The warehouse is a set: repeating it changes nothing. */
export async function publishLoad(engine: Engine, load: Load): Promise<void> {
  await onEveryShard(engine, (shard) =>
    shard.command({
      query: `
        INSERT INTO device_attributes_local (${columns})
        SELECT ${columns} FROM staged_attributes_local WHERE load_id = {load: UInt64}`,
      query_id: newQueryId(loadQueryPrefix(load.loadId), 'publish'),
      query_params: { load: load.loadId },
      clickhouse_settings: { optimize_on_insert: 0 },
    }),
  );
}

/**
 * The swap of a replacing job: what was there of its attributes is marked deleted with the job's own version, and its
 * rows come in with the version above. Attributes are collected over all shards, because one may have lost all its
 * devices on a shard.
 */
export async function replaceAttributes(
  engine: Engine,
  job: { readonly id: number; readonly partnerId: number; readonly versions: JobVersions },
  loadIds: readonly number[],
): Promise<void> {
  const named = await engine.shards[0].query({
    query:
      'SELECT DISTINCT toString(attribute_id) AS id FROM staged_attributes WHERE load_id IN ({loads: Array(UInt64)})',
    query_params: { loads: loadIds },
    format: 'JSONEachRow',
  });
  const attributes = (await named.json<{ id: string }>()).map(({ id }) => Number(id));
  await onEveryShard(engine, (shard) =>
    shard.command({
      query: `
        INSERT INTO device_attributes_local (${columns})
        SELECT ${columns} FROM staged_attributes_local WHERE load_id IN ({loads: Array(UInt64)})
        UNION ALL
        SELECT partner_id, attribute_id, device, id_type, country, {version: UInt64}, 1
        FROM device_attributes_local FINAL
        WHERE partner_id = {partner: UInt64} AND attribute_id IN ({attributes: Array(UInt64)}) AND version < {version: UInt64}`,
      query_params: { loads: loadIds, partner: job.partnerId, attributes, version: job.versions.ofDeletes },
      query_id: newQueryId(jobQueryPrefix(job.id), 'replace'),
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
  const devices = (which: string): string => `
    SELECT device FROM staged_devices_local
    WHERE job_id = {job: UInt64} AND load_id IN ({loads: Array(UInt64)})${which} GROUP BY device`;
  const parameters = {
    query_params: { job: jobId, loads: loadIds },
    clickhouse_settings: { optimize_aggregation_in_order: 1 },
  } as const;
  const counts = await onEveryShard(engine, async (shard) => {
    const query = `INSERT INTO known_devices_local (device) ${devices(' AND is_add')}`;
    await shard.command({ query, ...parameters });
    const result = await shard.query({
      query: `SELECT toString(count()) AS devices FROM (${devices('')})`,
      format: 'JSONEachRow',
      ...parameters,
    });
    const [row] = await result.json<{ devices: string }>();
    return Number(row?.devices ?? 0);
  });
  return counts.reduce((sum, count) => sum + count, 0);
}
