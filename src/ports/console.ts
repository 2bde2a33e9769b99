import type { AudienceScope } from '../domain/audience.ts';
import type { LinkTarget } from '../domain/caller.ts';
import type { ConsoleRole, ConsoleSession, SessionTimes } from '../domain/console-session.ts';
import type { Claims, SignInError } from '../domain/console-sign-in.ts';
import type { Customer } from '../domain/customer.ts';
import type { PartnerId } from '../domain/ids.ts';
import type { Partner } from '../domain/partner.ts';
import type { Secret } from '../domain/secret.ts';

/** Issues the random tokens for sessions and links. */
export interface TokenIssuer {
  /** Returns a new token, and its hash, which is stored. */
  issue(): { readonly token: Secret; readonly hash: Uint8Array };
  hash(token: string): Uint8Array;
  /** Returns false for a string that cannot be a token. Needs no database query. */
  mayHaveIssued(text: string): boolean;
  /** Derives the CSRF token of a session from the session's token. It does not reveal the session's token. */
  csrfTokenOf(token: string): string;
  isCsrfTokenOf(text: string, token: string): boolean;
}

export type NewSession = {
  readonly role: ConsoleRole;
  /** Identifies who signed in. */
  readonly subject: string;
  readonly name: string;
  readonly partnerId: PartnerId | null;
  readonly customerId: number | null;
  /** The session ends when this key is revoked or expires. */
  readonly apiKeyId: number | null;
  /** The session ends when this user token is revoked. */
  readonly userTokenId: number | null;
  readonly target: LinkTarget | null;
};

export type FoundSession = { readonly session: ConsoleSession; readonly idleExpiresAt: Date };

export type UsedLink = {
  readonly partner: Partner;
  readonly customer: Customer | null;
  readonly apiKeyId: number;
  readonly userTokenId: number | null;
  readonly target: LinkTarget;
};

export type NewLink = Pick<UsedLink, 'apiKeyId' | 'userTokenId' | 'target'> & { readonly scope: AudienceScope };

/**
 * Console sessions. A session does not exist if it has expired, if its partner or customer was removed, or if its key
 * or user token was revoked.
 */
export interface ConsoleSessions {
  /** Stores a session and removes the subject's oldest sessions beyond the limit. */
  open(tokenHash: Uint8Array, session: NewSession, times: SessionTimes, atMost: number): Promise<void>;
  find(tokenHash: Uint8Array): Promise<FoundSession | null>;
  /** Postpones the end of an idle session. */
  extend(tokenHash: Uint8Array, times: SessionTimes): Promise<void>;
  end(tokenHash: Uint8Array): Promise<void>;
  /**
   * Marks a link as used. Null if it is unknown, has expired, or was already used, or if its user token was revoked.
   */
  useLink(tokenHash: Uint8Array): Promise<UsedLink | null>;
  /** Returns the partner and the customer with these names. Each is null if it does not exist. */
  findSubject(
    partnerName: string,
    customerName: string | null,
  ): Promise<{ readonly partnerId: PartnerId | null; readonly customerId: number | null }>;
}

/** One-time links to the report of an audience. */
export interface ConsoleLinks {
  /** Returns when the link expires. Null if the partner has too many unused links. */
  create(
    tokenHash: Uint8Array,
    link: NewLink,
    limits: { readonly seconds: number; readonly atMost: number },
  ): Promise<Date | null>;
}

/** The secrets of one sign-in, which the browser keeps in a sealed cookie. */
type SignInState = { readonly state: string; readonly nonce: string; readonly verifier: string };

/** The OpenID Connect issuer at which users sign in. */
export interface SignInIssuer {
  /** Returns the address at the issuer to which the browser is redirected. Fails with `issuer_away`. */
  begin(): Promise<{ readonly url: string; readonly state: SignInState }>;
  /**
   * Verifies the response of the issuer and exchanges its code for the claims of the ID token. `query` is the query
   * string of the redirect back.
   */
  finish(query: string, state: SignInState): Promise<Claims | { readonly failure: SignInError }>;
}
