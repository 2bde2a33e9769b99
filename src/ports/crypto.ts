import type { IdempotentRequest } from '../domain/idempotency.ts';
import type { Secret } from '../domain/secret.ts';

/** Issues one kind of key: API keys, or user tokens. */
export interface KeyIssuer {
  /** A new key, to be shown once, and the hash that is kept. */
  issue(): { readonly key: Secret; readonly hash: Uint8Array };
  hash(key: string): Uint8Array;
  /** False for a text that cannot be one of these keys, which is seen without asking anybody. */
  mayHaveIssued(text: string): boolean;
}

export type Sealed = { readonly keyId: string; readonly bytes: Uint8Array };

/** Seals text so that only Inlet can read it, and only in the context for which it was sealed. */
export interface Sealer {
  seal(text: string, context: string): Sealed;
  open(sealed: Sealed, context: string): string;
}

/** Of a request, with a secret of the service: it tells whether two are the same, and nothing else of them. */
export type Fingerprint = (request: string) => IdempotentRequest['fingerprints'];
