import { createHash, createHmac, hkdfSync, randomInt } from 'node:crypto';
import type { Draw } from '../../domain/composition/noise.ts';
import { type KeyKind, formatKey, keyAlphabet, mayBeKey, randomLength } from '../../domain/key-format.ts';
import { Secret } from '../../domain/secret.ts';
import type { KeyIssuer, Fingerprint } from '../../ports/crypto.ts';

const kinds = { apiKey: 'key', userToken: 'user' } as const satisfies Record<string, KeyKind>;

/** Only the hash is kept, and a plain one is enough: 196 random bits cannot be guessed. */
export function randomKeys(what: keyof typeof kinds, environment: string): KeyIssuer {
  const kind = kinds[what];
  const hash = (key: string): Uint8Array => createHash('sha256').update(key).digest();
  return {
    hash,
    mayHaveIssued: (text) => mayBeKey(kind, text),
    issue: () => {
      const letters = Array.from({ length: randomLength }, () => keyAlphabet[randomInt(keyAlphabet.length)]);
      const key = formatKey(kind, environment, letters.join(''));
      return { key: new Secret(key), hash: hash(key) };
    },
  };
}

export type ReportKey = {
  readonly draw: Draw;
  /** For the engine, which makes fingerprints of members: two numbers of 64 bits. */
  readonly fingerprintKey: { readonly low: string; readonly high: string };
};

/** A key of its own, or one that follows from the first sealing key and does not tell it. */
export function reportKey(given: Secret | undefined, sealingKeys: readonly Secret[]): ReportKey {
  const key = given ? Buffer.from(given.reveal(), 'hex') : deriveReportKey(sealingKeys[0]);
  const mac = (message: string): Buffer => createHmac('sha256', key).update(message, 'utf8').digest();
  // What is drawn for is a JSON list, so this message is none of those.
  const fingerprint = mac('fingerprint of members');
  return {
    draw: (message) => mac(message).readUIntBE(0, 6) / 2 ** 48,
    fingerprintKey: {
      low: String(fingerprint.readBigUInt64BE(0)),
      high: String(fingerprint.readBigUInt64BE(8)),
    },
  };
}

function deriveReportKey(sealingKey: Secret | undefined): Buffer {
  if (!sealingKey) throw new Error('The reports need a key: INLET_REPORT_KEY or a sealing key.');
  const [, digits = ''] = sealingKey.reveal().split(':');
  return Buffer.from(hkdfSync('sha256', Buffer.from(digits, 'hex'), '', 'inlet composition noise', 32));
}

/**
 * Bodies can hold the credentials of a bucket, and not every storage has secrets that cannot be guessed: a plain hash would
 * let the reader of a dump try them out. The keys follow from the sealing keys and do not tell them; one for each, so that a
 * request is known again when the sealing key was changed.
 */
export function requestFingerprint(sealingKeys: readonly Secret[]): Fingerprint {
  const [current, ...older] = sealingKeys.map(deriveFingerprintKey);
  if (!current) throw new Error('Fingerprints of requests need a sealing key.');
  return (request) => {
    const mac = (key: Buffer): Uint8Array => createHmac('sha256', key).update(request, 'utf8').digest();
    return [mac(current), ...older.map(mac)];
  };
}

function deriveFingerprintKey(sealingKey: Secret): Buffer {
  const [, digits = ''] = sealingKey.reveal().split(':');
  return Buffer.from(hkdfSync('sha256', Buffer.from(digits, 'hex'), '', 'inlet fingerprint of requests', 32));
}
