import { createHash, randomBytes } from 'node:crypto';
import { Secret } from '../../domain/secret.ts';
import type { ApiKeyIssuer } from '../../ports/api-key-issuer.ts';

const randomLength = 24; // 192 bits: a plain hash is enough, such a key cannot be guessed

/** Keys begin with a word that shows what they are, so that a leaked one is recognised. Only the hash is kept. */
export function randomApiKeys(): ApiKeyIssuer {
  const hash = (key: string): Uint8Array => createHash('sha256').update(key).digest();
  return {
    hash,
    issue: () => {
      const key = `inlet_${randomBytes(randomLength).toString('base64url')}`;
      return { key: new Secret(key), hash: hash(key) };
    },
  };
}
