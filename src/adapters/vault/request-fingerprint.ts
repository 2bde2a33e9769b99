import { createHmac, hkdfSync } from 'node:crypto';
import type { Secret } from '../../domain/secret.ts';
import type { Fingerprint } from '../../ports/fingerprint.ts';

/**
 * Bodies can hold the credentials of a bucket, and not every storage has secrets that cannot be guessed: a plain hash would
 * let the reader of a dump try them out. The keys follow from the sealing keys and do not tell them; one for each, so that a
 * request is known again when the sealing key was changed.
 */
export function requestFingerprint(sealingKeys: readonly Secret[]): Fingerprint {
  const [current, ...older] = sealingKeys.map(derivedKey);
  if (!current) throw new Error('Fingerprints of requests need a sealing key.');
  return (request) => {
    const mac = (key: Buffer): Uint8Array => createHmac('sha256', key).update(request, 'utf8').digest();
    return [mac(current), ...older.map(mac)];
  };
}

function derivedKey(sealingKey: Secret): Buffer {
  const [, digits = ''] = sealingKey.reveal().split(':');
  return Buffer.from(hkdfSync('sha256', Buffer.from(digits, 'hex'), '', 'inlet fingerprint of requests', 32));
}
