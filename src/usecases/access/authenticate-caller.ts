import type { AudienceScope } from '../../domain/audience.ts';
import { InvalidApiKey, type KeyCaller, SuspendedPartner } from '../../domain/caller.ts';
import type { Customer } from '../../domain/customer.ts';
import { Failure } from '../../domain/failure.ts';
import { isJwt } from '../../domain/issued-token.ts';
import type { Partner } from '../../domain/partner.ts';
import type { KeyIssuer } from '../../ports/crypto.ts';
import type { PartnerStore, CustomerStore, IssuedTokens } from '../../ports/partner-store.ts';

type Deps = {
  readonly partners: PartnerStore;
  readonly apiKeys: KeyIssuer;
  /** Called at most about once a minute for each valid key. Must not block. */
  readonly access: { readonly recordUse: (keyId: number) => void };
};

/**
 * Identifies the caller by the `Authorization` header. The error never reveals why a key is invalid. Nothing is cached,
 * so that every process rejects a revoked key immediately.
 */
export async function authenticateCaller(deps: Deps, authorization: string | undefined): Promise<KeyCaller> {
  const key = /^Bearer +(\S{1,200})$/i.exec(authorization ?? '')?.[1] ?? '';
  const holder = deps.apiKeys.mayHaveIssued(key) ? await deps.partners.findByKeyHash(deps.apiKeys.hash(key)) : null;
  if (!holder?.isValid) throw new InvalidApiKey(holder);
  if (holder.isSuspended) throw new SuspendedPartner(holder);
  const { partner, keyId, scopes } = holder;
  if (holder.isUseDue) deps.access.recordUse(keyId);
  return { partner, keyId, scopes };
}

export type IdentifyDeps = {
  readonly customers: CustomerStore;
  readonly userTokens: KeyIssuer;
  /** Null if no issuer is configured. */
  readonly issuedTokens: IssuedTokens | null;
};

/** The customer of a user token. The token's ID is null if an issuer has issued it, because Inlet does not store it. */
export type UserTokenHolder = { readonly customer: Customer; readonly tokenId: number | null };

export type IdentifiedCustomer = { readonly scope: AudienceScope; readonly userTokenId: number | null };

/** Identifies the customer by the user token. Without a token, the partner acts for itself. */
export async function identifyCustomer(
  deps: IdentifyDeps,
  partner: Partner,
  token: string | undefined,
): Promise<IdentifiedCustomer> {
  const holder = token === undefined ? null : await requireCustomer(deps, partner, token);
  return {
    scope: { partnerId: partner.id, customerId: holder?.customer.id ?? null },
    userTokenId: holder?.tokenId ?? null,
  };
}

/**
 * Returns the customer that a user token represents. An invalid token is rejected, because falling back to the partner
 * would give the holder of a revoked token more access than before. The error never reveals why a token is invalid.
 */
export async function requireCustomer(deps: IdentifyDeps, partner: Partner, token: string): Promise<UserTokenHolder> {
  const holder =
    deps.issuedTokens && isJwt(token)
      ? await customerNamedIn(deps.issuedTokens, deps.customers, partner, token)
      : await customerWithToken(deps, partner, token);
  if (holder) return holder;
  throw new Failure('invalid_user_token', 'Send a valid user token as "x-user-token", or omit the header.');
}

async function customerWithToken(deps: IdentifyDeps, partner: Partner, token: string): Promise<UserTokenHolder | null> {
  if (!deps.userTokens.mayHaveIssued(token)) return null;
  return deps.customers.findByTokenHash(partner.id, deps.userTokens.hash(token));
}

/**
 * All partners share one issuer. Therefore, a token is valid only with an API key of the partner that the token names.
 */
async function customerNamedIn(
  issuedTokens: IssuedTokens,
  customers: CustomerStore,
  partner: Partner,
  token: string,
): Promise<UserTokenHolder | null> {
  const bearer = await issuedTokens.read(token);
  if (bearer?.partner !== partner.name) return null;
  const customer = await customers.findByName(partner.id, bearer.customer);
  return customer && { customer, tokenId: null };
}
