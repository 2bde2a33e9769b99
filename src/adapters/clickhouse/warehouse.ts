import type { JobId, LoadId, PartnerId } from '../../domain/ids.ts';
import type { ResolvedKey } from '../../domain/attribute.ts';
import type { JobVersions } from '../../domain/job.ts';
import type { ShardRows } from '../../domain/row-account.ts';
import type { Load } from '../../ports/load-stage.ts';
import type { Warehouse, AttributeRows, StoredData } from '../../ports/warehouse.ts';
import {
  type Engine,
  type Shard,
  jobQueryPrefix,
  loadQueryPrefix,
  newQueryId,
  insertSelected,
  onEveryShard,
  selectFromShards,
  selectNumber,
  selectRows,
  shardFor,
} from './connect.ts';
import { dropJob, stopJob } from './load-stage.ts';
import { findRebuild } from './known-devices.ts';
import { startMutation, untilApplied } from './mutate.ts';
import { attachStagingTable, prepareToPublish } from './staging-tables.ts';

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
    measureStoredData: () => measureStoredData(engine),
  };
}

/** Idempotent, because loads ignore duplicate keys. */
async function writeJobKeys(engine: Engine, jobId: JobId, keys: readonly ResolvedKey[]): Promise<void> {
  if (keys.length === 0) return;
  await shardFor(engine, jobId).insert({
    table: 'job_keys',
    values: keys.map(({ key, attributeId }) => ({ job_id: jobId, key, attribute_id: attributeId })),
    format: 'JSONEachRow',
    clickhouse_settings: { distributed_foreground_insert: 1 },
  });
}

const columns = 'partner_id, attribute_id, device, id_type, country, version, is_deleted';

/** Adds staged rows to the warehouse, shard by shard. Idempotent, because the warehouse is a set. */
async function publishLoad(engine: Engine, load: Load): Promise<ShardRows> {
  const haveOwnTables = await prepareToPublish(engine, load);
  return onEveryShard(engine, async (shard, index) => {
    if (haveOwnTables[index] === true) return attachStagingTable(shard, load);
    return insertSelected(shard, {
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
 * Publishes a replacing job. Marks all current rows of its attributes as deleted with the job's version, and inserts
 * its rows with the next version. The attributes are collected over all shards, because an attribute may have no staged
 * device on a shard.
 */
async function replaceAttributes(
  engine: Engine,
  job: { readonly id: number; readonly partnerId: PartnerId; readonly versions: JobVersions },
  loadIds: readonly LoadId[],
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
 * Adds the distinct devices of a job's committed loads to the known devices and counts them. In sort order, equal
 * devices are adjacent, so removing duplicates needs little memory.
 */
async function publishDevices(
  engine: Engine,
  jobId: JobId,
  loadIds: readonly LoadId[],
): Promise<{ rows: number; devices: number }> {
  if (loadIds.length === 0) return { rows: 0, devices: 0 };
  const ofJob = 'FROM staged_devices_local WHERE job_id = {job: UInt64} AND load_id IN ({loads: Array(UInt64)})';
  const query_params = { job: jobId, loads: loadIds };
  const ofShards = await onEveryShard(engine, async (shard) => {
    const before = await findRebuild(shard);
    const query = `INSERT INTO known_devices_local (device) SELECT device ${ofJob} AND is_add ORDER BY device LIMIT 1 BY device`;
    const added = await insertSelected(shard, { query, query_params });
    const count = selectRows<{ total: string; deletes: string }>(
      shard,
      `SELECT toString(count()) AS total, toString(countIf(NOT is_add)) AS deletes ${ofJob}`,
      query_params,
    );
    const [[counted], after] = await Promise.all([count, findRebuild(shard)]);
    const rows = Number(counted?.total ?? 0);
    // If no row is a delete, the number of rows written is the number of devices. During a rebuild, it includes the rows that
    // were copied into the next table.
    const isRebuilding = before.isFed || after.isFed || after.table !== before.table;
    if (counted?.deletes === '0' && !isRebuilding) return { rows, devices: added };
    const devices = `SELECT device ${ofJob} ORDER BY device LIMIT 1 BY device`;
    const countAll = `SELECT toString(count()) AS number FROM (${devices})`;
    return { rows, devices: await selectNumber(shard, { query: countAll, query_params }) };
  });
  return ofShards.reduce((sum, { rows, devices }) => ({ rows: sum.rows + rows, devices: sum.devices + devices }));
}

const condition = `partner_id = {partner: UInt64} AND attribute_id IN ({attributes: Array(UInt64)})
  AND version <= {version: UInt64}`;

function parametersOf({ partnerId, attributeIds, versions }: AttributeRows) {
  return { partner: partnerId, attributes: attributeIds, version: versions.ofAdds };
}

/** Counts the partner's current rows with these attributes, and their devices. */
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

/** The longest wait for a mutation. Meanwhile, a delete occupies a slot for lanes. */
const maxMutationWaitMs = 3_000;

/**
 * Uses a mutation instead of a lightweight delete, so that the parts are rewritten without the rows before this
 * function returns true. The mutation affects only the partner's partition. If a suspended process resumes and repeats the
 * delete, the version protects the rows of later imports. Returns false while ClickHouse still rewrites parts. A later
 * call continues to wait for the same mutation.
 */
export async function deleteAttributeRows(engine: Engine, rows: AttributeRows): Promise<boolean> {
  if (!Number.isSafeInteger(rows.partnerId)) throw new TypeError(`${rows.partnerId} is not a partition ID`);
  const ofShards = await onEveryShard(engine, (shard) => deleteOnShard(shard, rows));
  return ofShards.every(Boolean);
}

async function deleteOnShard(shard: Shard, rows: AttributeRows): Promise<boolean> {
  const table = 'device_attributes_local';
  const partitions = [rows.partnerId];
  const query_params = parametersOf(rows);
  const areApplied = (): Promise<boolean> => untilApplied(shard, table, partitions, { maxMs: maxMutationWaitMs });
  if (!(await areApplied())) return false;
  const left = `SELECT toString(count()) AS number FROM ${table} WHERE ${condition}`;
  if ((await selectNumber(shard, { query: left, query_params })) === 0) return true;
  await startMutation(shard, {
    query: `ALTER TABLE ${table} DELETE IN PARTITION ID '${rows.partnerId}' WHERE ${condition}`,
    query_params,
    partitions,
  });
  return areApplied();
}

/** Reads only metadata: every partner has its own partition. */
async function measureStoredData(engine: Engine): Promise<StoredData[]> {
  const found = await selectFromShards<{ partner: string; rows: string; bytes: string }>(
    engine,
    `SELECT partition AS partner, toString(sum(rows)) AS rows, toString(sum(bytes_on_disk)) AS bytes
     FROM system.parts
     WHERE active AND database = currentDatabase() AND table IN ('device_attributes_local', 'audience_devices_local')
     GROUP BY partition`,
  );
  return [...Map.groupBy(found, ({ partner }) => Number(partner))].map(([partnerId, parts]) => ({
    partnerId,
    rows: parts.reduce((sum, { rows }) => sum + Number(rows), 0),
    bytes: parts.reduce((sum, { bytes }) => sum + Number(bytes), 0),
  }));
}
