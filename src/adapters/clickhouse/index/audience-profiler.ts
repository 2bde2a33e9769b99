import type { ClickHouseSettings } from '@clickhouse/client';
import type { CellCount, CompositionCounts, Counting } from '../../../domain/composition/counts.ts';
import type { AudienceProfiler, IndexState } from '../../../ports/device-index.ts';
import { generationParameters, isOfGeneration } from '../audience-warehouse.ts';
import { type Engine, onEveryShardInSync } from '../connect.ts';
import { bitmapKind } from './fold-audience.ts';
import { isKnownDevices } from './fold-known-devices.ts';

/** Uses the bitmaps of the device index to count the devices of an audience in each attribute. */
export function clickhouseAudienceProfiler(engine: Engine): AudienceProfiler {
  return {
    profile: async (members, counting, state, signal) => {
      const tables = ['attribute_bitmaps_local', 'audience_bitmaps_local', 'full_chunks_local'];
      const query_params = { ...generationParameters(members), fold: state.foldId, kind: kindOf[counting] };
      const shards = await onEveryShardInSync(engine, tables, (shard) =>
        profileShard(
          async <Row>(query: string) =>
            (
              await shard.query({
                query,
                query_params,
                format: 'JSONEachRow',
                abort_signal: signal,
                clickhouse_settings: settings,
              })
            ).json<Row>(),
          counting,
        ),
      );
      return shards.every(({ folds }) => isComplete(folds, state)) ? addShards(shards, counting, state) : null;
    },
  };
}

/** A row contains up to 128 KiB, so even a few thousand rows justify another thread. */
const settings: ClickHouseSettings = {
  join_algorithm: 'hash',
  max_memory_usage: '2147483648',
  max_bytes_before_external_group_by: '268435456',
  merge_tree_min_rows_for_concurrent_read: '1',
  merge_tree_min_bytes_for_concurrent_read: '1',
};

type ShardProfile = {
  readonly members: MembersOfShard;
  readonly folds: readonly PartnerFold[];
  readonly cells: readonly ShardCell[];
  readonly ofEvents: readonly EventCell[];
  readonly countries: readonly CountryDevices[];
};

type MembersOfShard = { readonly devices: string; readonly content: string; readonly events: readonly string[] };

type PartnerFold = { readonly partner: string; readonly fold: string };

type ShardCell = {
  readonly attribute: string;
  readonly value: string;
  readonly devices: string;
  readonly warehouse: string;
  readonly content: string;
};

type EventCell = { readonly attribute: string; readonly event: string; readonly devices: string };

type CountryDevices = { readonly country: string; readonly devices: string };

type Select = <Row>(query: string) => Promise<Row[]>;

const kindOf: Readonly<Record<Counting, number>> = {
  none: bitmapKind.all,
  id_type: bitmapKind.all,
  country: bitmapKind.all,
  event: bitmapKind.event,
  first_event: bitmapKind.firstEvent,
};

function countsEvents(counting: Counting): boolean {
  return kindOf[counting] !== bitmapKind.all;
}

async function profileShard(select: Select, counting: Counting): Promise<ShardProfile> {
  const [cells, ofEvents, countries] = await Promise.all([
    select<ShardCell>(cellsSql(valueOf[counting])),
    countsEvents(counting) ? select<EventCell>(eventsSql) : [],
    counting === 'country' ? select<CountryDevices>(countriesSql) : [],
  ]);
  // These are read last. If no later fold has written bitmaps by now, the statements above cannot have read bitmaps of
  // a later fold.
  const [[members], folds] = await Promise.all([select<MembersOfShard>(membersSql), select<PartnerFold>(foldsSql)]);
  return { members: members ?? { devices: '0', content: '', events: [] }, folds, cells, ofEvents, countries };
}

const valueOf: Readonly<Record<Counting, string>> = {
  none: "''",
  id_type: 'toString(c.id_type)',
  country: 'toString(c.country)',
  event: "''",
  first_event: "''",
};

const isFolded = `${isOfGeneration} AND fold_id = {fold: UInt64}`;
const isCounted = `kind IN (${bitmapKind.all}, {kind: UInt8})`;

/** Covers all members, not only known devices. */
const membersSql = `
  SELECT toString(sumIf(bitmapCardinality(devices), kind = ${bitmapKind.all})) AS devices,
    hex(sipHash128(arraySort(groupArrayIf((kind, event, chunk, content), ${isCounted})))) AS content,
    groupUniqArrayIf(event, kind = ${bitmapKind.event}) AS events
  FROM audience_bitmaps_local FINAL WHERE ${isFolded}`;

/** The last fold of each partner. */
const foldsSql =
  'SELECT toString(partner_id) AS partner, toString(max(fold_id)) AS fold FROM attribute_bitmaps_local GROUP BY partner_id';

/** The members of each chunk that are known devices. */
function membersByChunkSql(kind: string): string {
  return `SELECT m.event AS event, m.chunk AS chunk, bitmapAnd(m.devices, k.devices) AS devices
    FROM (SELECT event, chunk, devices FROM audience_bitmaps_local FINAL WHERE ${isFolded} AND kind = ${kind}) AS m
    LEFT JOIN (SELECT chunk, devices FROM attribute_bitmaps_local FINAL WHERE ${isKnownDevices}) AS k ON m.chunk = k.chunk`;
}

/** With fewer members in a chunk, the complement takes much more memory than the members. */
const minMembersForComplement = 4096;

/**
 * The members of each chunk that are known devices, or the complement of this set. A set of few members is sparse, and
 * intersecting two sparse bitmaps takes longer than intersecting one of them with the dense complement. A chunk that an
 * earlier release started may have no bitmap of all its numbers. In that case, its members are used instead of the
 * complement.
 */
const comparedByChunkSql = `
  SELECT m.chunk AS chunk,
    bitmapCardinality(f.devices) > 0 AND bitmapCardinality(m.devices) >= ${minMembersForComplement} AS is_complement,
    if(is_complement, bitmapAndnot(f.devices, m.devices), m.devices) AS devices
  FROM (${membersByChunkSql(String(bitmapKind.all))}) AS m
  LEFT JOIN (SELECT chunk, devices FROM full_chunks_local FINAL) AS f ON m.chunk = f.chunk`;

const matchedDevices = `if(m.is_complement, bitmapAndnotCardinality(c.devices, m.devices), bitmapAndCardinality(c.devices, m.devices))`;

/**
 * Attribute 0 contains the known devices, so its row contains the number of matched devices and the number of known
 * devices. The content identifies the devices of a cell. The number of matched devices in a cell also depends on the
 * members and the known devices.
 */
function cellsSql(value: string): string {
  return `
    SELECT toString(c.attribute_id) AS attribute, ${value} AS value,
      toString(sum(${matchedDevices})) AS devices,
      toString(sum(bitmapCardinality(c.devices))) AS warehouse,
      hex(sipHash128(arraySort(groupArrayIf(
        (c.country, c.id_type, c.chunk, c.content), bitmapCardinality(c.devices) > 0)))) AS content
    FROM (SELECT * FROM attribute_bitmaps_local FINAL) AS c
    LEFT JOIN (${comparedByChunkSql}) AS m ON c.chunk = m.chunk
    GROUP BY c.attribute_id, value`;
}

/**
 * The bitmaps of all countries and ID types of an attribute are merged first, so that each event is compared only once
 * per attribute and chunk.
 */
const eventsSql = `
  SELECT toString(a.attribute_id) AS attribute, m.event AS event,
    toString(sum(bitmapAndCardinality(a.devices, m.devices))) AS devices
  FROM (
    SELECT attribute_id, chunk, groupBitmapMergeState(devices) AS devices FROM attribute_bitmaps_local FINAL
    WHERE NOT (${isKnownDevices}) GROUP BY attribute_id, chunk
  ) AS a INNER JOIN (${membersByChunkSql('{kind: UInt8}')}) AS m ON a.chunk = m.chunk
  GROUP BY attribute, event`;

/** A device is in a country if any attribute assigns it to that country. */
const countriesSql = `
  SELECT toString(country) AS country, toString(sum(devices)) AS devices FROM (
    SELECT country, chunk, groupBitmapMerge(devices) AS devices FROM attribute_bitmaps_local FINAL
    WHERE NOT (${isKnownDevices}) GROUP BY country, chunk
  ) GROUP BY country`;

/** Returns false if a fold after this state has written bitmaps, because the report may have read only some of them. */
function isComplete(found: readonly PartnerFold[], { folds }: IndexState): boolean {
  return found.every(({ partner, fold }) => Number(fold) <= (folds.get(Number(partner)) ?? 0));
}

// Each device is stored on exactly one shard, so counts are sums over the shards.

function addShards(
  shards: readonly ShardProfile[],
  counting: Counting,
  { devices }: IndexState,
): CompositionCounts | null {
  // A different number means that a later fold of the audience has replaced bitmaps in the meantime.
  if (shards.reduce((total, { members }) => total + Number(members.devices), 0) !== devices) return null;
  const events = [...new Set(shards.flatMap(({ members }) => members.events))].toSorted(compareBytes);
  const cells = shards.flatMap((shard) => shard.cells);
  const known = addCells('', cells.filter(isKnownCell));
  const attributes = Map.groupBy(
    cells.filter((cell) => !isKnownCell(cell)),
    ({ attribute }) => attribute,
  );
  const eventCells = shards.flatMap(({ ofEvents }) => ofEvents);
  const ofEvents = new Map<string, number>();
  for (const { attribute, event, devices: some } of eventCells) {
    const key = `${attribute} ${event}`;
    ofEvents.set(key, (ofEvents.get(key) ?? 0) + Number(some));
  }
  return {
    // Includes the state of the known devices, because a member counts as matched only once it is a known device.
    members: [...shards.map(({ members }) => members.content), known.warehouseState].join(),
    matchedDevices: known.devices,
    knownDevices: known.warehouseDevices,
    countries: addCountries(shards.flatMap(({ countries }) => countries)),
    cells: [...attributes].flatMap(([attribute, ofAttribute]) => {
      const values = Map.groupBy(ofAttribute, ({ value }) => value);
      const counted = [...values].map(([value, same]) => addCells(value, same)).filter(hasDevices);
      if (!countsEvents(counting))
        return counted.map((cell) => (counting === 'none' ? { ...cell, value: null } : cell));
      // The warehouse stores no events, so each event is compared with the whole attribute.
      return counted.flatMap((whole) =>
        (events.length > 0 ? events : ['']).map((event) => ({
          ...whole,
          // An uploaded event may contain NUL, which PostgreSQL cannot store.
          value: event.replaceAll('\0', '\u{fffd}'),
          devices: events.length > 0 ? (ofEvents.get(`${attribute} ${event}`) ?? 0) : whole.devices,
        })),
      );
    }),
  };
}

function addCountries(ofShards: readonly CountryDevices[]): Record<string, number> {
  const sums = new Map<string, number>();
  for (const { country, devices } of ofShards) sums.set(country, (sums.get(country) ?? 0) + Number(devices));
  return Object.fromEntries([...sums].filter(([, devices]) => devices > 0));
}

function isKnownCell({ attribute }: ShardCell): boolean {
  return attribute === '0';
}

function addCells(value: string, cells: readonly ShardCell[]): CellCount {
  return {
    attributeId: Number(cells[0]?.attribute),
    value,
    devices: cells.reduce((total, { devices }) => total + Number(devices), 0),
    warehouseDevices: cells.reduce((total, { warehouse }) => total + Number(warehouse), 0),
    warehouseState: cells.map(({ content }) => content).join(),
  };
}

/** An attribute whose devices were deleted keeps empty bitmaps. */
function hasDevices({ warehouseDevices }: CellCount): boolean {
  return warehouseDevices > 0;
}

function compareBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}
