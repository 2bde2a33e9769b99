import type { ResolvedKey } from '../../domain/attribute.ts';
import type { JobVersions } from '../../domain/job.ts';
import type { Load } from '../../ports/load-stage.ts';
import type { Warehouse, AttributeRows } from '../../ports/warehouse.ts';
import {
  type Engine,
  jobQueryPrefix,
  loadQueryPrefix,
  newQueryId,
  onEveryShard,
  selectNumber,
  shardFor,
  sumOverShards,
} from './connect.ts';
import { dropJob, stopJob } from './load-stage.ts';
import { mutate } from './mutate.ts';
import { hasRoom, publishRoom } from './staging-tables.ts';

export function clickhouseWarehouse(engine: Engine): Warehouse {
  return {
    writeJobKeys: (jobId, keys) => writeJobKeys(engine, jobId, keys),
    publish: (load) => publishLoad(engine, load),
    replaceAttributes: (job, loadIds) => replaceAttributes(engine, job, loadIds),
    stopJob: (jobId) => stopJob(engine, jobId),
    publishDevices: (jobId, loadIds) => publishDevices(engine, jobId, loadIds),
    dropJob: (jobId) => dropJob(engine, jobId),
    countAttributeRows: (rows) => countAttributeRows(engine, rows),
    deleteAttributeRows: (rows) => deleteAttributeRows(engine, rows),
  };
}

/** May be repeated: a load reads each key once. */
async function writeJobKeys(engine: Engine, jobId: number, keys: readonly ResolvedKey[]): Promise<void> {
  if (keys.length === 0) return;
  await shardFor(engine, jobId).insert({
    table: 'job_keys',
    values: keys.map(({ key, attributeId }) => ({ job_id: jobId, key, attribute_id: attributeId })),
    format: 'JSONEachRow',
    clickhouse_settings: { distributed_foreground_insert: 1 },
  });
}

const columns = 'partner_id, attribute_id, device, id_type, country, version, is_deleted';

/** From stage to warehouse, on each shard for itself. The warehouse is a set: repeating it changes nothing. */
async function publishLoad(engine: Engine, load: Load): Promise<void> {
  await onEveryShard(engine, async (shard) => {
    if (await hasRoom(shard, load.loadId)) return publishRoom(shard, load);
    await shard.command({
      query: `
        INSERT INTO device_attributes_local (${columns})
        SELECT ${columns} FROM staged_attributes_local WHERE load_id = {load: UInt64}`,
      query_id: newQueryId(loadQueryPrefix(load.loadId), 'publish'),
      query_params: { load: load.loadId },
      clickhouse_settings: { optimize_on_insert: 0 },
    });
  });
}

/**
 * The swap of a replacing job: what was there of its attributes is marked deleted with the job's own version, and its
 * rows come in with the version above. Attributes are collected over all shards, because one may have lost all its
 * devices on a shard.
 */
async function replaceAttributes(
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
 * The devices of a job, each once, over all loads that were committed. Read in the order of the table, where the same
 * devices are neighbours, so that it takes little memory; each device is on one shard, so the total is a sum.
 */
async function publishDevices(engine: Engine, jobId: number, loadIds: readonly number[]): Promise<number> {
  if (loadIds.length === 0) return 0;
  const ofJob = 'FROM staged_devices_local WHERE job_id = {job: UInt64} AND load_id IN ({loads: Array(UInt64)})';
  const query_params = { job: jobId, loads: loadIds };
  return sumOverShards(engine, async (shard) => {
    const countOf = (query: string): Promise<number> => selectNumber(shard, { query, query_params });
    const query = `INSERT INTO known_devices_local (device) SELECT device ${ofJob} AND is_add ORDER BY device LIMIT 1 BY device`;
    const { summary } = await shard.command({ query, query_params });
    // What was written is what is to be counted, unless there are devices that are only deleted from.
    const deletes = await countOf(`SELECT toString(count()) AS number ${ofJob} AND NOT is_add`);
    if (summary && deletes === 0) return Number(summary.written_rows);
    const devices = `SELECT device ${ofJob} ORDER BY device LIMIT 1 BY device`;
    return countOf(`SELECT toString(count()) AS number FROM (${devices})`);
  });
}

const condition = `partner_id = {partner: UInt64} AND attribute_id IN ({attributes: Array(UInt64)})
  AND version <= {version: UInt64}`;

function parametersOf({ partnerId, attributeIds, versions }: AttributeRows) {
  return { partner: partnerId, attributes: attributeIds, version: versions.ofAdds };
}

/** What the partner has of these attributes now: each device is on one shard, so the totals are sums. */
async function countAttributeRows(engine: Engine, rows: AttributeRows): Promise<{ rows: number; devices: number }> {
  const counts = await onEveryShard(engine, async (shard) => {
    const result = await shard.query({
      query: `
        SELECT toString(sum(attributes)) AS rows, toString(count()) AS devices FROM (
          SELECT device, count() AS attributes FROM device_attributes_local FINAL WHERE ${condition} GROUP BY device
        )`,
      query_params: parametersOf(rows),
      format: 'JSONEachRow',
      clickhouse_settings: { max_bytes_before_external_group_by: '268435456' },
    });
    const [row] = await result.json<{ rows: string; devices: string }>();
    return { rows: Number(row?.rows ?? 0), devices: Number(row?.devices ?? 0) };
  });
  return counts.reduce((sum, count) => ({ rows: sum.rows + count.rows, devices: sum.devices + count.devices }));
}

/**
 * A mutation, not a lightweight delete: the parts are written anew without the rows before this returns. Only the
 * partner's own partition is touched. The version guards later imports against a process that wakes up late.
 */
export async function deleteAttributeRows(engine: Engine, rows: AttributeRows): Promise<void> {
  if (!Number.isSafeInteger(rows.partnerId)) throw new TypeError(`${rows.partnerId} is no partition`);
  await onEveryShard(engine, (shard) =>
    mutate(shard, 'device_attributes_local', {
      query: `ALTER TABLE device_attributes_local DELETE IN PARTITION ID '${rows.partnerId}' WHERE ${condition}`,
      query_params: parametersOf(rows),
      partitions: [rows.partnerId],
    }),
  );
}
