/**
 * A suppressed row is stored under a stand-in instead of its device. Each attribute and each audience has its own
 * stand-ins, so that the rows of one device cannot be connected without the installation's key. With the key, a
 * stand-in can be recognized, and the rows of one device can be counted once.
 *
 * The second half of a stand-in is a mark of 16 bits and 48 bits of a keyed hash of the device in its scope. The first
 * half is the keyed hash of the device (56 bits), encrypted with a keyed hash of the second half. The last byte is
 * free: it is chosen so that the stand-in is on the shard of the device.
 *
 * ClickHouse sorts UUIDs by their second half, so the stand-ins of an attribute or audience are adjacent. A valid
 * advertising ID has another variant (RFC 9562) and never has this mark.
 */
const mark = 0x5df3;

/** `reinterpretAsUInt64` of a UUID is its first half. */
const keySql = `(SELECT (any(reinterpretAsUInt64(key)), any(sipHash64(key))) FROM stand_in_key_local)`;

function keyed(values: string): string {
  return `sipHash64Keyed(${keySql}, ${values})`;
}

/** The scope within which stand-ins can be connected, as an expression. */
export const standInScope = {
  known: 'toUInt64(0)',
  attribute: (id = 'attribute_id'): string => `toUInt64(2 * ${id})`,
  audience: (id = 'audience_id'): string => `toUInt64(2 * ${id} + 1)`,
} as const;

/** The scope of an audience, as a parameter of a statement. */
export function audienceScope(audienceId: number): number {
  return 2 * audienceId + 1;
}

/** The hash of a device. Its last byte decides whether the device is in the sample that partners see. */
export function keyedHashOf(device: string): string {
  return keyed(device);
}

const hashShift = 8;

/** Identifies a device without naming it. `hash` is its keyed hash. */
export function personOfHash(hash: string): string {
  return `bitShiftRight(${hash}, ${hashShift})`;
}

const secondHalfOf = (device: string): string => `toUInt64(bitAnd(toUInt128(${device}), 18446744073709551615))`;

/** Identifies the device of a stand-in. */
export function personOf(standIn: string): string {
  return personOfHash(`bitXor(reinterpretAsUInt64(${standIn}), ${keyed(secondHalfOf(standIn))})`);
}

const hashBits = 48;

function tagOf(person: string, scope: string): string {
  return `bitShiftRight(${keyed(`${person}, ${scope}`)}, ${64 - hashBits})`;
}

const bound = (value: number): string => `toUUID('00000000-0000-0000-${value.toString(16)}-000000000000')`;

/** A range of devices that contains all stand-ins. ClickHouse reads only the granules in this range. */
export function mayBeStandIn(device = 'device'): string {
  return `(${device} >= ${bound(mark)} AND ${device} < ${bound(mark + 1)})`;
}

/** Whether the device is a stand-in in this scope. Only someone with the key can make an ID for which this is true. */
export function isStandIn(scope: string, device = 'device'): string {
  const tag = `bitAnd(${secondHalfOf(device)}, ${2 ** hashBits - 1})`;
  return `(${mayBeStandIn(device)} AND ${tagOf(personOf(device), scope)} = ${tag})`;
}

const candidatesPerShard = 16;

/**
 * Returns the stand-in of a person in a scope. Like the device, it is on the shard of `routed`, which makes the number of rows per
 * shard independent of the list. For 16 shards, no candidate is on this shard with a probability of 10⁻⁷.
 */
export function standInSql(person: string, scope: string, shards: number, routed: string): string {
  // A number of 64 bits, so it cannot be written as a JavaScript number.
  const second = `bitOr(bitShiftLeft(toUInt64(${mark}), ${hashBits}), ${tagOf(person, scope)})`;
  const first = `bitXor(bitShiftLeft(${person}, ${hashShift}), ${keyed(second)})`;
  const uuid = (half: string): string =>
    `reinterpretAsUUID(concat(reinterpretAsFixedString(${half}), reinterpretAsFixedString(${second})))`;
  if (shards === 1) return uuid(first);
  const candidates = Math.min(candidatesPerShard * shards, 2 ** hashShift);
  const slot = (device: string): string => `cityHash64(${device}) % ${shards}`;
  const fits = `attempt -> ${slot(uuid(`bitXor(${first}, toUInt64(attempt))`))} = ${slot(routed)}`;
  return uuid(`bitXor(${first}, toUInt64(arrayFirst(${fits}, range(${candidates}))))`);
}

/** Returns the stand-in among the known devices that belongs to a stored row of this scope. */
export function knownStandIn(scope: string, shards: number): string {
  return `if(${mayBeStandIn()}, if(${isStandIn(scope)}, ${standInSql(personOf('device'), standInScope.known, shards, 'device')}, device), device)`;
}
