/** A version of the list of devices whose rows are not stored. The first version is 0, and it is empty. */
export type SuppressionList = { readonly version: number; readonly hashes: number };

export const initialSuppressionList: SuppressionList = { version: 0, hashes: 0 };

/** The set of a list of this size occupies 1 GiB on every server. */
export const maxSuppressedHashes = 50_000_000;

/**
 * Whether rows that were checked against `version` of the list can contain devices that are on the current list. Such
 * rows are not published.
 */
export function isCheckOutdated(version: number, current: SuppressionList): boolean {
  return version < current.version;
}

/** A partner sees the number of suppressed devices in a file rounded down to a multiple of this. */
const shownUnit = 1_000;

/**
 * The number of suppressed devices as partners see it. It counts devices, not rows, so that a file that repeats one
 * device reveals nothing.
 */
export function shownSuppressed(devices: number): number {
  return Math.floor(devices / shownUnit) * shownUnit;
}

/** What a line of a suppression file contains. */
type SuppressionEntry =
  | { readonly is: 'device'; /** 32 hexadecimal digits in lower case. */ readonly digits: string }
  | { readonly is: 'hash'; /** SHA-256 in Base64. */ readonly hash: string };

const digitsOfDevice = 32;

/** The Base64 form of 32 bytes. The last digit before the padding has four bits. */
const hashPattern = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=$/;

/**
 * Reads an advertising ID or its hash. An ID is hashed as California's DROP specifies: lower case, hexadecimal digits only,
 * and exactly 32 of them. The order matters, because uppercase digits would otherwise be lost. Returns null for any other
 * text.
 */
export function readSuppressionEntry(text: string): SuppressionEntry | null {
  const trimmed = text.trim();
  if (hashPattern.test(trimmed)) return { is: 'hash', hash: trimmed };
  const digits = trimmed.toLowerCase().replaceAll(/[^0-9a-f]/g, '');
  return digits.length === digitsOfDevice ? { is: 'device', digits } : null;
}

/** The list of a DROP file that contains advertising IDs. */
const advertisingIdList = 'MAID';

/** The layout of a suppression file: plain entries, or a CSV file of DROP with the header `ID,Hash` or `ID,Hash,ListType`. */
type SuppressionFileLayout = 'plain' | 'drop';

export function layoutOfFirstLine(line: string): SuppressionFileLayout {
  return /^\uFEFF?id,hash(,listtype)?\s*$/i.test(line) ? 'drop' : 'plain';
}

/** Returns the entry's text in a line of the file. Returns null for a blank line and for an item of another list. */
export function entryTextOf(line: string, layout: SuppressionFileLayout): string | null {
  if (line.trim() === '') return null;
  if (layout === 'plain') return line;
  const [, hash = '', list = advertisingIdList] = line.split(',').map((field) => field.trim());
  return list.toUpperCase() === advertisingIdList ? hash : null;
}
