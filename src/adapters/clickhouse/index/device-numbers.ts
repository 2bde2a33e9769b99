import type { ClickHouseSettings } from '@clickhouse/client';
import type { Fold } from '../../../ports/device-index.ts';
import type { Session } from './session.ts';

/**
 * The number of bits that identify a device within its chunk. Each bitmap contains the device numbers of one chunk. A
 * full bitmap takes 128 KiB.
 */
export const chunkBits = 20;

/** A condition of every statement that writes to the index. It is false after another worker has taken the lease. */
export const hasLease = '{lease: UInt64} >= (SELECT max(lease_id) FROM index_lease_local)';

export function leaseParameters({ foldId, leaseId }: Fold): { readonly fold: number; readonly lease: number } {
  return { fold: foldId, lease: leaseId };
}

/** A set of devices, as a query that returns each device once, in order. */
export type DeviceSet = {
  readonly query: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly size: number;
};

/** A larger set of devices would need too much memory for a lookup. */
const maxLookup = 500_000;
const granule = 1024;

/** Whether looking up the devices reads fewer numbers than a join with all of them. Each device reads one granule. */
export function isCheaperToLookUp(devices: number, allNumbers: number): boolean {
  return devices <= maxLookup && devices * granule < allNumbers;
}

/** Returns the numbers that can belong to these devices, and how to join them. */
function numbersFor({ query, size }: DeviceSet, allNumbers: number): { table: string; join: ClickHouseSettings } {
  if (isCheaperToLookUp(size, allNumbers))
    return {
      table: `(SELECT device, number FROM device_numbers_local WHERE device IN (${query}))`,
      join: { join_algorithm: 'hash' },
    };
  return { table: 'device_numbers_local', join: { join_algorithm: 'full_sorting_merge' } };
}

async function highestNumber(session: Session): Promise<number> {
  const [row] = await session.rows<{ highest: string }>(
    'SELECT toString(max(number)) AS highest FROM device_numbers_local',
  );
  return Number(row?.highest ?? 0);
}

/** A number is a 32-bit integer. */
const maxNumber = 2 ** 32 - 1;

/**
 * Numbers the devices that have no number yet. Numbers start at 1, because a join returns 0 for a device without a number. The lease
 * makes sure that only one worker assigns numbers. `unnumbered` is an upper bound for the number of new devices.
 */
export async function numberDevices(
  session: Session,
  fold: Fold,
  devices: DeviceSet,
  unnumbered: number,
): Promise<{ readonly first: number; readonly added: number }> {
  const highest = await highestNumber(session);
  if (highest + unnumbered > maxNumber)
    throw new Error('a shard has too many devices for the device index; run inlet index rebuild, or add shards');
  const { table, join } = numbersFor(devices, highest);
  const added = await session.run(
    `INSERT INTO device_numbers_local (device, number)
     SELECT device, toUInt32({highest: UInt64} + 1 + rowNumberInAllBlocks()) FROM (
       SELECT d.device AS device FROM (${devices.query}) AS d
       ANY LEFT JOIN (SELECT device, number FROM ${table}) AS n ON d.device = n.device
       WHERE n.number = 0
     ) WHERE ${hasLease}`,
    { parameters: { ...devices.parameters, ...leaseParameters(fold), highest }, settings: join },
  );
  const after = await highestNumber(session);
  if (after !== highest + added)
    throw new Error(
      `the device numbers of a shard end at ${after} instead of ${highest + added}; run inlet index rebuild`,
    );
  return { first: highest + 1, added };
}

/**
 * Writes bitmaps of these devices to the temporary table `changed_devices`, and assigns numbers to the devices that
 * have none. The new numbers are consecutive, so their bitmaps can be built without a second join.
 */
export async function collectDevices(session: Session, fold: Fold, devices: DeviceSet): Promise<void> {
  await session.run(`CREATE TEMPORARY TABLE IF NOT EXISTS changed_devices (
    chunk UInt16, devices AggregateFunction(groupBitmap, UInt32), unnumbered UInt64) ENGINE = Memory`);
  await session.run('TRUNCATE TABLE changed_devices');
  const { table, join } = numbersFor(devices, await highestNumber(session));
  await session.run(
    `INSERT INTO changed_devices
     SELECT toUInt16(bitShiftRight(number, ${chunkBits})) AS chunk, groupBitmapStateIf(number, number > 0), countIf(number = 0) FROM (
       SELECT n.number AS number FROM (${devices.query}) AS d
       ANY LEFT JOIN (SELECT device, number FROM ${table}) AS n ON d.device = n.device
     ) GROUP BY chunk`,
    { parameters: devices.parameters, settings: join },
  );
  const [row] = await session.rows<{ unnumbered: string }>(
    'SELECT toString(sum(unnumbered)) AS unnumbered FROM changed_devices',
  );
  const unnumbered = Number(row?.unnumbered ?? 0);
  if (unnumbered === 0) return;
  const { first, added } = await numberDevices(session, fold, devices, unnumbered);
  await session.run(
    `INSERT INTO changed_devices
     SELECT toUInt16(bitShiftRight(one, ${chunkBits})) AS chunk, groupBitmapState(one), 0
     FROM (SELECT toUInt32(number) AS one FROM numbers({first: UInt64}, {added: UInt64})) GROUP BY chunk`,
    { parameters: { first, added } },
  );
}
