import type { Caller } from '../domain/caller.ts';
import { Failure } from '../domain/failure.ts';
import type { KeyIssuer } from '../ports/key-issuer.ts';
import type { PartnerStore } from '../ports/partner-store.ts';

type Deps = { readonly partners: PartnerStore; readonly apiKeys: KeyIssuer };

/** Finds the partner behind an `Authorization` header. The answer never tells which part of it was wrong. */
export async function authenticatePartner(deps: Deps, authorization: string | undefined): Promise<Caller> {
  const key = /^Bearer +(\S{1,200})$/i.exec(authorization ?? '')?.[1];
  const caller = key === undefined ? null : await deps.partners.findByKeyHash(deps.apiKeys.hash(key));
  if (!caller) throw new Failure('unauthenticated', 'Send a valid API key as "Authorization: Bearer <API_KEY>".');
  return caller;
}
