import { createHash, randomInt } from 'node:crypto';
import { formatKey, keyAlphabet, mayBeKey, randomLength, type KeyKind } from '../../domain/key-format.ts';
import { Secret } from '../../domain/secret.ts';
import type { KeyIssuer } from '../../ports/key-issuer.ts';

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
