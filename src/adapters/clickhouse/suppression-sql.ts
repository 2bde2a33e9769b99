import type { ClickHouseError } from '@clickhouse/client';
import { type SuppressionList, suppressionSample } from '../../domain/suppression.ts';
import type { LoadTarget } from '../../ports/load-stage.ts';
import { keyedHashOf, personOfHash, standInScope, standInSql } from './stand-in-sql.ts';

/**
 * The in-memory set for one version of the suppression list. Each version has its own table, so a load is checked
 * against exactly the version that it records. A server without this version has no such table, and the load fails and
 * is tried again.
 */
export function suppressionSetName(version: number): string {
  if (!Number.isSafeInteger(version)) throw new TypeError(`${version} is not a version of the suppression list`);
  return `${suppressionSetPrefix}${version}`;
}

export const suppressionSetPrefix = 'suppression_set_';

/**
 * The first eight bytes of a hash. The set contains only these, because it is in memory: 256 MiB for ten million
 * hashes. With ten million hashes, the probability that a device that is not on the list shares the prefix of a listed
 * one is 5 × 10⁻¹³.
 */
export function hashPrefix(hash: string): string {
  return `reinterpretAsUInt64(${hash})`;
}

/** California's DROP hashes the 32 hexadecimal digits of an ID in lower case. */
export function hashOfDeviceSql(device: string): string {
  return `SHA256(lower(hex(${device})))`;
}

export function hashPrefixOf(device: string): string {
  return hashPrefix(hashOfDeviceSql(device));
}

const listIncomplete = 'The suppression list is incomplete on this server';

/** Returns 1. Throws if the server does not have the whole list. ClickHouse does not sync a set to the disk. */
function isCompleteSql({ version, hashes }: SuppressionList): string {
  return `assumeNotNull((SELECT throwIf(sum(total_rows) != ${hashes}, '${listIncomplete}') = 0 FROM system.tables
    WHERE database = currentDatabase() AND name = '${suppressionSetName(version)}'))`;
}

/**
 * ClickHouse's errors for an expression `IN` a table that does not exist. The error depends on the ClickHouse version.
 */
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
 * Returns the columns that follow the row rule. `stand_ins` is empty unless the row is accepted and its device is on
 * the list. `is_sampled` indicates whether the row is in the sample. From this sample, Inlet estimates the number of
 * suppressed rows that partners see. If the list is empty, no row is hashed.
 */
export function suppressionStep(list: SuppressionList, kind: LoadTarget['kind'], shards: number): string[][] {
  if (list.hashes === 0) return [[`CAST([], 'Array(UUID)') AS stand_ins`, 'toUInt8(0) AS is_sampled']];
  const isListed = `${hashPrefixOf('device')} IN ${suppressionSetName(list.version)}`;
  const { ofListed, ofOthers, of } = suppressionSample;
  const chance = `${ofOthers} + ${ofListed - ofOthers} * is_suppressed`;
  return [
    [`${isCompleteSql(list)} AS is_list_complete`, `${keyedHashOf('device')} AS keyed_hash`],
    // bitAnd evaluates both sides for every row, which costs less than branching.
    [`bitAnd(bitAnd(row_status = 0, ${isListed}), is_list_complete) AS is_suppressed`],
    [
      `${standInsOf[kind](shards)} AS stand_ins`,
      `bitAnd(row_status = 0, keyed_hash % ${of} < ${chance}) AS is_sampled`,
    ],
  ];
}

/**
 * The array is empty for a row that is not suppressed, so nothing is computed for it. With `if` instead, the whole statement took
 * three times as much CPU time. For the same reason, every expression in the function depends on its argument.
 */
const standInsOf: Readonly<Record<LoadTarget['kind'], (shards: number) => string>> = {
  /** The stand-in as a known device, and then for each attribute. Element 0 of an array is 0. */
  attributes: (shards) => {
    const scope = standInScope.attribute('row_attribute_ids[n]');
    const standIn = standInSql(personOfHash('keyed_hash'), scope, shards, 'device');
    return `arrayMap(n -> ${standIn}, range(is_suppressed * (1 + length(row_attribute_ids))))`;
  },
  /** The stand-in, and a value that only distinguishes rows with different events. */
  audience: (shards) => {
    const scope = `toUInt64({audience_scope: UInt64} + n)`;
    const standIn = standInSql(personOfHash('keyed_hash'), scope, shards, 'device');
    const row = `reinterpretAsUUID(concat(reinterpretAsFixedString(${keyedHashOf(`keyed_hash, ${scope}, event`)}), toFixedString('', 8)))`;
    return `arrayConcat(arrayMap(n -> ${standIn}, range(is_suppressed)), arrayMap(n -> ${row}, range(is_suppressed)))`;
  },
};
