import { Failure } from './failure.ts';
import type { Partner } from './partner.ts';

/** Permissions of an API key. A key created without a list of scopes has every scope. */
export const scopes = ['marketplace:read', 'marketplace:write', 'audience:read', 'audience:write'] as const;

export type Scope = (typeof scopes)[number];

/** The partner that makes a call, and the API key it uses. */
export type Caller = {
  readonly partner: Partner;
  readonly keyId: number;
  readonly scopes: readonly Scope[];
};

export function isScope(text: unknown): text is Scope {
  return scopes.some((scope) => scope === text);
}

/** Ignores unknown scopes, because a later release may have stored them. */
export function toScopes(kept: readonly string[] | null): readonly Scope[] {
  return kept === null ? scopes : kept.filter(isScope);
}

/**
 * The message is the same for every cause, so it does not reveal the cause. The key's holder, if known, is used only
 * for the audit log.
 */
export class InvalidApiKey extends Failure {
  readonly holder: Pick<Caller, 'partner' | 'keyId'> | null;

  constructor(holder: Pick<Caller, 'partner' | 'keyId'> | null) {
    super('unauthenticated', 'Send a valid API key as "Authorization: Bearer <API_KEY>".');
    this.holder = holder;
  }
}

/** Throws unless the caller has the scope. With `any`, every valid key passes. */
export function requireScope(caller: Caller, needed: Scope | 'any'): void {
  if (needed === 'any' || caller.scopes.includes(needed)) return;
  throw new Failure('scope_missing', `The API key lacks the scope "${needed}".`);
}
