import { Failure } from './failure.ts';
import type { Partner } from './partner.ts';

/** What a key may be used for. A key of which nothing else was said may be used for all. */
export const scopes = ['marketplace:read', 'marketplace:write', 'audience:read', 'audience:write'] as const;

export type Scope = (typeof scopes)[number];

/** Who calls, and with which of its keys. */
export type Caller = {
  readonly partner: Partner;
  readonly keyId: number;
  readonly scopes: readonly Scope[];
};

export function isScope(text: unknown): text is Scope {
  return scopes.some((scope) => scope === text);
}

/** An unknown word gives no right: it may be one of a later release. */
export function toScopes(kept: readonly string[] | null): readonly Scope[] {
  return kept === null ? scopes : kept.filter(isScope);
}

/** The same words whatever was wrong. Who held the key, if anybody did, is for the audit log. */
export class RefusedKey extends Failure {
  readonly holder: Pick<Caller, 'partner' | 'keyId'> | null;

  constructor(holder: Pick<Caller, 'partner' | 'keyId'> | null) {
    super('unauthenticated', 'Send a valid API key as "Authorization: Bearer <API_KEY>".');
    this.holder = holder;
  }
}

/** `any`: whatever the key is for. */
export function requireScope(caller: Caller, needed: Scope | 'any'): void {
  if (needed === 'any' || caller.scopes.includes(needed)) return;
  throw new Failure('scope_missing', `This API key does not have the scope "${needed}".`);
}
