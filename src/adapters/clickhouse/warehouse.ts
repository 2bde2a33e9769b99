import type { JobId, LoadId, PartnerId } from '../../domain/ids.ts';
import type { JobVersions } from '../../domain/job.ts';
import type { ShardRows } from '../../domain/row-account.ts';
import { initialSuppressionList } from '../../domain/suppression.ts';
import type { Load } from '../../ports/load-stage.ts';
import type { Warehouse, AttributeRows, StoredData } from '../../ports/warehouse.ts';
import {
  type Engine,
  type Server,
  type Shard,
  jobQueryPrefix,
  loadQueryPrefix,
  newQueryId,
  insertSelected,
  onAllServers,
  onEveryServer,
  onEveryShardInSync,
  requireReplicated,
  selectFromShards,
  selectNumber,
  selectRows,
  serverFor,
  sumOverShards,
  syncAllReplicas,
} from './connect.ts';
import { devicesOfRowsSql, repeatedStandInsSql } from './count-stand-ins.ts';
import { dropJob, stopJob } from './drop-stages.ts';
import { writeJobKeys } from './job-keys.ts';
import { findRebuild } from './known-devices.ts';
import { areDeleted, startMutation, untilApplied } from './mutate.ts';
import { knownStandIn, standInScope } from './stand-in-sql.ts';
import { attachStagingTable, publishOnServers } from './staging-tables.ts';
import { hashPrefixOf, suppressionSetName } from './suppression-sql.ts';

export function clickhouseWarehouse(engine: Engine): Warehouse {
  return {
    writeJobKeys: (jobId, keys) => writeJobKeys(engine, jobId, keys),
    publish: (load) => publishLoad(engine, load),
    replaceAttributes: (job, loadIds) => replaceAttributes(engine, job, loadIds),
    stopJob: (jobId) => stopJob(engine, jobId),
    publishDevices: (jobId, loadIds, except) => publishDevices(engine, jobId, loadIds, except),
    publishDevicesOfRows: (partnerId, versions) => publishDevicesOfRows(engine, partnerId, versions),
    dropJob: (jobId) => dropJob(engine, jobId),
    countAttributeRows: (rows) => countAttributeRows(engine, rows),
    deleteAttributeRows: (rows) => deleteAttributeRows(engine, rows),
    measureStoredData: () => measureStoredData(engine),
  };
}

const columns = 'partner_id, attribute_id, device, id_type, country, version, is_deleted';

/** Adds staged rows to the warehouse, server by server. Idempotent, because the warehouse is a set. */
async function publishLoad(engine: Engine, load: Load): Promise<ShardRows> {
  return publishOnServers(engine, load, (server, hasOwnTables) => {
    if (hasOwnTables) return attachStagingTable(server, load);
    return insertSelected(server, {
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
 * its rows with the next version. The attributes are collected from all shards, because an attribute may have no staged
 * device on a shard. Each replica inserts the rows that are staged on it. Marking a row twice has no effect. All
 * replicas must be available, because one of them could still be publishing rows of an earlier job.
 */
async function replaceAttributes(
  engine: Engine,
  job: { readonly id: number; readonly partnerId: PartnerId; readonly versions: JobVersions },
  loadIds: readonly LoadId[],
): Promise<void> {
  await syncAllReplicas(engine, ['device_attributes_local']);
  const named = await onAllServers(engine, (server) =>
    selectRows<{ id: string }>(
      server,
      `SELECT DISTINCT toString(attribute_id) AS id FROM staged_attributes_local WHERE load_id IN ({loads: Array(UInt64)})`,
      { loads: loadIds },
    ),
  );
  const attributes = [...new Set(named.flat(2).map(({ id }) => Number(id)))];
  await onAllServers(engine, (server) =>
    server.command({
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
  await requireReplicated(engine, 'device_attributes_local');
}

/**
 * Adds the distinct devices of a job's committed loads to the known devices and counts them. In sort order, equal
 * devices are adjacent, so removing duplicates needs little memory. Devices on the list `except` are counted, but not
 * added.
 */
async function publishDevices(
  engine: Engine,
  jobId: JobId,
  loadIds: readonly LoadId[],
  except = initialSuppressionList,
): Promise<{ rows: number; devices: number }> {
  if (loadIds.length === 0) return { rows: 0, devices: 0 };
  const isOfJob = 'job_id = {job: UInt64} AND load_id IN ({loads: Array(UInt64)})';
  const ofJob = `FROM staged_devices_local WHERE ${isOfJob}`;
  const query_params = { job: jobId, loads: loadIds };
  const exceptSuppressed =
    except.hashes === 0 ? '' : `AND ${hashPrefixOf('device')} NOT IN ${suppressionSetName(except.version)}`;
  const ofShards = await onEveryServer(engine, async (server) => {
    const before = await findRebuild(server);
    const query = `INSERT INTO known_devices_local (device) SELECT device ${ofJob} AND is_add ${exceptSuppressed} ORDER BY device LIMIT 1 BY device`;
    const added = await insertSelected(server, { query, query_params });
    const count = selectRows<{ total: string; deletes: string }>(
      server,
      `SELECT toString(count()) AS total, toString(countIf(NOT is_add)) AS deletes ${ofJob}`,
      query_params,
    );
    const [[counted], after] = await Promise.all([count, findRebuild(server)]);
    const rows = Number(counted?.total ?? 0);
    // If no row is a delete, the number of rows written is the number of devices. During a rebuild, the number of rows
    // written also includes the rows that were copied into the next table.
    const isRebuilding = before.isFed || after.isFed || after.table !== before.table;
    if (counted?.deletes === '0' && !isRebuilding && except.hashes === 0) return { rows, devices: added };
    return { rows, devices: await countStagedDevices(server, 'staged_devices_local', isOfJob, query_params) };
  });
  await requireReplicated(engine, 'known_devices_local');
  const total = ofShards
    .flat()
    .reduce((sum, { rows, devices }) => ({ rows: sum.rows + rows, devices: sum.devices + devices }));
  const isSplit = ofShards.some((ofReplicas) => ofReplicas.filter(({ rows }) => rows > 0).length > 1);
  if (!isSplit) return total;
  // The job's loads were staged on different replicas, so several replicas can have the same device.
  const everywhere = `clusterAllReplicas('${engine.cluster}', currentDatabase(), staged_devices_local)`;
  return { ...total, devices: await countStagedDevices(serverFor(engine, jobId), everywhere, isOfJob, query_params) };
}

function countStagedDevices(
  server: Server,
  table: string,
  condition: string,
  query_params: Record<string, unknown>,
): Promise<number> {
  const devices = `SELECT device FROM ${table} WHERE ${condition} ORDER BY device LIMIT 1 BY device`;
  // If a replica is unavailable, its rows are also missing from the row count. The caller compares that count with the
  // accepted rows.
  const clickhouse_settings = { skip_unavailable_shards: 1 } as const;
  const query = `SELECT toString(count()) AS number FROM (${devices})`;
  return selectNumber(server, { query, query_params, clickhouse_settings });
}

async function publishDevicesOfRows(engine: Engine, partnerId: PartnerId, versions: JobVersions): Promise<number> {
  const query_params = { partner: partnerId, adds: versions.ofAdds, deletes: versions.ofDeletes };
  const clickhouse_settings = { max_bytes_before_external_group_by: '268435456' };
  const of = (condition: string): string =>
    devicesOfRowsSql(
      `partner_id = {partner: UInt64} AND ${condition}`,
      '',
      knownStandIn(standInScope.attribute(), engine.shards.length),
    );
  const devices = await sumOverShards(engine, ['device_attributes_local'], async (shard) => {
    const query = `INSERT INTO known_devices_local (device) ${of('version = {adds: UInt64}')}`;
    await shard.command({ query, query_params, clickhouse_settings });
    const all = of('version IN ({adds: UInt64}, {deletes: UInt64})');
    const count = `SELECT toString(count()) AS number FROM (${all})`;
    return selectNumber(shard, { query: count, query_params, clickhouse_settings });
  });
  await requireReplicated(engine, 'known_devices_local');
  return devices;
}

const condition = `partner_id = {partner: UInt64} AND attribute_id IN ({attributes: Array(UInt64)})
  AND version <= {version: UInt64}`;

function parametersOf({ partnerId, attributeIds, versions }: AttributeRows) {
  return { partner: partnerId, attributes: attributeIds, version: versions.ofAdds };
}

/** Counts the partner's current rows with these attributes, and their devices. */
async function countAttributeRows(engine: Engine, rows: AttributeRows): Promise<{ rows: number; devices: number }> {
  const counts = await onEveryShardInSync(engine, ['device_attributes_local'], async (shard) => {
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
    const repeated = await selectNumber(shard, {
      query: repeatedStandInsSql(condition, 'FINAL'),
      query_params: parametersOf(rows),
    });
    return { rows: Number(row?.rows ?? 0), devices: Number(row?.devices ?? 0) - repeated };
  });
  return counts.reduce((sum, count) => ({ rows: sum.rows + count.rows, devices: sum.devices + count.devices }));
}

/** Maximum time to wait for a mutation. During the wait, the delete occupies a lane slot. */
const maxMutationWaitMs = 3_000;

/**
 * Deletes the rows with a mutation instead of a lightweight delete, so that all parts have been rewritten without the
 * rows when this function returns true. The mutation affects only the partner's partition. It deletes only rows up to
 * the job's version, so a suspended process that resumes and repeats the delete does not remove rows of later imports.
 * Returns false while ClickHouse is still rewriting parts. A later call continues to wait for the same mutation.
 */
export async function deleteAttributeRows(engine: Engine, rows: AttributeRows): Promise<boolean> {
  if (!Number.isSafeInteger(rows.partnerId)) throw new TypeError(`${rows.partnerId} is not a partition ID`);
  await syncAllReplicas(engine, ['device_attributes_local']);
  const ofShards = await Promise.all(engine.shards.map((shard) => deleteOnShard(shard, rows)));
  return ofShards.every(Boolean);
}

/** Returns true when no replica has the rows. */
async function deleteOnShard(shard: Shard, rows: AttributeRows): Promise<boolean> {
  const table = 'device_attributes_local';
  const partitions = [rows.partnerId];
  const deletion = {
    query: `ALTER TABLE ${table} DELETE IN PARTITION ID '${rows.partnerId}' WHERE ${condition}`,
    query_params: parametersOf(rows),
    partitions,
    left: `SELECT toString(count()) AS number FROM ${table} WHERE ${condition}`,
  };
  const areApplied = async (): Promise<boolean> => {
    const wait = { maxMs: maxMutationWaitMs };
    return (await Promise.all(shard.map((server) => untilApplied(server, table, partitions, wait)))).every(Boolean);
  };
  if (!(await areApplied())) return false;
  if (await areDeleted(shard, deletion)) return true;
  await startMutation(shard, deletion);
  return (await areApplied()) && areDeleted(shard, deletion);
}

/** Reads only metadata, because every partner has its own partition. */
async function measureStoredData(engine: Engine): Promise<StoredData[]> {
  const found = await selectFromShards<{ partner: string; rows: string; bytes: string }>(
    engine,
    [],
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
