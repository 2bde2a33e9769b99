import type { Counting } from '../../../domain/composition/counts.ts';
import type { Generation } from '../../../ports/warehouse.ts';
import { generationParameters, isOfGeneration } from '../audience-warehouse.ts';
import type { ReportSession } from './report-session.ts';

/** Two 64-bit numbers, stored as text because JSON numbers lose precision. */
export type FingerprintKey = { readonly low: string; readonly high: string };

// A snapshot of the audience's members on this shard, in device order. Every statement of a report reads members from
// this copy. `place` is the position of the event in the list of reported events, starting at 1. It is 0 if the event
// is not reported. A device that is counted under several events has one row for each event.

/** How a row is counted. 0 is reserved, because the join returns 0 for a device that is not a member. */
export const memberRank = { first: 1, further: 2, noEvent: 3, unknown: 4, unknownFurther: 5 } as const;

/** The position of a row's event. The list is in byte order, so the smallest position is the smallest event. */
const placeOfEvent = 'toUInt8(indexOf({events: Array(String)}, event))';

/**
 * Queries for devices and the positions of the events under which they are counted. The table is sorted by the grouping
 * key.
 */
const devicesWithPlaces: Readonly<Record<Counting, string>> = {
  none: devicesWith('[toUInt8(0)]'),
  id_type: devicesWith('[toUInt8(0)]'),
  country: devicesWith('[toUInt8(0)]'),
  event: devicesWith(`arraySort(groupUniqArrayIf(${placeOfEvent}, ${placeOfEvent} > 0))`),
  first_event: devicesWith(`[minIf(${placeOfEvent}, ${placeOfEvent} > 0)]`),
};

function devicesWith(places: string): string {
  return `SELECT device, ${places} AS places FROM audience_devices_local WHERE ${isOfGeneration} GROUP BY device`;
}

/** A known device without a reported event is a matched device, but no cell includes it. */
function rankOf(counting: Counting): string {
  const { unknown, first, further, noEvent, unknownFurther } = memberRank;
  const firstRank = counting === 'event' || counting === 'first_event' ? `if(place = 0, ${noEvent}, ${first})` : first;
  return `multiIf(is_known AND number = 1, ${firstRank}, is_known, ${further}, number = 1, ${unknown}, ${unknownFurther})`;
}

/**
 * Copies the members and marks those that are known devices. Uses a merge join, because both tables are read in sort
 * order.
 */
export async function copyMembers(
  session: ReportSession,
  members: Generation,
  counting: Counting,
  events: readonly string[],
): Promise<void> {
  await session.run(`CREATE TEMPORARY TABLE report_members (device UUID, place UInt8, rank UInt8)
    ENGINE = MergeTree ORDER BY (device, place)`);
  await session.run(
    `INSERT INTO report_members
     SELECT device, place, ${rankOf(counting)} FROM (
       SELECT m.device AS device, k.is_known AS is_known, if(empty(m.places), [toUInt8(0)], m.places) AS listed
       FROM (${devicesWithPlaces[counting]}) AS m
       LEFT JOIN (SELECT device, toUInt8(1) AS is_known FROM known_devices_local FINAL) AS k USING (device)
     ) ARRAY JOIN listed AS place, arrayEnumerate(listed) AS number`,
    { ...generationParameters(members), events },
  );
}

export type MembersOfShard = { readonly sum: bigint; readonly xor: bigint; readonly matched: number };

/**
 * The hash is keyed because sum and XOR are linear. With a known hash, an attacker could choose devices that cancel
 * each other out. The key comes from a temporary table, because a query parameter would appear in the query log.
 */
export async function fingerprintMembers(
  session: ReportSession,
  key: FingerprintKey,
  events: readonly string[],
): Promise<MembersOfShard> {
  await session.run('CREATE TEMPORARY TABLE report_key (low UInt64, high UInt64) ENGINE = Memory');
  await session.insert('report_key', key);
  const [row] = await session.rows<{ sum: string; xor: string; matched: string }>(
    `SELECT toString(sum(hash)) AS sum, toString(groupBitXor(hash)) AS xor,
       toString(countIf(rank IN (${memberRank.first}, ${memberRank.noEvent}))) AS matched
     FROM (
       SELECT sipHash64Keyed((SELECT (low, high) FROM report_key),
         concat(toString(device), {events: Array(String)}[place])) AS hash, rank
       FROM report_members
     )`,
    { events },
  );
  return { sum: BigInt(row?.sum ?? 0), xor: BigInt(row?.xor ?? 0), matched: Number(row?.matched ?? 0) };
}
