import type { IdempotentRequest } from '../domain/idempotency.ts';
import type { Secret } from '../domain/secret.ts';

/** Issues one kind of key: API keys, or user tokens. */
export interface KeyIssuer {
  /** A new key, which is shown once, and its hash, which is stored. */
  issue(): { readonly key: Secret; readonly hash: Uint8Array };
  hash(key: string): Uint8Array;
  /** False for a text that cannot be a key of this kind. Needs no database query. */
  mayHaveIssued(text: string): boolean;
}

export type Sealed = { readonly keyId: string; readonly bytes: Uint8Array };

/** Seals text so that only Inlet can read it, and only in the context for which it was sealed. */
export interface Sealer {
  seal(text: string, context: string): Sealed;
  open(sealed: Sealed, context: string): string;
}

/** Keyed hash of a request. It shows whether two requests are equal and reveals nothing else. */
export type Fingerprint = (request: string) => IdempotentRequest['fingerprints'];
