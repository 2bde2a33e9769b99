import type { Customer } from './customer.ts';
import { Failure } from './failure.ts';
import type { Partner } from './partner.ts';

/** Permissions of an API key. A key created without a list of scopes has every scope. */
export const scopes = [
  'marketplace:read',
  'marketplace:write',
  'audience:read',
  'audience:write',
  'attributes:write',
  'keys:read',
  'keys:write',
  'customers:read',
  'customers:write',
  'storage:write',
  'webhooks:write',
  'privacy:write',
] as const;

export type Scope = (typeof scopes)[number];

/** The one audience that a session from a one-time link can read. */
export type LinkTarget = { readonly segmentId: number; readonly audienceId: number };

/** A console session. A browser authenticates with its cookie instead of an API key. */
export type PartnerSession = {
  readonly id: number;
  readonly name: string;
  readonly expiresAt: Date;
  readonly partner: Partner;
  /** Null for a user of the partner, and for a link to one of the partner's own audiences. */
  readonly customer: Customer | null;
  readonly scopes: readonly Scope[];
  /**
   * A negative number that identifies the request window shared by all sessions of the subject or, for a link, of its
   * audience.
   */
  readonly windowId: number;
} & (
  | { readonly role: 'partner' | 'customer'; readonly target: null }
  | { readonly role: 'link'; readonly target: LinkTarget }
);

/** The partner that makes a call, and the API key or the console session that it uses. */
export type Caller = {
  readonly partner: Partner;
  readonly scopes: readonly Scope[];
} & (
  | { readonly keyId: number; readonly session?: undefined }
  | { readonly keyId: null; readonly session: PartnerSession }
);

/** The holder of an API key. */
export type KeyCaller = Extract<Caller, { readonly keyId: number }>;

export function isScope(text: unknown): text is Scope {
  return scopes.some((scope) => scope === text);
}

/** Ignores unknown scopes, because a later release may have stored them. */
export function toScopes(kept: readonly string[] | null): readonly Scope[] {
  return kept === null ? scopes : kept.filter(isScope);
}

/** The caller's secret is unknown or no longer valid. The message does not reveal the cause. */
export class InvalidCredentials extends Failure {
  /** The key's holder, if known. Used only for the audit log. */
  readonly holder: Pick<KeyCaller, 'partner' | 'keyId'> | null;

  constructor(
    detail: string,
    holder: Pick<KeyCaller, 'partner' | 'keyId'> | null = null,
    code: 'unauthenticated' | 'console_link_invalid' | 'partner_suspended' = 'unauthenticated',
  ) {
    super(code, detail);
    this.holder = holder;
  }
}

export class InvalidApiKey extends InvalidCredentials {
  constructor(holder: Pick<KeyCaller, 'partner' | 'keyId'> | null) {
    super('Send a valid API key as "Authorization: Bearer <API_KEY>".', holder);
  }
}

/** The key is valid, but the operator has suspended its partner. */
export class SuspendedPartner extends InvalidCredentials {
  constructor(holder: Pick<KeyCaller, 'partner' | 'keyId'>) {
    super(`The operator has suspended the partner "${holder.partner.name}".`, holder, 'partner_suspended');
  }
}

/**
 * The scope that an operation needs, or several scopes of which any one is enough. `any` accepts every valid key, and
 * `operator` accepts only operators.
 */
export type RequiredScope = Scope | 'any' | 'operator' | readonly Scope[];

/** Throws unless the caller has the scope. */
export function requireScope(caller: Caller, needed: RequiredScope): void {
  if (needed === 'any') return;
  const sufficient: readonly string[] = typeof needed === 'string' ? [needed] : needed;
  if (caller.scopes.some((scope) => sufficient.includes(scope))) return;
  throw new Failure(
    'scope_missing',
    `${caller.session ? 'The session' : 'The API key'} lacks the scope ${sufficient.map((scope) => `"${scope}"`).join(' or ')}.`,
  );
}
