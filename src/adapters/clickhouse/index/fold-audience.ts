import type { Fold } from '../../../ports/device-index.ts';
import type { Generation } from '../../../ports/warehouse.ts';
import { generationParameters, isOfGeneration } from '../audience-warehouse.ts';
import { isStandIn, standInScope } from '../stand-in-sql.ts';
import { type DeviceSet, chunkOf, collectDevices, contentOf, hasLease, leaseParameters } from './device-numbers.ts';
import type { Session } from './session.ts';

export const bitmapKind = { all: 0, event: 1, firstEvent: 2 } as const;

/** Writes the bitmaps of an audience on one shard. Returns the number of devices. */
export async function foldAudience(
  session: Session,
  fold: Fold,
  members: Generation,
  events: readonly string[],
): Promise<number> {
  const devices = await membersOf(session, members);
  if (devices.size > 0) {
    await collectDevices(session, fold, devices);
    await insertAll(session, fold, devices);
    // If the audience has no events, the bitmaps of its only (empty) event would equal the bitmaps of the audience.
    if (events.some((event) => event !== '')) await insertEvents(session, fold, members, events);
  }
  const [row] = await session.rows<{ devices: string }>(
    `SELECT toString(sum(bitmapCardinality(devices))) AS devices FROM audience_bitmaps_local FINAL
     WHERE ${isOfGeneration} AND kind = ${bitmapKind.all} AND fold_id = {fold: UInt64}`,
    { parameters: { ...generationParameters(members), fold: fold.foldId } },
  );
  return Number(row?.devices ?? 0);
}

async function membersOf(session: Session, members: Generation): Promise<DeviceSet> {
  const parameters = generationParameters(members);
  const [row] = await session.rows<{ rows: string }>(
    `SELECT toString(count()) AS rows FROM audience_devices_local WHERE ${isOfGeneration}`,
    { parameters },
  );
  return {
    query: `SELECT device FROM audience_devices_local WHERE ${isOfGeneration} AND NOT ${isStandIn(standInScope.audience())}
      ORDER BY device LIMIT 1 BY device`,
    parameters,
    size: Number(row?.rows ?? 0),
  };
}

const target = `audience_bitmaps_local (partner_id, audience_id, generation, kind, event, chunk, devices, content, fold_id)`;
const ofAudience = '{partner: UInt64}, {audience: UInt64}, {generation: UInt32}';

async function insertAll(session: Session, fold: Fold, devices: DeviceSet): Promise<void> {
  await session.run(
    `INSERT INTO ${target}
     SELECT ${ofAudience}, ${bitmapKind.all}, '', chunk, bitmap, ${contentOf('bitmap')}, {fold: UInt64} FROM (
       SELECT chunk, groupBitmapMergeState(devices) AS bitmap FROM changed_devices GROUP BY chunk
     ) WHERE ${hasLease}`,
    { parameters: { ...devices.parameters, ...leaseParameters(fold) } },
  );
}

/**
 * For each event, writes the devices that have the event, and the devices that have it as their first event in byte
 * order.
 */
async function insertEvents(
  session: Session,
  fold: Fold,
  members: Generation,
  events: readonly string[],
): Promise<void> {
  const parameters = { ...generationParameters(members), ...leaseParameters(fold), events };
  await session.run(
    `INSERT INTO ${target}
     SELECT ${ofAudience}, kind, {events: Array(String)}[place], chunk, bitmap, ${contentOf('bitmap')}, {fold: UInt64}
     FROM (
       SELECT counted.1 AS kind, counted.2 AS place, ${chunkOf('number')} AS chunk,
         groupBitmapState(number) AS bitmap
       FROM (
         SELECT n.number AS number, arrayJoin(arrayConcat(
           arrayMap(place -> (toUInt8(${bitmapKind.event}), place), d.places),
           [(toUInt8(${bitmapKind.firstEvent}), arrayMin(d.places))])) AS counted
         FROM (
           SELECT device, groupUniqArray(toUInt8(indexOf({events: Array(String)}, event))) AS places
           FROM audience_devices_local WHERE ${isOfGeneration} AND has({events: Array(String)}, event) GROUP BY device
         ) AS d INNER JOIN device_numbers_local AS n ON d.device = n.device
       ) GROUP BY kind, place, chunk
     ) WHERE ${hasLease}`,
    { parameters, settings: { join_algorithm: 'full_sorting_merge', optimize_aggregation_in_order: 1 } },
  );
}
