import { Failure } from '../../domain/failure.ts';
import type { LoadId } from '../../domain/ids.ts';
import type { ShardRows } from '../../domain/row-account.ts';
import type { Load, LoadTarget } from '../../ports/load-stage.ts';
import {
  type Engine,
  type Server,
  loadQueryPrefix,
  newQueryId,
  onEveryServer,
  requireReplicated,
  selectNumber,
  selectRows,
  sumPerShard,
} from './connect.ts';
import { reasonSql } from './row-rule-sql.ts';

/**
 * The names of one load's staging tables. A load ID belongs to one attempt, so no name is used twice. The prefix
 * `room_` must not change, because two releases that run side by side list each other's tables.
 */
export function stagingTableNames(loadId: LoadId) {
  if (!Number.isSafeInteger(loadId)) throw new TypeError(`${loadId} is not a load ID`);
  const name = (part: string): string => `room_${loadId}_${part}`;
  return {
    /** A Null table that receives the validated lines and feeds the views. */
    lines: name('lines'),
    /** The accepted rows of one shard, with the sort order and partitions of the final table. */
    rows: name('rows'),
    /** A Distributed table over the `rows` tables of all shards. */
    allRows: name('all_rows'),
    views: {
      rows: name('to_rows'),
      counts: name('to_counts'),
      rejects: name('to_rejects'),
      devices: name('to_devices'),
      suppressedRows: name('to_suppressed_rows'),
      suppressedDevices: name('to_suppressed_devices'),
    },
  };
}

/** Lists the tables in data flow order, so that dropping them stops new rows first. */
function everyTableOf(loadId: LoadId): string[] {
  const { lines, views, allRows, rows } = stagingTableNames(loadId);
  return [lines, ...Object.values(views), allRows, rows];
}

export function loadOfTable(name: string): number | null {
  const [, id] = /^room_([0-9]+)_/.exec(name) ?? [];
  return id === undefined ? null : Number(id);
}

/**
 * The final tables on each shard. A staging table has the same sort order and partitions but keeps duplicates, because
 * the same row can be in two files, one of which fails.
 */
const finalTables: Readonly<Record<LoadTarget['kind'], { readonly table: string; readonly order: string }>> = {
  audience: { table: 'audience_devices_local', order: 'partner_id, audience_id, generation, device, event' },
  attributes: { table: 'device_attributes_local', order: 'partner_id, attribute_id, device' },
};

/**
 * Parts are merged only in the final table. Merges in a staging table would slow down the load, and the final table
 * assumes that a merged part has no duplicates. A staging table can therefore have many parts.
 */
const neverMerge = `max_bytes_to_merge_at_max_space_in_pool = 1, max_bytes_to_merge_at_min_space_in_pool = 1,
  parts_to_delay_insert = 100000, parts_to_throw_insert = 100000`;

/** The files of a staging table become files of the final table, so they too must be synced to disk. */
const durable = 'fsync_after_insert = 1, fsync_part_directory = 1';

/**
 * Creates the staging tables of a large load. Publishing then links their files into the final table (ATTACH) instead
 * of writing the rows a second time. ATTACH requires the same columns, sort order, and partitions, which the shared
 * stage cannot have. Fails if one of the tables already exists. A PostgreSQL server that was restored from an older
 * state can assign the same load ID again, and the existing tables could then belong to another partner. See
 * docs/decisions/load-and-publish.md.
 */
export async function createStagingTables(
  engine: Engine,
  receiver: Server,
  load: Load,
  onlyFile: number | null,
): Promise<void> {
  const { rows } = stagingTableNames(load.loadId);
  const { table, order } = finalTables[load.target.kind];
  await onEveryServer(engine, (server) =>
    server.command({
      query: `CREATE TABLE ${rows} AS ${table}
        ENGINE = MergeTree PARTITION BY partner_id ORDER BY (${order}) SETTINGS ${neverMerge}, ${durable}`,
    }),
  );
  for (const query of receiverStatements(engine, load, onlyFile)) await receiver.command({ query });
}

/** Statements that create the tables and views that only the receiving shard needs. */
function receiverStatements(engine: Engine, load: Load, onlyFile: number | null): string[] {
  const { suppression } = load;
  const { lines, rows, allRows, views } = stagingTableNames(load.loadId);
  // A single shard needs no Distributed table, and a single file needs no file ID per row.
  const isSharded = engine.shards.length > 1;
  const { columns, published, devices, stagedRows } =
    load.target.kind === 'audience' ? members(load, onlyFile) : attributes(load);
  const view = (name: string, target: string, select: string): string =>
    `CREATE MATERIALIZED VIEW ${name} TO ${target} AS SELECT ${select}`;
  const isAccepted = `FROM ${lines} WHERE row_status = 0 AND empty(stand_ins)`;
  const isSuppressed = `FROM ${lines} WHERE notEmpty(stand_ins)`;
  const target = isSharded ? allRows : rows;
  return [
    ...(isSharded
      ? [
          `CREATE TABLE ${allRows} AS ${rows}
           ENGINE = Distributed('${engine.cluster}', currentDatabase(), '${rows}', cityHash64(device))`,
        ]
      : []),
    `CREATE TABLE ${lines} (
      file_id UInt64, row UInt64, bytes UInt64, row_status UInt8, device UUID, ${columns}, line String,
      stand_ins Array(UUID), is_sampled UInt8
    ) ENGINE = Null`,
    view(views.rows, target, `${published.values} ${isAccepted} ORDER BY ${published.order}`),
    ...(devices ? [view(views.devices, 'staged_devices', `${devices} ${isAccepted} ORDER BY ${deviceOrder}`)] : []),
    ...(suppression.hashes === 0
      ? []
      : [
          view(
            views.suppressedRows,
            target,
            `${published.suppressed(`(SELECT * ${isSuppressed})`)} ORDER BY ${published.order}`,
          ),
          ...(devices
            ? [
                view(
                  views.suppressedDevices,
                  'staged_devices',
                  `${devices} FROM (SELECT * REPLACE(stand_ins[1] AS device) ${isSuppressed}) ORDER BY ${deviceOrder}`,
                ),
              ]
            : []),
        ]),
    view(
      views.counts,
      'load_counts_local',
      `toUInt64(${load.loadId}) AS load_id, file_id, ${reasonSql('row_status')} AS reason, rows, bytes, first_row, staged_rows,
      suppressed_rows, sampled_rows FROM (
        SELECT file_id, row_status, count() AS rows, sum(bytes) AS bytes, min(row) AS first_row,
          ${stagedRows} AS staged_rows, countIf(notEmpty(stand_ins)) AS suppressed_rows,
          sum(toUInt64(is_sampled)) AS sampled_rows
        FROM ${lines} GROUP BY file_id, row_status
      )`,
    ),
    view(
      views.rejects,
      'load_rejects_local',
      `toUInt64(${load.loadId}) AS load_id, file_id, ${reasonSql('row_status')} AS reason, row, substring(line, 1, 200) AS text
      FROM ${lines} WHERE row_status != 0 ORDER BY row LIMIT 100 BY file_id, row_status`,
    ),
  ];
}

/**
 * ClickHouse sorts UUIDs by their second half and then by their first half. Sorting first by the second half as a
 * number takes half the time per block, and the table then skips its own sort.
 */
const deviceOrder = 'toUInt64(bitAnd(toUInt128(device), 18446744073709551615)), device';

type StagingShape = {
  readonly columns: string;
  readonly published: {
    readonly values: string;
    readonly order: string;
    /** Selects from suppressed lines what is stored instead of their data. */
    readonly suppressed: (lines: string) => string;
  };
  readonly devices: string | null;
  /** Counts the rows that the accepted lines produce. Audiences need no separate count, because each line is one row. */
  readonly stagedRows: string;
};

function members({ partnerId, target }: Load, onlyFile: number | null): StagingShape {
  if (target.kind !== 'audience') throw new TypeError('not a load for an audience');
  const values = `toUInt64(${partnerId}) AS partner_id, toUInt64(${target.audienceId}) AS audience_id,
        toUInt32(${target.generation}) AS generation, device, event, ${onlyFile === null ? 'file_id' : `toUInt64(${onlyFile}) AS file_id`}`;
  return {
    columns: 'event String',
    published: {
      values,
      order: `${deviceOrder}, event`,
      suppressed: (lines) =>
        `${values} FROM (SELECT file_id, stand_ins[1] AS device, lower(hex(reinterpretAsUInt64(stand_ins[2]))) AS event FROM ${lines})`,
    },
    devices: null,
    stagedRows: 'toUInt64(0)',
  };
}

function attributes({ partnerId, jobId, loadId, target }: Load): StagingShape {
  if (target.kind !== 'attributes') throw new TypeError('not a load of attributes');
  const { ofAdds, ofDeletes } = target.versions;
  return {
    columns: 'id_type UInt8, country LowCardinality(String), is_deleted UInt8, attribute_ids Array(UInt64)',
    published: {
      values: `toUInt64(${partnerId}) AS partner_id, arrayJoin(attribute_ids) AS attribute_id, device, id_type, country,
        toUInt64(if(is_deleted, ${ofDeletes}, ${ofAdds})) AS version, is_deleted`,
      order: `attribute_id, ${deviceOrder}`,
      suppressed: (lines) =>
        `toUInt64(${partnerId}) AS partner_id, one.1 AS attribute_id, one.2 AS device, toUInt8(0) AS id_type, '' AS country,
        toUInt64(if(is_deleted, ${ofDeletes}, ${ofAdds})) AS version, is_deleted
        FROM (SELECT is_deleted, arrayJoin(arrayZip(attribute_ids, arrayPopFront(stand_ins))) AS one FROM ${lines})`,
    },
    devices: `toUInt64(${jobId}) AS job_id, toUInt64(${loadId}) AS load_id, device, toUInt8(NOT is_deleted) AS is_add`,
    stagedRows: 'sum(if(row_status = 0, length(attribute_ids), 0))',
  };
}

/** If a partner's partition has more parts than this, nothing more is published to it. */
const maxPartsPerPartner = 1_000;

/**
 * A large file adds many parts to the partner's partition. Until ClickHouse has merged them, the partner's lane waits.
 * Other partners have their own partitions and continue. Unlike system.parts, EXPLAIN ESTIMATE counts the parts of one
 * partition without listing the parts of all partners.
 */
async function requireFewParts(shard: Server, { partnerId, target }: Load): Promise<void> {
  const { table } = finalTables[target.kind];
  const [estimate] = await selectRows<{ parts: string }>(
    shard,
    `EXPLAIN ESTIMATE SELECT device FROM ${table} WHERE partner_id = {partner: UInt64}`,
    { partner: partnerId },
  );
  const parts = Number(estimate?.parts ?? 0);
  if (parts <= maxPartsPerPartner) return;
  const detail = `Partner ${partnerId} has ${parts} parts in ${table}. Publishing waits until there are at most ${maxPartsPerPartner}.`;
  throw new Failure('merges_behind', detail);
}

const loadsPerDrop = 50;

/**
 * Returns when no statement uses the tables and their files are deleted. The call is free for a load without staging
 * tables.
 */
export async function dropStagingTables(engine: Engine, loadIds: readonly LoadId[]): Promise<void> {
  for (let start = 0; start < loadIds.length; start += loadsPerDrop) {
    const tables = loadIds.slice(start, start + loadsPerDrop).flatMap(everyTableOf);
    await onEveryServer(engine, (server) =>
      server.command({
        query: `DROP TABLE IF EXISTS ${tables.join(', ')} SYNC`,
        // By default ClickHouse refuses to drop tables of 50 GB or more.
        clickhouse_settings: { max_table_size_to_drop: '0' },
      }),
    );
  }
}

/** Returns the IDs of loads with a staging table on the server. */
export async function listLoadsWithStagingTables(server: Server): Promise<number[]> {
  const names = await selectRows<{ name: string }>(
    server,
    `SELECT name FROM system.tables WHERE database = currentDatabase() AND startsWith(name, 'room_')`,
  );
  return names.flatMap(({ name }) => loadOfTable(name) ?? []);
}

/** Returns the loads that have staging tables on the shard. */
export async function findStagingTables(shard: Server, loadIds: readonly LoadId[]): Promise<Set<number>> {
  const byName = new Map(loadIds.map((loadId) => [stagingTableNames(loadId).rows, loadId]));
  const result = await shard.query({
    query: `SELECT name FROM system.tables WHERE database = currentDatabase() AND name IN ({names: Array(String)})`,
    query_params: { names: [...byName.keys()] },
    format: 'JSONEachRow',
  });
  const found = await result.json<{ name: string }>();
  return new Set(found.flatMap(({ name }) => byName.get(name) ?? []));
}

/** A condition that is 1 if the table exists. */
export function hasTable(name: string): string {
  return `(SELECT count() FROM system.tables WHERE database = currentDatabase() AND name = '${name}')`;
}

export async function hasStagingTables(shard: Server, loadId: LoadId): Promise<boolean> {
  return (await findStagingTables(shard, [loadId])).has(loadId);
}

/**
 * Calls `publish` on each server to publish the rows that are staged there, and waits until enough replicas have the
 * rows. Returns the number of rows on each shard. If the partner has too many parts, fails before any row is published.
 */
export async function publishOnServers(
  engine: Engine,
  load: Load,
  publish: (server: Server, hasOwnTables: boolean) => Promise<number>,
): Promise<ShardRows> {
  const withOwnTables = new Map<Server, boolean>();
  await onEveryServer(engine, async (server) => {
    const [hasOwnTables] = await Promise.all([hasStagingTables(server, load.loadId), requireFewParts(server, load)]);
    withOwnTables.set(server, hasOwnTables);
  });
  const rows = await sumPerShard(engine, (server) => publish(server, withOwnTables.get(server) === true));
  await requireReplicated(engine, finalTables[load.target.kind].table);
  return rows;
}

/** Links the staging table's files into the final table without rewriting them. Returns the number of rows. */
export async function attachStagingTable(shard: Server, load: Load): Promise<number> {
  if (!Number.isSafeInteger(load.partnerId)) throw new TypeError(`${load.partnerId} is not a partition ID`);
  const { rows } = stagingTableNames(load.loadId);
  const number = await selectNumber(shard, { query: `SELECT toString(count()) AS number FROM ${rows}` });
  if (number === 0) return 0;
  await shard.command({
    query: `ALTER TABLE ${finalTables[load.target.kind].table} ATTACH PARTITION ID '${load.partnerId}' FROM ${rows}`,
    query_id: newQueryId(loadQueryPrefix(load.loadId), 'publish'),
  });
  return number;
}
