import { createHmac, hkdfSync } from 'node:crypto';
import type { Draw } from '../../domain/composition/noise.ts';
import type { Secret } from '../../domain/secret.ts';

export type ReportKey = {
  readonly draw: Draw;
  /** For the engine, which makes fingerprints of members: two numbers of 64 bits. */
  readonly fingerprintKey: { readonly low: string; readonly high: string };
};

/** A key of its own, or one that follows from the first sealing key and does not tell it. */
export function reportKey(given: Secret | undefined, sealingKeys: readonly Secret[]): ReportKey {
  const key = given ? Buffer.from(given.reveal(), 'hex') : derivedKey(sealingKeys[0]);
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

function derivedKey(sealingKey: Secret | undefined): Buffer {
  if (!sealingKey) throw new Error('The reports need a key: INLET_REPORT_KEY or a sealing key.');
  const [, digits = ''] = sealingKey.reveal().split(':');
  return Buffer.from(hkdfSync('sha256', Buffer.from(digits, 'hex'), '', 'inlet composition noise', 32));
}
