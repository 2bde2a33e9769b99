import type { Counting } from '../../../domain/composition/counts.ts';
import type { Generation } from '../../../ports/warehouse.ts';
import { generationParameters, isOfGeneration } from '../audience-warehouse.ts';
import type { ReportSession } from './report-session.ts';

/** Two numbers of 64 bits as text, because JSON has none of that size. */
export type FingerprintKey = { readonly low: string; readonly high: string };

// All members of the audience on this shard as they are at one moment, in order of device: everything that is said of
// members in a report is read from this copy. `place` is the place of the event in the list of reported events, from 1,
// or 0; a device that counts in several events has a row for each.

/** What a row stands for. Not 0: that is what the merge gives to a device that is no member. */
export const memberRank = { first: 1, further: 2, noEvent: 3, unknown: 4, unknownFurther: 5 } as const;

/** The place of a row's event. The list is in byte order, so the smallest place is the smallest event. */
const placeOfEvent = 'toUInt8(indexOf({events: Array(String)}, event))';

/** Devices with the places at which they count. Grouping follows the order of the table. */
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

/** A known device without a listed event is matched, but stands in no cell. */
function rankOf(counting: Counting): string {
  const { unknown, first, further, noEvent, unknownFurther } = memberRank;
  const firstRank = counting === 'event' || counting === 'first_event' ? `if(place = 0, ${noEvent}, ${first})` : first;
  return `multiIf(is_known AND number = 1, ${firstRank}, is_known, ${further}, number = 1, ${unknown}, ${unknownFurther})`;
}

/** Known or not is found by merging with the table of known devices, which is read in its own order. */
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
 * Keyed, because a plain sum or exclusive-or is linear: who knows the hash can choose devices that cancel out. The key
 * comes from a table of the session; a parameter would stand in the log of queries.
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
