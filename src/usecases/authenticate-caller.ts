import { RefusedKey, type Caller } from '../domain/caller.ts';
import type { KeyIssuer } from '../ports/key-issuer.ts';
import type { PartnerStore } from '../ports/partner-store.ts';

type Deps = {
  readonly partners: PartnerStore;
  readonly apiKeys: KeyIssuer;
  /** Is told of a key that works, at most about once a minute; must not take time. */
  readonly access: { readonly noteUse: (keyId: number) => void };
};

/**
 * Finds who calls by an `Authorization` header. The answer never tells which part of it was wrong. Nothing is kept between
 * two calls, so that a key that was revoked is refused from then on, by every process.
 */
export async function authenticateCaller(deps: Deps, authorization: string | undefined): Promise<Caller> {
  const key = /^Bearer +(\S{1,200})$/i.exec(authorization ?? '')?.[1] ?? '';
  const holder = deps.apiKeys.mayHaveIssued(key) ? await deps.partners.findByKeyHash(deps.apiKeys.hash(key)) : null;
  if (!holder?.isValid) throw new RefusedKey(holder);
  const { partner, keyId, scopes } = holder;
  if (holder.isUseDue) deps.access.noteUse(keyId);
  return { partner, keyId, scopes };
}
