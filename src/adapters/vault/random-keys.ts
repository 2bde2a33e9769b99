import { createHash, randomBytes } from 'node:crypto';
import { Secret } from '../../domain/secret.ts';
import type { KeyIssuer } from '../../ports/key-issuer.ts';

/** Keys begin with a word that shows what they are, so that a leaked one is recognised. */
const beginnings = { apiKey: 'inlet_', userToken: 'inletu_' } as const;

const randomLength = 24; // 192 bits: a plain hash is enough, such a key cannot be guessed

/** Only the hash is kept. */
export function randomKeys(kind: keyof typeof beginnings): KeyIssuer {
  const hash = (key: string): Uint8Array => createHash('sha256').update(key).digest();
  return {
    hash,
    issue: () => {
      const key = `${beginnings[kind]}${randomBytes(randomLength).toString('base64url')}`;
      return { key: new Secret(key), hash: hash(key) };
    },
  };
}
