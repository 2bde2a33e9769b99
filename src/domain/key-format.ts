import { crc32 } from 'node:zlib';

// Format: `inlet_<environment>_<kind>_<random><checksum>`. A key shows its kind and the installation that issued it,
// and its checksum shows that it is complete. See docs/decisions/api-keys-and-user-tokens.md.

/**
 * `key` is a partner's API key. `user` is a user token, which is sent together with an API key to act for a customer.
 */
export type KeyKind = 'key' | 'user';

/** The characters in digit order, because the checksum is a base-62 number. */
export const keyAlphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** 33 characters from an alphabet of 62 provide 196 bits of entropy. */
export const randomLength = 33;

/** Six characters suffice for a 32-bit checksum, because 62^6 exceeds 2^32. */
const checksumLength = 6;

export const environmentPattern = /^[a-z][a-z0-9]{0,15}$/;

const body = String.raw`inlet_([a-z][a-z0-9]{0,15})_(key|user)_[0-9A-Za-z]{${randomLength + checksumLength}}`;
const wholeKey = new RegExp(`^${body}$`);

/** The previous format, base64url without a checksum. Partners still use keys in this format. */
const oldKeys: Readonly<Record<KeyKind, RegExp>> = { key: /^inlet_[\w-]{32}$/, user: /^inletu_[\w-]{32}$/ };

const anyKey = new RegExp(String.raw`${body}|inletu?_[\w-]{32}(?![\w-])`, 'g');

export function formatKey(kind: KeyKind, environment: string, random: string): string {
  const beginning = `inlet_${environment}_${kind}_${random}`;
  const key = beginning + checksumOf(beginning);
  if (!wholeKey.test(key))
    throw new Error('environment must be 1 to 16 characters long (a-z and 0-9) and start with a letter');
  return key;
}

/** Null if the text is not a key or its checksum does not match. */
export function parseKey(text: string): { readonly environment: string; readonly kind: KeyKind } | null {
  const [, environment, kind] = wholeKey.exec(text) ?? [];
  if (environment === undefined || (kind !== 'key' && kind !== 'user')) return null;
  const isWhole = text.slice(-checksumLength) === checksumOf(text.slice(0, -checksumLength));
  return isWhole ? { environment, kind } : null;
}

/**
 * Whether the text can be a key of this kind and needs a database lookup. The environment is not compared, because keys
 * stay valid when an installation changes its environment name.
 */
export function mayBeKey(kind: KeyKind, text: string): boolean {
  return parseKey(text)?.kind === kind || oldKeys[kind].test(text);
}

/** Masks everything in a log text that resembles a key, even if the checksum is wrong. */
export function hideKeys(text: string): string {
  return text.includes('inlet') ? text.replaceAll(anyKey, '[key]') : text;
}

function checksumOf(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let place = 0; place < checksumLength; place += 1) {
    digits = (keyAlphabet[rest % keyAlphabet.length] ?? '') + digits;
    rest = Math.floor(rest / keyAlphabet.length);
  }
  return digits;
}
