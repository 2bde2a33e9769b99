import { createHash, createHmac, hkdfSync, randomInt } from 'node:crypto';
import type { Draw } from '../../domain/composition/noise.ts';
import { type KeyKind, formatKey, keyAlphabet, mayBeKey, randomLength } from '../../domain/key-format.ts';
import { Secret } from '../../domain/secret.ts';
import type { KeyIssuer, Fingerprint } from '../../ports/crypto.ts';

const kinds = { apiKey: 'key', userToken: 'user' } as const satisfies Record<string, KeyKind>;

/** Only the hash of a key is stored. A plain hash suffices, because a key with 196 random bits cannot be guessed. */
export function randomKeys(what: keyof typeof kinds, environment: string): KeyIssuer {
  const kind = kinds[what];
  const hash = (key: string): Uint8Array => createHash('sha256').update(key).digest();
  return {
    hash,
    mayHaveIssued: (text) => mayBeKey(kind, text),
    issue: () => {
      const characters = Array.from({ length: randomLength }, () => keyAlphabet[randomInt(keyAlphabet.length)]);
      const key = formatKey(kind, environment, characters.join(''));
      return { key: new Secret(key), hash: hash(key) };
    },
  };
}

export type ReportKey = {
  readonly draw: Draw;
};

/**
 * Uses the given key. If there is none, derives a key from the first sealing key in a way that does not reveal the
 * sealing key.
 */
export function reportKey(given: Secret | undefined, sealingKeys: readonly Secret[]): ReportKey {
  const key = given ? Buffer.from(given.reveal(), 'hex') : deriveReportKey(sealingKeys[0]);
  const mac = (message: string): Buffer => createHmac('sha256', key).update(message, 'utf8').digest();
  return { draw: (message) => mac(message).readUIntBE(0, 6) / 2 ** 48 };
}

function deriveReportKey(sealingKey: Secret | undefined): Buffer {
  if (!sealingKey) throw new Error('Composition reports need a key. Set INLET_REPORT_KEY or INLET_SEALING_KEYS.');
  const [, digits = ''] = sealingKey.reveal().split(':');
  return Buffer.from(hkdfSync('sha256', Buffer.from(digits, 'hex'), '', 'inlet composition noise', 32));
}

/**
 * Fingerprints requests with a keyed hash. Bodies can contain bucket credentials, and an attacker with a database dump
 * could brute-force weak secrets from a plain hash. One key is derived from each sealing key, so that a repeated
 * request is recognized after the sealing key is rotated.
 */
export function requestFingerprint(sealingKeys: readonly Secret[]): Fingerprint {
  const [current, ...older] = sealingKeys.map(deriveFingerprintKey);
  if (!current) throw new Error('Request fingerprints need a key. Set INLET_SEALING_KEYS.');
  return (request) => {
    const mac = (key: Buffer): Uint8Array => createHmac('sha256', key).update(request, 'utf8').digest();
    return [mac(current), ...older.map(mac)];
  };
}

function deriveFingerprintKey(sealingKey: Secret): Buffer {
  const [, digits = ''] = sealingKey.reveal().split(':');
  return Buffer.from(hkdfSync('sha256', Buffer.from(digits, 'hex'), '', 'inlet fingerprint of requests', 32));
}

/**
 * The tokens in the URL to which the storage sends notifications, derived from the sealing keys in a way that does not
 * reveal them. The first one is used, and the others are accepted.
 */
export function notificationTokens(sealingKeys: readonly Secret[]): Secret[] {
  return sealingKeys.map((sealingKey) => {
    const [, digits = ''] = sealingKey.reveal().split(':');
    const token = hkdfSync('sha256', Buffer.from(digits, 'hex'), '', 'inlet notifications of the storage', 32);
    return new Secret(Buffer.from(token).toString('base64url'));
  });
}
