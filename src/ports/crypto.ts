import type { IdempotentRequest } from '../domain/idempotency.ts';
import type { AudienceScope } from '../domain/audience.ts';
import type { Secret } from '../domain/secret.ts';
import type { Upload } from '../domain/upload.ts';

/** Issues one kind of key: API keys, or user tokens. */
export interface KeyIssuer {
  /** Returns a new key, which is shown once, and its hash, which is stored. */
  issue(): { readonly key: Secret; readonly hash: Uint8Array };
  hash(key: string): Uint8Array;
  /** Returns false for a string that cannot be a key of this kind. Needs no database query. */
  mayHaveIssued(text: string): boolean;
}

export type Sealed = { readonly keyId: string; readonly bytes: Uint8Array };

/** Encrypts text so that only Inlet can decrypt it, and only with the same context. */
export interface Sealer {
  seal(text: string, context: string): Sealed;
  open(sealed: Sealed, context: string): string;
}

/** Issues the secrets with which webhooks are signed. */
export interface WebhookSecrets {
  issue(): Secret;
}

/** Computes the keyed hash of a request. The hash reveals only whether two requests are equal. */
export type Fingerprint = (request: string) => IdempotentRequest['fingerprints'];

/** Issues the IDs of uploads. */
export interface UploadTickets {
  issue(scope: AudienceScope, upload: Upload): string;
  /** Returns null unless the ID was issued to this caller. The upload may have expired. */
  read(scope: AudienceScope, uploadId: string): Upload | null;
}
