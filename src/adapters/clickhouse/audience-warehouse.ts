import { randomUUID } from 'node:crypto';
import type { LoadId, PartnerId } from '../../domain/ids.ts';
import type { ShardRows } from '../../domain/row-account.ts';
import type { ClickHouseSettings } from '@clickhouse/client';
import type { Load } from '../../ports/load-stage.ts';
import type { AudienceWarehouse, Generation, FilesOfLoad, DeviceCounts, CountedJob } from '../../ports/warehouse.ts';
import {
  type Engine,
  type Server,
  type Shard,
  insertSelected,
  jobQueryPrefix,
  loadQueryPrefix,
  newQueryId,
  onEveryServer,
  onEveryShard,
  onEveryShardInSync,
  selectNumber,
  syncAllReplicas,
  syncServer,
} from './connect.ts';
import { countMatchedStandIns } from './count-stand-ins.ts';
import { deletesIn, mutate } from './mutate.ts';
import { isStandIn, personOf, standInScope } from './stand-in-sql.ts';
import {
  attachStagingTable,
  findStagingTables,
  hasStagingTables,
  publishOnServers,
  stagingTableNames,
} from './staging-tables.ts';

export function clickhouseAudienceWarehouse(engine: Engine): AudienceWarehouse {
  return {
    countUploaded: (load, fileIds) => countUploaded(engine, load, fileIds),
    publish: (load, fileIds) => publishMembers(engine, load, fileIds),
    countDevices: (job, about) => countDevices(engine, job, about),
    countNewDevices: (job, loads) => countNewDevices(engine, job, loads),
    countDead: (generations) => countDead(engine, generations),
    purge: (generations, signal) => purgeGenerations(engine, generations, signal),
  };
}

/**
 * The condition matches a prefix of the partition key and sort key, so ClickHouse does not read rows of other
 * audiences.
 */
export const isOfGeneration =
  'partner_id = {partner: UInt64} AND audience_id = {audience: UInt64} AND generation = {generation: UInt32}';

export function generationParameters({ partnerId, audienceId, generation }: Generation): Record<string, number> {
  return { partner: partnerId, audience: audienceId, generation };
}

/**
 * Returns a query for the staged rows (file_id, device) of these files. It reads staging tables and the shared stage.
 */
async function stagedMembersSql(shard: Server, loads: readonly FilesOfLoad[]): Promise<string> {
  const inOwnTables = await findStagingTables(
    shard,
    loads.map(({ load }) => load.loadId),
  );
  const shared = loads.filter(({ load }) => !inOwnTables.has(load.loadId));
  const ids = (values: readonly number[]): string => values.map((value) => `toUInt64(${value})`).join(', ');
  return [
    ...loads
      .filter(({ load }) => inOwnTables.has(load.loadId))
      .map(
        ({ load, fileIds }) =>
          `SELECT file_id, device FROM ${stagingTableNames(load.loadId).rows} WHERE file_id IN (${ids(fileIds)})`,
      ),
    ...(shared.length === 0
      ? []
      : [
          `SELECT file_id, device FROM staged_members_local WHERE load_id IN (${ids(shared.map(({ load }) => load.loadId))})
          AND file_id IN (${ids(shared.flatMap(({ fileIds }) => fileIds))})`,
        ]),
  ].join('\nUNION ALL ');
}

/** Adds staged rows to the audience, server by server. Idempotent, because an audience is a set. */
async function publishMembers(engine: Engine, load: Load, fileIds: readonly number[]): Promise<ShardRows> {
  const { rows } = stagingTableNames(load.loadId);
  return publishOnServers(engine, load, async (server, hasOwnTables) => {
    if (!hasOwnTables) return copyMembers(server, load, fileIds, 'staged_members_local WHERE load_id = {load: UInt64}');
    // A staging table that contains rows of a failed file cannot be attached as a whole.
    if (await hasOtherFiles(server, rows, fileIds)) return copyMembers(server, load, fileIds, `${rows} WHERE true`);
    return attachStagingTable(server, load);
  });
}

async function hasOtherFiles(shard: Server, rows: string, fileIds: readonly number[]): Promise<boolean> {
  const result = await shard.query({
    query: `SELECT 1 AS found FROM ${rows} WHERE file_id NOT IN ({files: Array(UInt64)}) LIMIT 1`,
    query_params: { files: fileIds },
    format: 'JSONEachRow',
  });
  return (await result.json()).length > 0;
}

async function copyMembers(shard: Server, load: Load, fileIds: readonly number[], from: string): Promise<number> {
  if (load.target.kind !== 'audience') throw new TypeError(`load ${load.loadId} is not for an audience`);
  const { audienceId, generation } = load.target;
  return insertSelected(shard, {
    query: `
      INSERT INTO audience_devices_local (partner_id, audience_id, generation, device, event, file_id)
      SELECT {partner: UInt64}, {audience: UInt64}, {generation: UInt32}, device, event, file_id
      FROM ${from} AND file_id IN ({files: Array(UInt64)})`,
    query_id: newQueryId(loadQueryPrefix(load.loadId), 'publish'),
    query_params: { partner: load.partnerId, audience: audienceId, generation, load: load.loadId, files: fileIds },
    clickhouse_settings: { optimize_on_insert: 0 },
  });
}

/** The statements contain up to 10,000 generations. */
const longStatement: ClickHouseSettings = { max_query_size: '4194304' };

/**
 * Counts all generations in one query per shard. The lists are written into the statement, because parameters are sent in
 * the URL.
 */
async function countDead(
  engine: Engine,
  generations: readonly Generation[],
): Promise<{ rows: number[]; storedRows: Map<PartnerId, number> }> {
  const list = (ids: readonly number[]): string => `[${ids.map(checkedId).join()}]::Array(UInt64)`;
  const partners = [...new Set(generations.map(({ partnerId }) => partnerId))];
  const dead = `arrayZip(${list(generations.map(({ partnerId }) => partnerId))},
    ${list(generations.map(({ audienceId }) => audienceId))}, ${list(generations.map(({ generation }) => generation))})`;
  const counted = new Map<string, number>();
  const storedRows = new Map<PartnerId, number>();
  const add = <K>(map: Map<K, number>, key: K, rows: string): unknown =>
    map.set(key, (map.get(key) ?? 0) + Number(rows));
  await onEveryShardInSync(engine, ['audience_devices_local'], async (shard) => {
    const counts = await shard.query({
      query: `
        SELECT concat(toString(partner_id), ':', toString(audience_id), ':', toString(generation)) AS key,
          toString(count()) AS rows
        FROM audience_devices_local
        WHERE (partner_id, audience_id, generation) IN (SELECT one.1, one.2, one.3 FROM (SELECT arrayJoin(${dead}) AS one))
        GROUP BY partner_id, audience_id, generation`,
      clickhouse_settings: longStatement,
      format: 'JSONEachRow',
    });
    for (const { key, rows } of await counts.json<{ key: string; rows: string }>()) add(counted, key, rows);
    const stored = await shard.query({
      query: `
        SELECT partition_id AS partner, toString(sum(rows)) AS rows FROM system.parts
        WHERE active AND database = currentDatabase() AND table = 'audience_devices_local'
          AND has(${list(partners)}, toUInt64OrZero(partition_id))
        GROUP BY partition_id`,
      clickhouse_settings: longStatement,
      format: 'JSONEachRow',
    });
    for (const { partner, rows } of await stored.json<{ partner: string; rows: string }>()) {
      add(storedRows, Number(partner), rows);
    }
  });
  const rows = generations.map(
    ({ partnerId, audienceId, generation }) => counted.get(`${partnerId}:${audienceId}:${generation}`) ?? 0,
  );
  return { rows, storedRows };
}

/**
 * Deletes the generations in one mutation per shard. The mutation rewrites only parts that contain rows of these
 * generations and hard-links all other parts under a new name. With many parts, hard-linking takes seconds per
 * mutation, so there should be few mutations. For a few partners, the mutation has one command per partition, so that
 * the parts of other partners are not searched. However, every part goes through all commands, so for many partners a
 * single command that searches all parts is cheaper. Returns when no part contains the rows.
 */
async function purgeGenerations(engine: Engine, dead: readonly Generation[], signal: AbortSignal): Promise<void> {
  const partitions = [...new Set(dead.map(({ partnerId }) => checkedId(partnerId)))];
  const purgeId = randomUUID();
  const values = dead.map(({ partnerId, audienceId, generation }) => ({
    purge_id: purgeId,
    partner_id: partnerId,
    audience_id: audienceId,
    generation,
  }));
  const condition = `(partner_id, audience_id, generation) IN (
    SELECT partner_id, audience_id, generation FROM purged_generations_local WHERE purge_id = '${purgeId}')`;
  await onEveryShard(engine, (shard) =>
    shard.insert({ table: 'purged_generations_local', values, format: 'JSONEachRow' }),
  );
  // A generation without rows in `audience_devices_local` counts as purged. The rows in that table are therefore
  // deleted last, so that an interrupted purge is repeated.
  const tables = ['audience_bitmaps_local', 'audience_devices_local'];
  await syncAllReplicas(engine, ['purged_generations_local', ...tables]);
  for (const table of tables) {
    const query = `ALTER TABLE ${table} ${deletesIn(partitions, condition).join(', ')}`;
    const left = `SELECT toString(count()) AS number FROM ${table} WHERE ${condition}`;
    const deletion = { query, query_params: {}, partitions, left };
    await Promise.all(engine.shards.map((shard) => mutate(shard, table, deletion, signal)));
  }
}

/** Validates an ID before it is written into a statement, because a partition cannot be a query parameter. */
function checkedId(id: number): number {
  if (!Number.isSafeInteger(id) || id < 0) throw new TypeError(`${id} is not an ID`);
  return id;
}

/** Runs a query that returns one row with the columns `unique` and `matched`. */
async function selectCounts(
  shard: Server,
  { query, ...rest }: Omit<Parameters<Server['query']>[0], 'format'>,
): Promise<DeviceCounts> {
  const result = await shard.query({
    ...rest,
    query: `SELECT toString(unique) AS unique, toString(matched) AS matched FROM (${query})`,
    format: 'JSONEachRow',
  });
  const [row] = await result.json<{ unique: string; matched: string }>();
  return { unique: Number(row?.unique ?? 0), matched: Number(row?.matched ?? 0) };
}

function sumCounts(counts: readonly DeviceCounts[]): DeviceCounts {
  return counts.reduce((a, b) => ({ unique: a.unique + b.unique, matched: a.matched + b.matched }));
}

/** `from` is inclusive and `to` is exclusive. A range without a bound is open on that side. */
type DeviceRange = { readonly from?: string; readonly to?: string };

/** Limits memory use, because each range keeps one stream per part in memory. */
const maxRanges = 8;

/**
 * Splits the devices into ranges of about equal size, one per processor of the shard. The bounds are read from the
 * primary index of the known devices, which stores every 8,192nd device in memory. The result is correct even if the
 * sizes differ.
 */
async function rangesOfDevices(shard: Server): Promise<DeviceRange[]> {
  const result = await shard.query({
    query: `
      SELECT arrayMap(n -> toString(devices[intDiv(n * length(devices), ways)]), range(1, ways)) AS cuts
      FROM (
        SELECT arraySort(groupArray(device)) AS devices, least(getSetting('max_threads'), ${maxRanges}) AS ways
        FROM mergeTreeIndex(currentDatabase(), 'known_devices_local')
      )
      WHERE length(devices) > 10 * ways`,
    format: 'JSONEachRow',
  });
  const [row] = await result.json<{ cuts: string[] }>();
  const cuts = [...new Set(row?.cuts)];
  return [...cuts, undefined].map((to, index) => {
    const from = cuts[index - 1];
    return { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
  });
}

function isInRange({ from, to }: DeviceRange): string {
  const tests = [
    ...(from === undefined ? [] : ['device >= {from: UUID}']),
    ...(to === undefined ? [] : ['device < {to: UUID}']),
  ];
  return tests.length === 0 ? 'true' : tests.join(' AND ');
}

/** Rows per granule, the unit of a lookup in the known devices. */
const granule = 8192;

/** A set of this many devices takes tens of megabytes. */
const maxSetDevices = 500_000;

/** Below this number of devices, counting in one range is faster than splitting. */
const minDevicesToSplit = 1_000_000;

/**
 * Every part is read as a stream of blocks, and the merge keeps the current block of each stream in memory. Small
 * blocks limit the memory use.
 */
const settings: ClickHouseSettings = { join_algorithm: 'full_sorting_merge', max_block_size: '16384' };

const countedTables = ['audience_devices_local', 'known_devices_local'];

/** Each device is stored on exactly one shard, so the totals are sums over the shards. */
async function countDevices(engine: Engine, of: CountedJob, about: number): Promise<DeviceCounts> {
  const counts = await onEveryShardInSync(engine, countedTables, async (shard) => {
    const counted = await countOnShard(shard, of, about / engine.shards.length);
    // The stand-ins of suppressed devices are different in the two tables.
    const standIns = await countMatchedStandIns(shard, isOfGeneration, generationParameters(of));
    return sumCounts([counted, { unique: 0, matched: standIns.get(of.audienceId) ?? 0 }]);
  });
  return sumCounts(counts);
}

/**
 * A small set of devices is looked up in the known devices. A large set is merged with all known devices, in one range
 * per processor.
 */
async function countOnShard(shard: Server, of: CountedJob, about: number): Promise<DeviceCounts> {
  const known = await selectNumber(shard, {
    query: `SELECT toString(sum(rows)) AS number FROM system.parts
     WHERE active AND database = currentDatabase() AND table = 'known_devices_local'`,
  });
  if (about <= maxSetDevices && about * granule < known) return selectRange(shard, of, lookupSql);
  const ranges = about < minDevicesToSplit ? [{}] : await rangesOfDevices(shard);
  return sumCounts(await Promise.all(ranges.map((range) => selectRange(shard, of, mergeSql(range), range))));
}

const lookupSql = `
  SELECT
    (SELECT count() FROM (
      SELECT device FROM audience_devices_local WHERE ${isOfGeneration} ORDER BY device LIMIT 1 BY device
    )) AS unique,
    (SELECT count() FROM (
      SELECT device FROM known_devices_local
      WHERE device IN (SELECT device FROM audience_devices_local WHERE ${isOfGeneration}) GROUP BY device
    )) AS matched`;

/**
 * Reads both tables once, in sort order. The left side is sorted and distinct, and ANY returns at most one match from
 * the right side, so every row is one device.
 */
function mergeSql(range: DeviceRange): string {
  return `
  SELECT count() AS unique, countIf(known.device = member.device) AS matched
  FROM (
    SELECT device FROM audience_devices_local WHERE ${isOfGeneration} AND ${isInRange(range)}
    ORDER BY device LIMIT 1 BY device
  ) AS member
  ANY LEFT JOIN (SELECT device FROM known_devices_local WHERE ${isInRange(range)}) AS known
    ON known.device = member.device`;
}

function selectRange(shard: Server, of: CountedJob, query: string, range: DeviceRange = {}): Promise<DeviceCounts> {
  return selectCounts(shard, {
    query,
    query_params: { ...generationParameters(of), ...range },
    query_id: newQueryId(jobQueryPrefix(of.id), 'count'),
    clickhouse_settings: settings,
  });
}

/**
 * Counts the devices that staged files would add to an audience, and how many of them are known. The audience is read
 * only once. Comparing 32 bits of each device before comparing the whole device reduces the time to a third.
 */
async function countNewDevices(
  engine: Engine,
  job: CountedJob,
  loads: readonly FilesOfLoad[],
): Promise<DeviceCounts | null> {
  const replicas = await Promise.all(engine.shards.map((shard) => findStagedReplica(shard, loads)));
  if (replicas.includes(null)) return null;
  const ofShard = async (shard: Server): Promise<DeviceCounts> => {
    await syncServer(engine, shard, countedTables);
    const staged = await stagedMembersSql(shard, loads);
    const isStaged = `PREWHERE reinterpretAsUInt32(device) IN (SELECT reinterpretAsUInt32(device) FROM (${staged}))
      WHERE device IN (SELECT device FROM (${staged}))`;
    const scope = standInScope.audience('{audience: UInt64}');
    const isMatchedStandIn = `${isStandIn(scope)} AND ${personOf('device')} IN (
      SELECT ${personOf('device')} FROM known_devices_local WHERE ${isStandIn(standInScope.known)})`;
    return selectCounts(shard, {
      query: `
        SELECT count() AS unique, countIf(device IN (SELECT device FROM known_devices_local ${isStaged})) + countIf(${isMatchedStandIn}) AS matched
        FROM (SELECT DISTINCT device FROM (${staged}))
        WHERE device NOT IN (SELECT device FROM audience_devices_local ${isStaged} AND ${isOfGeneration})`,
      query_params: generationParameters(job),
      query_id: newQueryId(jobQueryPrefix(job.id), 'count'),
    });
  };
  return sumCounts(await Promise.all(replicas.flatMap((server) => (server === null ? [] : [ofShard(server)]))));
}

/**
 * Returns the replica that has the staged rows of these loads. Returns null if the rows are spread over several
 * replicas.
 */
async function findStagedReplica(shard: Shard, loads: readonly FilesOfLoad[]): Promise<Server | null> {
  if (shard.length === 1) return shard[0];
  const rows = await Promise.all(
    shard.map(async (server) => {
      const staged = await stagedMembersSql(server, loads);
      return selectNumber(server, { query: `SELECT toString(count()) AS number FROM (${staged})` });
    }),
  );
  const [found = shard[0], ...others] = shard.filter((_server, index) => (rows[index] ?? 0) > 0);
  return others.length === 0 ? found : null;
}

/**
 * Counts the distinct devices of each file. In the sort order of the stage, equal devices are adjacent, so LIMIT BY
 * needs little memory and half the CPU time of GROUP BY.
 */
async function countUploaded(engine: Engine, load: Load, fileIds: readonly number[]): Promise<Map<number, number>> {
  const { loadId, partnerId, target } = load;
  if (target.kind !== 'audience') throw new TypeError(`load ${loadId} is not for an audience`);
  const totals = new Map<number, number>();
  await onEveryServer(engine, async (shard) => {
    const result = await shard.query({
      query: (await hasStagingTables(shard, loadId)) ? inStagingTable(loadId, fileIds) : inSharedStage,
      query_params: { load: loadId, files: fileIds, ...generationParameters({ partnerId, ...target }) },
      query_id: newQueryId(loadQueryPrefix(loadId), 'count'),
      format: 'JSONEachRow',
    });
    for (const { file, devices } of await result.json<{ file: string; devices: string }>()) {
      totals.set(Number(file), (totals.get(Number(file)) ?? 0) + Number(devices));
    }
  });
  return totals;
}

const isInFiles = 'file_id IN ({files: Array(UInt64)})';

const inSharedStage = `
  SELECT toString(file_id) AS file, toString(count()) AS devices FROM (
    SELECT file_id, device FROM staged_members_local WHERE load_id = {load: UInt64} AND ${isInFiles}
    ORDER BY file_id, device LIMIT 1 BY file_id, device
  ) GROUP BY file_id`;

/**
 * A staging table is sorted by columns that have the same value in all its rows, and then by device. A condition on
 * those columns lets ClickHouse read in device order. If a load has many files, they are small. Counting with one set
 * per file then takes a third of the time that one set for all files would take.
 */
function inStagingTable(loadId: LoadId, fileIds: readonly number[]): string {
  const { rows } = stagingTableNames(loadId);
  const [only, ...others] = fileIds;
  if (others.length > 0) {
    return `SELECT toString(file_id) AS file, toString(uniqExact(device)) AS devices FROM ${rows}
      WHERE ${isInFiles} GROUP BY file_id`;
  }
  const devices = `SELECT device FROM ${rows} WHERE ${isOfGeneration} AND ${isInFiles} ORDER BY device LIMIT 1 BY device`;
  return `SELECT '${String(only)}' AS file, toString(count()) AS devices FROM (${devices})`;
}
