import type { CellCount, Counting } from '../../../domain/composition/counts.ts';
import type { AudienceProfiler, Generation } from '../../../ports/warehouse.ts';
import { generationParameters, isOfGeneration } from '../audience-warehouse.ts';
import { type Engine, onEveryShardInSync, serverFor } from '../connect.ts';
import { type CellOfShard, countAttribute } from './attribute-cells.ts';
import { type FingerprintKey, type MembersOfShard, copyMembers, fingerprintMembers } from './members.ts';
import { type ReportSession, inReportSession } from './report-session.ts';

const reportTables = ['audience_devices_local', 'known_devices_local', 'device_attributes_local'];

/** Runs one statement at a time per shard, so that the memory use of a report does not grow with the warehouse. */
export function clickhouseAudienceProfiler(engine: Engine, key: FingerprintKey): AudienceProfiler {
  return {
    profile: async (members, counting, attributes, signal) => {
      const countsEvents = counting === 'event' || counting === 'first_event';
      const events = countsEvents ? await listEvents(engine, members, signal) : [];
      const shards = await onEveryShardInSync(engine, reportTables, (shard) =>
        inReportSession(shard, signal, async (session) => {
          await copyMembers(session, members, counting, events);
          const ofMembers = await fingerprintMembers(session, key, events);
          const cells = [];
          for (const attribute of attributes) cells.push(...(await countAttribute(session, attribute, counting)));
          return { ofMembers, known: await countKnown(session), cells };
        }),
      );
      const { members: fingerprint, matched } = addMembers(shards.map(({ ofMembers }) => ofMembers));
      return {
        members: fingerprint,
        matchedDevices: matched,
        knownDevices: shards.reduce((total, { known }) => total + known, 0),
        cells: addCells(
          shards.flatMap(({ cells }) => cells),
          counting,
          events,
        ),
      };
    },
  };
}

/** With FINAL, a device in several unmerged parts is counted only once. */
async function countKnown(session: ReportSession): Promise<number> {
  const [row] = await session.rows<{ devices: string }>(
    'SELECT toString(count()) AS devices FROM known_devices_local FINAL',
  );
  return Number(row?.devices ?? 0);
}

// Each device is stored on exactly one shard, so counts and fingerprints are sums over the shards.

const width = 64;

function addMembers(shards: readonly MembersOfShard[]): { readonly members: string; readonly matched: number } {
  const sum = shards.reduce((total, shard) => BigInt.asUintN(width, total + shard.sum), 0n);
  const xor = shards.reduce((total, shard) => total ^ shard.xor, 0n);
  return { members: `${sum}.${xor}`, matched: shards.reduce((total, shard) => total + shard.matched, 0) };
}

function addCells(cells: readonly CellOfShard[], counting: Counting, events: readonly string[]): CellCount[] {
  const byAttribute = Map.groupBy(cells, ({ attributeId }) => attributeId);
  return [...byAttribute].flatMap(([attributeId, ofAttribute]) =>
    counting === 'event' || counting === 'first_event'
      ? cellsOfEvents(attributeId, ofAttribute, events)
      : [...Map.groupBy(ofAttribute, ({ value }) => value)].map(([value, same]) => ({
          ...sumOf(attributeId, same),
          value: counting === 'none' ? null : value,
        })),
  );
}

/**
 * The warehouse stores no events, so each event is compared with the whole attribute. An empty event also gets a cell.
 */
function cellsOfEvents(attributeId: number, cells: readonly CellOfShard[], events: readonly string[]): CellCount[] {
  const whole = sumOf(attributeId, cells);
  return events.map((event, index) => {
    const { devices } = sumOf(
      attributeId,
      cells.filter(({ value }) => value === String(index + 1)),
    );
    // An uploaded event may contain NUL, which PostgreSQL cannot store.
    return { ...whole, value: event.replaceAll('\0', '\u{fffd}'), devices };
  });
}

function sumOf(attributeId: number, cells: readonly CellOfShard[]): Omit<CellCount, 'value'> {
  const state = cells.reduce((total, cell) => BigInt.asUintN(width, total + cell.state), 0n);
  return {
    attributeId,
    devices: cells.reduce((total, { devices }) => total + devices, 0),
    warehouseDevices: cells.reduce((total, { warehouseDevices }) => total + warehouseDevices, 0),
    warehouseState: String(state),
  };
}

/** Large enough for comparisons and small enough for a report on thousands of attributes. */
const maxEvents = 100;
/** Maximum size of an event in bytes. The list of events is sent with every statement. */
const maxEventBytes = 256;

/**
 * Returns the audience's most frequent events in byte order. Other events are not reported. Unmatched members are
 * included, so the selection depends only on data that the uploader already has.
 */
async function listEvents(engine: Engine, members: Generation, signal: AbortSignal): Promise<string[]> {
  await onEveryShardInSync(engine, ['audience_devices_local'], () => Promise.resolve());
  const result = await serverFor(engine, 0).query({
    query: `
      SELECT event FROM (SELECT event, count() AS devices FROM audience_devices FINAL
      WHERE ${isOfGeneration}
        AND length(event) <= ${maxEventBytes}
      GROUP BY event ORDER BY devices DESC, event LIMIT ${maxEvents}) ORDER BY event`,
    query_params: generationParameters(members),
    format: 'JSONEachRow',
    abort_signal: signal,
    clickhouse_settings: {
      max_bytes_before_external_group_by: '134217728',
      max_memory_usage: '1073741824',
      // Does not read a replica that is behind.
      max_replica_delay_for_distributed_queries: '1',
      fallback_to_stale_replicas_for_distributed_queries: 0,
    },
  });
  return (await result.json<{ event: string }>()).map(({ event }) => event);
}
