import type { ClickHouseSettings } from '@clickhouse/client';
import type { Fold } from '../../../ports/device-index.ts';
import type { Session, Statement } from './session.ts';

/**
 * The number of bits that identify a device within its chunk. Each bitmap contains the device numbers of one chunk. A
 * full bitmap takes 128 KiB.
 */
const chunkBits = 20;
export const chunkSize = 2 ** chunkBits;

export function chunkOf(number: string): string {
  return `toUInt16(bitShiftRight(${number}, ${chunkBits}))`;
}

/**
 * Identifies the devices of a bitmap. Equal bitmaps can have different serialized states, so the numbers are hashed.
 */
export function contentOf(bitmap: string): string {
  return `cityHash64(bitmapToArray(${bitmap}))`;
}

/** A condition in every statement that writes to the index. It is false after another worker has taken the lease. */
export const hasLease = '{lease: UInt64} >= (SELECT max(lease_id) FROM index_lease_local)';

/** The same condition without a parameter, which a mutation cannot have. */
export function hasLeaseOf({ leaseId }: Fold): string {
  return hasLease.replace('{lease: UInt64}', String(leaseId));
}

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

/** Whether looking up the devices reads fewer numbers than a join with all of them. Each lookup reads one granule. */
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
 * Assigns numbers to devices that have none. Numbers start at 1, because a join returns 0 for a device without a
 * number. The lease makes sure that only one worker assigns numbers. `atMost` is an upper bound on the number of
 * devices.
 */
export async function numberDevices(
  session: Session,
  fold: Fold,
  unnumbered: Statement & { readonly query: string; readonly atMost: number },
): Promise<{ readonly first: number; readonly added: number }> {
  const highest = await highestNumber(session);
  if (highest + unnumbered.atMost > maxNumber)
    throw new Error('a shard has too many devices for the device index; run inlet index rebuild, or add shards');
  await addChunks(session, fold, highest + unnumbered.atMost);
  const added = await session.run(
    `INSERT INTO device_numbers_local (device, number)
     SELECT device, toUInt32({highest: UInt64} + 1 + rowNumberInAllBlocks()) FROM (${unnumbered.query}) WHERE ${hasLease}`,
    {
      parameters: { ...unnumbered.parameters, ...leaseParameters(fold), highest },
      // The devices are distinct, so there is nothing to replace.
      settings: { ...unnumbered.settings, optimize_on_insert: 0 },
    },
  );
  const after = await highestNumber(session);
  if (after !== highest + added)
    throw new Error(
      `the device numbers of a shard end at ${after} instead of ${highest + added}; run inlet index rebuild`,
    );
  return { first: highest + 1, added };
}

/** For each missing chunk up to the chunk of `highest`, adds a bitmap of all its numbers. */
async function addChunks(session: Session, fold: Fold, highest: number): Promise<void> {
  const missing = await session.rows<{ chunk: string }>(
    `SELECT toString(number) AS chunk FROM numbers({chunks: UInt64})
     WHERE number NOT IN (SELECT toUInt64(chunk) FROM full_chunks_local)`,
    { parameters: { chunks: Math.floor(highest / chunkSize) + 1 } },
  );
  for (const { chunk } of missing)
    await session.run(
      `INSERT INTO full_chunks_local (chunk, devices)
       SELECT {chunk: UInt16}, devices FROM (
         SELECT groupBitmapState(toUInt32(number)) AS devices FROM numbers({first: UInt64}, {count: UInt64})
       ) WHERE ${hasLease}`,
      { parameters: { ...leaseParameters(fold), chunk, first: Number(chunk) * chunkSize, count: chunkSize } },
    );
}

/** Joins devices with their numbers. A device without a number gets 0. */
export async function joinNumbers(
  session: Session,
  devices: DeviceSet,
): Promise<Statement & { readonly query: string }> {
  const { table, join } = numbersFor(devices, await highestNumber(session));
  const query = `SELECT d.device AS device, n.number AS number FROM (${devices.query}) AS d
    ANY LEFT JOIN (SELECT device, number FROM ${table}) AS n ON d.device = n.device`;
  return { query, parameters: devices.parameters, settings: join };
}

/**
 * Writes bitmaps of these devices to the temporary table `changed_devices`, and assigns numbers to the devices that
 * have none. The join takes most of the time, so its result is stored. It is stored on disk, because it can be large.
 */
export async function collectDevices(session: Session, fold: Fold, devices: DeviceSet): Promise<void> {
  await session.run(
    'CREATE TEMPORARY TABLE changed_devices (chunk UInt16, devices AggregateFunction(groupBitmap, UInt32)) ENGINE = Memory',
  );
  await session.run('CREATE TEMPORARY TABLE joined_devices (device UUID CODEC(NONE), number UInt32) ENGINE = Log');
  const { query, ...options } = await joinNumbers(session, devices);
  await session.run(`INSERT INTO joined_devices ${query}`, options);
  await session.run(
    `INSERT INTO changed_devices SELECT ${chunkOf('number')} AS chunk, groupBitmapState(number) FROM joined_devices
     WHERE number > 0 GROUP BY chunk`,
  );
  const [counted] = await session.rows<{ unnumbered: string }>(
    'SELECT toString(count()) AS unnumbered FROM joined_devices WHERE number = 0',
  );
  const unnumbered = Number(counted?.unnumbered ?? 0);
  if (unnumbered === 0) return;
  const { first, added } = await numberDevices(session, fold, {
    query: 'SELECT device FROM joined_devices WHERE number = 0',
    // Keeps the devices in order, so that they need not be sorted again.
    settings: { max_threads: 1 },
    atMost: unnumbered,
  });
  // The new numbers are consecutive.
  await session.run(
    `INSERT INTO changed_devices SELECT ${chunkOf('one')} AS chunk, groupBitmapState(one)
     FROM (SELECT toUInt32(number) AS one FROM numbers({first: UInt64}, {added: UInt64})) GROUP BY chunk`,
    { parameters: { first, added } },
  );
}
