import { crc32 } from './crc32.ts';

// `inlet_<environment>_<kind>_<random><checksum>`: whoever finds such a text knows what it is, of which installation, and
// that it is whole, without asking anybody. See docs/decisions/api-keys-and-user-tokens.md.

/** `key` calls the API for a partner; `user` stands beside it, for a customer. */
export type KeyKind = 'key' | 'user';

/** Digits first: a checksum is written as a number in this base. */
export const keyAlphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** 33 of 62 letters are 196 bits. */
export const randomLength = 33;

/** 62 to the power of 6 is more than 2 to the power of 32. */
const checksumLength = 6;

export const environmentPattern = /^[a-z][a-z0-9]{0,15}$/;

const body = String.raw`inlet_([a-z][a-z0-9]{0,15})_(key|user)_[0-9A-Za-z]{${randomLength + checksumLength}}`;
const wholeKey = new RegExp(`^${body}$`);

/** The format before: the random part is base64url, without a checksum. Such keys are with partners, and keep working. */
const oldKeys: Readonly<Record<KeyKind, RegExp>> = { key: /^inlet_[\w-]{32}$/, user: /^inletu_[\w-]{32}$/ };

const anyKey = new RegExp(String.raw`${body}|inletu?_[\w-]{32}(?![\w-])`, 'g');

export function formatKey(kind: KeyKind, environment: string, random: string): string {
  const beginning = `inlet_${environment}_${kind}_${random}`;
  const key = beginning + checksumOf(beginning);
  if (!wholeKey.test(key)) throw new Error('an environment is 1 to 16 of a-z and 0-9, and begins with a letter');
  return key;
}

/** Null for a text that is no key, or is one with a letter changed. */
export function parseKey(text: string): { readonly environment: string; readonly kind: KeyKind } | null {
  const [, environment, kind] = wholeKey.exec(text) ?? [];
  if (environment === undefined || (kind !== 'key' && kind !== 'user')) return null;
  const isWhole = text.slice(-checksumLength) === checksumOf(text.slice(0, -checksumLength));
  return isWhole ? { environment, kind } : null;
}

/**
 * Whether it is worth looking for in the database. The environment is not compared: it is a label for people, and an
 * installation that gets another one keeps its keys.
 */
export function mayBeKey(kind: KeyKind, text: string): boolean {
  return parseKey(text)?.kind === kind || oldKeys[kind].test(text);
}

/** For logs: whatever looks like a key is none of their business, be its checksum right or wrong. */
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
