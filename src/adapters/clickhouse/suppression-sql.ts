import type { ClickHouseError } from '@clickhouse/client';
import type { SuppressionList } from '../../domain/suppression.ts';

/**
 * The in-memory set of one version of the suppression list. Each version has its own table, so a load is checked against
 * exactly the version that it records. A server without this version has no such table, and the load fails and is tried
 * again.
 */
export function suppressionSetName(version: number): string {
  if (!Number.isSafeInteger(version)) throw new TypeError(`${version} is not a version of the suppression list`);
  return `${suppressionSetPrefix}${version}`;
}

export const suppressionSetPrefix = 'suppression_set_';

/**
 * The first eight bytes of a hash. The set contains only these, because it is in memory: 256 MiB for ten million hashes.
 * With ten million hashes, the probability that a device that is not on the list has the prefix of one is 5 × 10⁻¹³.
 */
export function hashPrefix(hash: string): string {
  return `reinterpretAsUInt64(${hash})`;
}

/** California's DROP hashes the 32 hexadecimal digits of an ID in lower case. */
export function hashPrefixOf(device: string): string {
  return hashPrefix(`SHA256(lower(hex(${device})))`);
}

/** Candidates per shard for a stand-in on the shard of its device. None of them fits with a probability below 10⁻⁶. */
const candidatesPerShard = 16;

const keySql = `(SELECT (reinterpretAsUInt64(key), sipHash64(key)) FROM stand_in_key_local LIMIT 1)`;

/**
 * Returns the device to store. For a suppressed row, this is the stand-in of its device: a UUID that only someone with the
 * installation's key can derive from the device. Its second half is derived from its first half, so that a stand-in can be
 * recognized with the key. It is on the same shard as the device. Otherwise, a partner could tell from the stored bytes of
 * its data that a device had been replaced.
 *
 * The arrays of candidates are empty for rows that are not suppressed, so nothing is computed for these rows. With `if`
 * instead, the whole statement took three times as much CPU time.
 */
function storedDeviceSql(shards: number): string {
  const keyed = (values: string): string => `sipHash64Keyed(${keySql}, ${values})`;
  const first = keyed('device, attempt');
  const candidate = `reinterpretAsUUID(concat(
    reinterpretAsFixedString(${first}), reinterpretAsFixedString(${keyed(first)})))`;
  const candidates = (attempts: number): string =>
    `arrayMap(attempt -> ${candidate}, range(is_suppressed * ${attempts}))`;
  if (shards === 1) return `arrayPushBack(${candidates(1)}, device)[1]`;
  const slot = (value: string): string => `cityHash64(${value}) % ${shards}`;
  const all = candidates(candidatesPerShard * shards);
  const fitting = `arrayFilter(candidate -> ${slot('candidate')} = ${slot('device')}, ${all})`;
  return `arrayConcat(${fitting}, ${candidates(1)}, [device])[1]`;
}

const listIncomplete = 'The suppression list is incomplete on this server';

/** Returns 1. Throws if the server does not have the whole list. ClickHouse does not sync a set to the disk. */
function isCompleteSql({ version, hashes }: SuppressionList): string {
  return `assumeNotNull((SELECT throwIf(sum(total_rows) != ${hashes}, '${listIncomplete}') = 0 FROM system.tables
    WHERE database = currentDatabase() AND name = '${suppressionSetName(version)}'))`;
}

/** ClickHouse's errors for an expression `IN` a table that does not exist. Which one it is depends on the version. */
const missingTableErrors: ReadonlySet<string | undefined> = new Set(['UNKNOWN_TABLE', 'UNKNOWN_IDENTIFIER']);

/**
 * Whether a statement failed because the server lacks the list or a part of it. Messages can contain the statement, so the
 * type is compared as well.
 */
export function isListMissing({ type, message }: ClickHouseError, { version, hashes }: SuppressionList): boolean {
  if (hashes === 0) return false;
  if (missingTableErrors.has(type)) return message.includes(suppressionSetName(version));
  return type === 'FUNCTION_THROW_IF_VALUE_IS_NON_ZERO' && message.includes(listIncomplete);
}

/**
 * Returns the columns that follow the row rule: whether the row's device is suppressed, and the device to store. An accepted
 * row of a suppressed device is stored with the stand-in of the device. If the list is empty, no row is hashed.
 */
export function suppressionStep(list: SuppressionList, shards: number): string[][] {
  if (list.hashes === 0) return [['toUInt8(0) AS is_suppressed', 'device AS stored_device']];
  const isListed = `${hashPrefixOf('device')} IN ${suppressionSetName(list.version)}`;
  return [
    [`${isCompleteSql(list)} AS is_list_complete`],
    // bitAnd evaluates both sides for every row, which costs less than branching.
    [`bitAnd(bitAnd(row_status = 0, ${isListed}), is_list_complete) AS is_suppressed`],
    [`${storedDeviceSql(shards)} AS stored_device`],
  ];
}
