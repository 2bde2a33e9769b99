import type { Caller } from './caller.ts';
import type { PartnerId } from './ids.ts';

/**
 * A call that was denied because of its credentials. If there are too many calls to record individually, one entry
 * represents several calls.
 */
export type DeniedCall = {
  readonly at: Date;
  /** Null for an unknown caller. */
  readonly partnerId: PartnerId | null;
  readonly keyId: number | null;
  /** The console session. Null for a call with an API key. */
  readonly sessionId: number | null;
  readonly operation: string;
  readonly code: string;
  /** Null for an aggregate. */
  readonly requestId: string | null;
  /** The client's IP address. Null for an aggregate. */
  readonly address: string | null;
  readonly calls: number;
};

/** Names the caller in the audit log. */
export function actorOf({ keyId, sessionId }: Pick<DeniedCall, 'keyId' | 'sessionId'>): string {
  if (sessionId !== null) return `session ${sessionId}`;
  return keyId === null ? 'unknown' : `key ${keyId}`;
}

/** Names the sender of a request in the history of an audience. */
export function requesterOf({ keyId, session }: Pick<Caller, 'keyId' | 'session'>): string {
  return session ? `user ${session.name}`.slice(0, maxRequester) : `key ${keyId}`;
}

const maxRequester = 200;

export type AuditEntry = {
  readonly id: number;
  readonly at: Date;
  readonly event: string;
  readonly actor: string;
  readonly databaseUser: string;
  readonly partnerId: PartnerId | null;
  readonly keyId: number | null;
  readonly subjectId: number | null;
  readonly operation: string | null;
  readonly code: string | null;
  readonly requestId: string | null;
  readonly calls: number;
  readonly detail: unknown;
};
