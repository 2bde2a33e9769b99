import type { Load, LoadTarget } from '../../ports/load-stage.ts';
import { type Engine, type Shard, loadQueryPrefix, newQueryId, onEveryShard, shardFor } from './connect.ts';
import { reasonSql } from './load-results.ts';

/** The tables of a load's own room. No name is ever used again: a load id belongs to one attempt. */
export function roomNames(loadId: number) {
  if (!Number.isSafeInteger(loadId)) throw new TypeError(`${loadId} is no load`);
  const name = (part: string): string => `room_${loadId}_${part}`;
  return {
    /** Where the judged lines arrive; keeps nothing. */
    lines: name('lines'),
    /** The good rows of one shard, with the order and the partitions of the table they will be published in. */
    rows: name('rows'),
    /** The same on all shards. */
    allRows: name('all_rows'),
    views: {
      rows: name('to_rows'),
      counts: name('to_counts'),
      rejects: name('to_rejects'),
      devices: name('to_devices'),
    },
  };
}

/** From the entrance to the rows: without the entrance nothing new comes in. */
function everyTableOf(loadId: number): string[] {
  const { lines, views, allRows, rows } = roomNames(loadId);
  return [lines, ...Object.values(views), allRows, rows];
}

function loadOfTable(name: string): number | null {
  const [, id] = /^room_([0-9]+)_/.exec(name) ?? [];
  return id === undefined ? null : Number(id);
}

/**
 * Where the rows of a load are published, on each shard. A room has the same order and partitions, but keeps every row:
 * the same row may stand in a file that is good and in one that is not.
 */
const finalTables: Readonly<Record<LoadTarget['kind'], { readonly table: string; readonly order: string }>> = {
  audience: { table: 'audience_devices_local', order: 'partner_id, audience_id, generation, device, event' },
  attributes: { table: 'device_attributes_local', order: 'partner_id, attribute_id, device' },
};

/**
 * The rows are merged where they are published: here it would only take time from the load, and the final table takes a
 * merged part for one without double rows. So a room may have many parts.
 */
const neverMerge = `max_bytes_to_merge_at_max_space_in_pool = 1, max_bytes_to_merge_at_min_space_in_pool = 1,
  parts_to_delay_insert = 100000, parts_to_throw_insert = 100000`;

/**
 * A large load is staged in tables of its own, made for this attempt: its rows then become part of the final table by
 * moving files (ATTACH), not by being written a second time. That takes the same columns, order and partitions, which
 * the stage that all loads share cannot have. May be repeated. See docs/decisions/load-and-publish.md.
 */
export async function openRoom(engine: Engine, load: Load, onlyFile: number | null): Promise<void> {
  const { rows } = roomNames(load.loadId);
  const { table, order } = finalTables[load.target.kind];
  await onEveryShard(engine, async (shard) => {
    await shard.command({
      query: `CREATE TABLE IF NOT EXISTS ${rows} AS ${table}
        ENGINE = MergeTree PARTITION BY partner_id ORDER BY (${order}) SETTINGS ${neverMerge}`,
    });
  });
  const entrance = shardFor(engine, load.loadId);
  for (const query of entranceStatements(engine, load, onlyFile)) await entrance.command({ query });
}

/** What only the shard needs that the bytes go to. */
function entranceStatements(engine: Engine, load: Load, onlyFile: number | null): string[] {
  const { lines, rows, allRows, views } = roomNames(load.loadId);
  // A single shard needs no table over all of them, and a single file no column of its number.
  const isSharded = engine.shards.length > 1;
  const { columns, published, devices } = load.target.kind === 'audience' ? members(load, onlyFile) : attributes(load);
  const view = (name: string, target: string, select: string): string =>
    `CREATE MATERIALIZED VIEW IF NOT EXISTS ${name} TO ${target} AS SELECT ${select}`;
  const isGood = `FROM ${lines} WHERE verdict = 0`;
  return [
    ...(isSharded
      ? [
          `CREATE TABLE IF NOT EXISTS ${allRows} AS ${rows}
           ENGINE = Distributed('${engine.cluster}', currentDatabase(), '${rows}', cityHash64(device))`,
        ]
      : []),
    `CREATE TABLE IF NOT EXISTS ${lines} (
      file_id UInt64, row UInt64, bytes UInt64, verdict UInt8, device UUID, ${columns}, line String
    ) ENGINE = Null`,
    view(views.rows, isSharded ? allRows : rows, `${published.values} ${isGood} ORDER BY ${published.order}`),
    ...(devices ? [view(views.devices, 'staged_devices', `${devices} ${isGood} ORDER BY ${deviceOrder}`)] : []),
    view(
      views.counts,
      'load_counts_local',
      `toUInt64(${load.loadId}) AS load_id, file_id, ${reasonSql('verdict')} AS reason, rows, bytes, first_row FROM (
        SELECT file_id, verdict, count() AS rows, sum(bytes) AS bytes, min(row) AS first_row FROM ${lines} GROUP BY file_id, verdict
      )`,
    ),
    view(
      views.rejects,
      'load_rejects_local',
      `toUInt64(${load.loadId}) AS load_id, file_id, ${reasonSql('verdict')} AS reason, row, substring(line, 1, 200) AS text
      FROM ${lines} WHERE verdict != 0 ORDER BY row LIMIT 100 BY file_id, verdict`,
    ),
  ];
}

/**
 * The order of UUIDs in the engine is that of their second halves, then of their first. Sorted by a number first, a
 * block takes half the time; the table finds it sorted and leaves it so.
 */
const deviceOrder = 'toUInt64(bitAnd(toUInt128(device), 18446744073709551615)), device';

type RoomShape = {
  readonly columns: string;
  readonly published: { readonly values: string; readonly order: string };
  readonly devices: string | null;
};

function members({ partnerId, target }: Load, onlyFile: number | null): RoomShape {
  if (target.kind !== 'audience') throw new TypeError('not a load for an audience');
  return {
    columns: 'event String',
    published: {
      values: `toUInt64(${partnerId}) AS partner_id, toUInt64(${target.audienceId}) AS audience_id,
        toUInt32(${target.generation}) AS generation, device, event, ${onlyFile === null ? 'file_id' : `toUInt64(${onlyFile}) AS file_id`}`,
      order: `${deviceOrder}, event`,
    },
    devices: null,
  };
}

function attributes({ partnerId, jobId, loadId, target }: Load): RoomShape {
  if (target.kind !== 'attributes') throw new TypeError('not a load of attributes');
  const { ofAdds, ofDeletes } = target.versions;
  return {
    columns: 'id_type UInt8, country LowCardinality(String), is_deleted UInt8, attribute_ids Array(UInt64)',
    published: {
      values: `toUInt64(${partnerId}) AS partner_id, arrayJoin(attribute_ids) AS attribute_id, device, id_type, country,
        toUInt64(if(is_deleted, ${ofDeletes}, ${ofAdds})) AS version, is_deleted`,
      order: `attribute_id, ${deviceOrder}`,
    },
    devices: `toUInt64(${jobId}) AS job_id, toUInt64(${loadId}) AS load_id, device, toUInt8(NOT is_deleted) AS is_add`,
  };
}

const roomsAtATime = 50;

/** Returns when no statement uses the rooms any more and their files are gone. A load without a room costs nothing. */
export async function closeRooms(engine: Engine, loadIds: readonly number[]): Promise<void> {
  for (let start = 0; start < loadIds.length; start += roomsAtATime) {
    const tables = loadIds.slice(start, start + roomsAtATime).flatMap(everyTableOf);
    await onEveryShard(engine, (shard) =>
      shard.command({
        query: `DROP TABLE IF EXISTS ${tables.join(', ')} SYNC`,
        // By default the engine refuses to drop 50 GB and more.
        clickhouse_settings: { max_table_size_to_drop: '0' },
      }),
    );
  }
}

/** The loads that have a room somewhere. */
export async function listRooms(engine: Engine): Promise<number[]> {
  const names = await onEveryShard(engine, async (shard) => {
    const result = await shard.query({
      query: `SELECT name FROM system.tables WHERE database = currentDatabase() AND startsWith(name, 'room_')`,
      format: 'JSONEachRow',
    });
    return result.json<{ name: string }>();
  });
  return [...new Set(names.flat().flatMap(({ name }) => loadOfTable(name) ?? []))];
}

/** Of these loads, those that have a room on the shard. */
export async function findRooms(shard: Shard, loadIds: readonly number[]): Promise<Set<number>> {
  const byName = new Map(loadIds.map((loadId) => [roomNames(loadId).rows, loadId]));
  const result = await shard.query({
    query: `SELECT name FROM system.tables WHERE database = currentDatabase() AND name IN ({names: Array(String)})`,
    query_params: { names: [...byName.keys()] },
    format: 'JSONEachRow',
  });
  const found = await result.json<{ name: string }>();
  return new Set(found.flatMap(({ name }) => byName.get(name) ?? []));
}

export async function hasRoom(shard: Shard, loadId: number): Promise<boolean> {
  return (await findRooms(shard, [loadId])).has(loadId);
}

/** The room's files become files of the final table as well; nothing is written. */
export async function publishRoom(shard: Shard, load: Load): Promise<void> {
  if (!Number.isSafeInteger(load.partnerId)) throw new TypeError(`${load.partnerId} is no partition`);
  await shard.command({
    query: `ALTER TABLE ${finalTables[load.target.kind].table} ATTACH PARTITION ID '${load.partnerId}' FROM ${roomNames(load.loadId).rows}`,
    query_id: newQueryId(loadQueryPrefix(load.loadId), 'publish'),
  });
}
