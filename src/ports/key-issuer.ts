import type { Secret } from '../domain/secret.ts';

/** Issues one kind of key: API keys, or user tokens. */
export interface KeyIssuer {
  /** A new key, to be shown once, and the hash that is kept. */
  issue(): { readonly key: Secret; readonly hash: Uint8Array };
  hash(key: string): Uint8Array;
  /** False for a text that cannot be one of these keys, which is seen without asking anybody. */
  mayHaveIssued(text: string): boolean;
}
