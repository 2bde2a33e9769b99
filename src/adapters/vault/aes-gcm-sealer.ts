import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Secret } from '../../domain/secret.ts';
import type { Sealer } from '../../ports/crypto.ts';

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;
// By default, Node also accepts shorter authentication tags.
const options = { authTagLength: tagBytes };

/** Keys have the form `<id>:<64 hexadecimal digits>`. The first key encrypts and decrypts. The others only decrypt. */
export function aesGcmSealer(keys: readonly Secret[]): Sealer {
  const byId = new Map(keys.map((key) => parseKey(key)));
  const [current] = byId.keys();
  if (current === undefined) throw new Error('No sealing key is configured. Set INLET_SEALING_KEYS.');
  const keyOf = (id: string): Buffer => {
    const key = byId.get(id);
    if (!key) throw new Error(`The sealing key "${id}" is not configured. Add it to INLET_SEALING_KEYS.`);
    return key;
  };
  return {
    seal: (text, context) => {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, keyOf(current), nonce, options).setAAD(Buffer.from(context));
      const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return { keyId: current, bytes: Buffer.concat([nonce, cipher.getAuthTag(), sealed]) };
    },
    open: ({ keyId, bytes }, context) => {
      const nonce = bytes.subarray(0, nonceBytes);
      const tag = bytes.subarray(nonceBytes, nonceBytes + tagBytes);
      const decipher = createDecipheriv(algorithm, keyOf(keyId), nonce, options).setAuthTag(tag);
      decipher.setAAD(Buffer.from(context));
      return Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()]).toString('utf8');
    },
  };
}

function parseKey(key: Secret): [string, Buffer] {
  const [id = '', digits = ''] = key.reveal().split(':');
  return [id, Buffer.from(digits, 'hex')];
}
