/** A version of the list of devices whose data is not stored. The first version is 0, and it is empty. */
export type SuppressionList = { readonly version: number; readonly hashes: number };

export const initialSuppressionList: SuppressionList = { version: 0, hashes: 0 };

/** The set for a list of this size occupies 1 GiB on every server. */
export const maxSuppressedHashes = 50_000_000;

/**
 * Whether rows that were checked against `version` of the list can contain devices that are on the current list. Such
 * rows are not published.
 */
export function isCheckOutdated(version: number, current: SuppressionList): boolean {
  return version < current.version;
}

/**
 * Determines which rows of a file are in the sample. From this sample, Inlet estimates the number of suppressed rows
 * that partners see. A keyed hash of the device decides, so a device is either always in the sample or never.
 * `ofListed` is the share of the devices on the list, and `ofOthers` the share of all other devices, in 1/256. A
 * partner that finds out whether a device is in the sample is therefore right about the list in 1/2 + (25 - 5) / 512 =
 * 53.9% of all cases at best, regardless of what it uploads and how often.
 */
export const suppressionSample = { ofListed: 25, ofOthers: 5, of: 256 } as const;

/** A partner sees the estimate rounded down to a multiple of this. */
const shownUnit = 1_000;

/**
 * The estimated number of suppressed rows that a partner sees. The standard deviation for a million rows of different
 * devices is about 1,800.
 */
export function shownSuppressed({
  sampled,
  accepted,
}: {
  readonly sampled: number;
  readonly accepted: number;
}): number {
  const { ofListed, ofOthers, of } = suppressionSample;
  const estimate = (sampled - (accepted * ofOthers) / of) / ((ofListed - ofOthers) / of);
  return Math.floor(Math.min(Math.max(estimate, 0), accepted) / shownUnit) * shownUnit;
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

/** The DROP list that contains advertising IDs. */
const advertisingIdList = 'MAID';

/**
 * The layout of a suppression file: plain entries, or a CSV file from DROP with the header `ID,Hash` or
 * `ID,Hash,ListType`.
 */
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
