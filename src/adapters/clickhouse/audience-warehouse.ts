import type { ClickHouseSettings } from '@clickhouse/client';
import type { Load } from '../../ports/load-stage.ts';
import type { AudienceWarehouse, Generation, FilesOfLoad, DeviceCounts, CountedJob } from '../../ports/warehouse.ts';
import {
  type Engine,
  type Shard,
  jobQueryPrefix,
  loadQueryPrefix,
  newQueryId,
  onEveryShard,
  selectNumber,
  sumOverShards,
} from './connect.ts';
import { mutate } from './mutate.ts';
import { findRooms, hasRoom, publishRoom, roomNames } from './staging-tables.ts';

export function clickhouseAudienceWarehouse(engine: Engine): AudienceWarehouse {
  return {
    countUploaded: (load, fileIds) => countUploaded(engine, load, fileIds),
    publish: (load, fileIds) => publishMembers(engine, load, fileIds),
    countDevices: (job, about) => countDevices(engine, job, about),
    countNewDevices: (job, loads) => countNewDevices(engine, job, loads),
    countDead: (generation) => countDead(engine, generation),
    purge: (generations, signal) => purgeGenerations(engine, generations, signal),
  };
}

/** Partition and sort order begin so: nothing of another audience is read. */
export const isOfGeneration =
  'partner_id = {partner: UInt64} AND audience_id = {audience: UInt64} AND generation = {generation: UInt32}';

export function generationParameters({ partnerId, audienceId, generation }: Generation): Record<string, number> {
  return { partner: partnerId, audience: audienceId, generation };
}

/** A query of the staged rows (file_id, device) of these files on a shard, wherever they are staged. */
async function stagedMembersSql(shard: Shard, loads: readonly FilesOfLoad[]): Promise<string> {
  const rooms = await findRooms(
    shard,
    loads.map(({ load }) => load.loadId),
  );
  const shared = loads.filter(({ load }) => !rooms.has(load.loadId));
  const ids = (values: readonly number[]): string => values.map((value) => `toUInt64(${value})`).join(', ');
  return [
    ...loads
      .filter(({ load }) => rooms.has(load.loadId))
      .map(
        ({ load, fileIds }) =>
          `SELECT file_id, device FROM ${roomNames(load.loadId).rows} WHERE file_id IN (${ids(fileIds)})`,
      ),
    ...(shared.length === 0
      ? []
      : [
          `SELECT file_id, device FROM staged_members_local WHERE load_id IN (${ids(shared.map(({ load }) => load.loadId))})
          AND file_id IN (${ids(shared.flatMap(({ fileIds }) => fileIds))})`,
        ]),
  ].join('\nUNION ALL ');
}

/** From stage to audience, on each shard for itself. An audience is a set: repeating it changes nothing. */
async function publishMembers(engine: Engine, load: Load, fileIds: readonly number[]): Promise<void> {
  await onEveryShard(engine, async (shard) => {
    const isShared = !(await hasRoom(shard, load.loadId));
    if (isShared) return copyMembers(shard, load, fileIds, 'staged_members_local WHERE load_id = {load: UInt64}');
    const { rows } = roomNames(load.loadId);
    // A room that also has rows of a file that failed cannot be taken as a whole.
    if (await hasOtherFiles(shard, rows, fileIds)) return copyMembers(shard, load, fileIds, `${rows} WHERE true`);
    await publishRoom(shard, load);
  });
}

async function hasOtherFiles(shard: Shard, rows: string, fileIds: readonly number[]): Promise<boolean> {
  const result = await shard.query({
    query: `SELECT 1 AS found FROM ${rows} WHERE file_id NOT IN ({files: Array(UInt64)}) LIMIT 1`,
    query_params: { files: fileIds },
    format: 'JSONEachRow',
  });
  return (await result.json()).length > 0;
}

async function copyMembers(shard: Shard, load: Load, fileIds: readonly number[], from: string): Promise<void> {
  if (load.target.kind !== 'audience') throw new TypeError(`load ${load.loadId} is not for an audience`);
  const { audienceId, generation } = load.target;
  await shard.command({
    query: `
      INSERT INTO audience_devices_local (partner_id, audience_id, generation, device, event, file_id)
      SELECT {partner: UInt64}, {audience: UInt64}, {generation: UInt32}, device, event, file_id
      FROM ${from} AND file_id IN ({files: Array(UInt64)})`,
    query_id: newQueryId(loadQueryPrefix(load.loadId), 'publish'),
    query_params: { partner: load.partnerId, audience: audienceId, generation, load: load.loadId, files: fileIds },
    clickhouse_settings: { optimize_on_insert: 0 },
  });
}

async function countDead(engine: Engine, generation: Generation): Promise<number> {
  return sumOverShards(engine, (shard) =>
    selectNumber(shard, {
      query: `SELECT toString(count()) AS number FROM audience_devices_local WHERE ${isOfGeneration}`,
      query_params: generationParameters(generation),
    }),
  );
}

/**
 * One mutation for all of them, with a command for each partner's partition: only parts that hold some of them are written
 * anew. (On plain tables every other part gets a new name by hard links, which takes time but no room: seconds a mutation
 * where there are many parts, so there should be few mutations.) Returns when the rows are in no part any more.
 */
async function purgeGenerations(engine: Engine, dead: readonly Generation[], signal: AbortSignal): Promise<void> {
  const byPartner = Map.groupBy(dead, ({ partnerId }) => partnerId);
  const query = `ALTER TABLE audience_devices_local ${[...byPartner].map(deleteOfPartner).join(', ')}`;
  const statement = { query, query_params: {}, partitions: [...byPartner.keys()] };
  await onEveryShard(engine, (shard) => mutate(shard, 'audience_devices_local', statement, signal));
}

function deleteOfPartner([partnerId, dead]: [number, Generation[]]): string {
  const pairs = dead.map(({ audienceId, generation }) => `(${whole(audienceId)}, ${whole(generation)})`);
  return `DELETE IN PARTITION ID '${whole(partnerId)}'
    WHERE partner_id = ${whole(partnerId)} AND (audience_id, generation) IN (${pairs.join(', ')})`;
}

/** These stand in the statement itself: a partition cannot be a parameter, and each command has its own. */
function whole(id: number): number {
  if (!Number.isSafeInteger(id) || id < 0) throw new TypeError(`${id} is no id`);
  return id;
}

/** The two numbers that a query with the columns `unique` and `matched` gives. */
async function selectCounts(
  shard: Shard,
  { query, ...rest }: Omit<Parameters<Shard['query']>[0], 'format'>,
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

/** From a device on, up to another; without one of them, from the first or up to the last. */
type DeviceRange = { readonly from?: string; readonly to?: string };

/** Every range holds the streams of all parts in memory. */
const mostRanges = 8;

/**
 * Ranges of about the same number of devices, as many as the shard has processors. The known devices tell where to cut:
 * of those the engine has every 8,192th in memory. The ranges need not be equal, only together be all.
 */
async function rangesOfDevices(shard: Shard): Promise<DeviceRange[]> {
  const result = await shard.query({
    query: `
      SELECT arrayMap(n -> toString(devices[intDiv(n * length(devices), ways)]), range(1, ways)) AS cuts
      FROM (
        SELECT arraySort(groupArray(device)) AS devices, least(getSetting('max_threads'), ${mostRanges}) AS ways
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

/** Rows of a granule: what is read of the known devices to find one of them. */
const granule = 8192;

/** A set of so many devices takes some tens of megabytes. */
const largestSet = 500_000;

/** Fewer devices are counted faster than they are divided. */
const worthDividing = 1_000_000;

/**
 * Small blocks: every part is a stream with blocks of its own, and they are what the merge keeps in memory, which so does
 * not grow with the devices.
 */
const settings: ClickHouseSettings = { join_algorithm: 'full_sorting_merge', max_block_size: '16384' };

/** Each device is on one shard, so the totals are sums. */
async function countDevices(engine: Engine, of: CountedJob, about: number): Promise<DeviceCounts> {
  return sumCounts(await onEveryShard(engine, (shard) => countOnShard(shard, of, about / engine.shards.length)));
}

/** Few devices are looked up among the known ones; many are merged with all of them, a range on each processor. */
async function countOnShard(shard: Shard, of: CountedJob, about: number): Promise<DeviceCounts> {
  const known = await selectNumber(shard, {
    query: `SELECT toString(sum(rows)) AS number FROM system.parts
     WHERE active AND database = currentDatabase() AND table = 'known_devices_local'`,
  });
  if (about <= largestSet && about * granule < known) return select(shard, of, lookedUp);
  const ranges = about < worthDividing ? [{}] : await rangesOfDevices(shard);
  return sumCounts(await Promise.all(ranges.map((range) => select(shard, of, merged(range), range))));
}

const lookedUp = `
  SELECT
    (SELECT count() FROM (
      SELECT device FROM audience_devices_local WHERE ${isOfGeneration} ORDER BY device LIMIT 1 BY device
    )) AS unique,
    (SELECT count() FROM (
      SELECT device FROM known_devices_local
      WHERE device IN (SELECT device FROM audience_devices_local WHERE ${isOfGeneration}) GROUP BY device
    )) AS matched`;

/**
 * One pass over both tables, in the order in which their rows stand. The left side comes sorted and without doubles, and
 * ANY takes one of the right, so every row is a device.
 */
function merged(range: DeviceRange): string {
  return `
  SELECT count() AS unique, countIf(known.device = member.device) AS matched
  FROM (
    SELECT device FROM audience_devices_local WHERE ${isOfGeneration} AND ${isInRange(range)}
    ORDER BY device LIMIT 1 BY device
  ) AS member
  ANY LEFT JOIN (SELECT device FROM known_devices_local WHERE ${isInRange(range)}) AS known
    ON known.device = member.device`;
}

function select(shard: Shard, of: CountedJob, query: string, range: DeviceRange = {}): Promise<DeviceCounts> {
  return selectCounts(shard, {
    query,
    query_params: { ...generationParameters(of), ...range },
    query_id: newQueryId(jobQueryPrefix(of.id), 'count'),
    clickhouse_settings: settings,
  });
}

/**
 * The devices that staged files would bring into an audience, and how many of these are known. The audience is read
 * once; whether a row is one of the staged devices is asked for 32 of its bits first, which takes a third of the time.
 */
async function countNewDevices(engine: Engine, job: CountedJob, loads: readonly FilesOfLoad[]): Promise<DeviceCounts> {
  const counts = await onEveryShard(engine, async (shard) => {
    const staged = await stagedMembersSql(shard, loads);
    const isStaged = `PREWHERE reinterpretAsUInt32(device) IN (SELECT reinterpretAsUInt32(device) FROM (${staged}))
      WHERE device IN (SELECT device FROM (${staged}))`;
    return selectCounts(shard, {
      query: `
        SELECT count() AS unique, countIf(device IN (SELECT device FROM known_devices_local ${isStaged})) AS matched
        FROM (SELECT DISTINCT device FROM (${staged}))
        WHERE device NOT IN (SELECT device FROM audience_devices_local ${isStaged} AND ${isOfGeneration})`,
      query_params: generationParameters(job),
      query_id: newQueryId(jobQueryPrefix(job.id), 'count'),
    });
  });
  return sumCounts(counts);
}

/**
 * Distinct devices of each file. Each device is on one shard, so the totals are sums. Read in the order of the stage,
 * where the same devices are neighbours: LIMIT BY takes little memory and half the CPU of GROUP BY.
 */
async function countUploaded(engine: Engine, load: Load, fileIds: readonly number[]): Promise<Map<number, number>> {
  const { loadId, partnerId, target } = load;
  if (target.kind !== 'audience') throw new TypeError(`load ${loadId} is not for an audience`);
  const totals = new Map<number, number>();
  await onEveryShard(engine, async (shard) => {
    const result = await shard.query({
      query: (await hasRoom(shard, loadId)) ? inRoom(loadId, fileIds) : inSharedStage,
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

const isOneOfThese = 'file_id IN ({files: Array(UInt64)})';

const inSharedStage = `
  SELECT toString(file_id) AS file, toString(count()) AS devices FROM (
    SELECT file_id, device FROM staged_members_local WHERE load_id = {load: UInt64} AND ${isOneOfThese}
    ORDER BY file_id, device LIMIT 1 BY file_id, device
  ) GROUP BY file_id`;

/**
 * A room is in order of device, behind what all its rows have in common: only when that is named are they read in order.
 * Many files are small ones: a set for each takes a third of the time that one for all of them takes.
 */
function inRoom(loadId: number, fileIds: readonly number[]): string {
  const { rows } = roomNames(loadId);
  const [only, ...others] = fileIds;
  if (others.length > 0) {
    return `SELECT toString(file_id) AS file, toString(uniqExact(device)) AS devices FROM ${rows}
      WHERE ${isOneOfThese} GROUP BY file_id`;
  }
  const devices = `SELECT device FROM ${rows} WHERE ${isOfGeneration} AND ${isOneOfThese} ORDER BY device LIMIT 1 BY device`;
  return `SELECT '${String(only)}' AS file, toString(count()) AS devices FROM (${devices})`;
}
