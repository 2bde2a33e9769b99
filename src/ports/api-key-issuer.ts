import type { Secret } from '../domain/secret.ts';

export interface ApiKeyIssuer {
  /** A new key, to be shown once, and the hash that is kept. */
  issue(): { readonly key: Secret; readonly hash: Uint8Array };
  hash(key: string): Uint8Array;
}
