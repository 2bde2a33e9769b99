import type { AudienceScope } from '../domain/audience.ts';
import type { Customer } from '../domain/customer.ts';
import { Failure } from '../domain/failure.ts';
import { looksIssued } from '../domain/issued-token.ts';
import type { Partner } from '../domain/partner.ts';
import type { CustomerStore } from '../ports/customer-store.ts';
import type { IssuedTokens } from '../ports/issued-tokens.ts';
import type { KeyIssuer } from '../ports/key-issuer.ts';

export type IdentifyDeps = {
  readonly customers: CustomerStore;
  readonly userTokens: KeyIssuer;
  /** Null where no issuer is configured. */
  readonly issuedTokens: IssuedTokens | null;
};

/**
 * Finds for whom a partner calls. A token that is sent must be good: to fall back to the partner would show a caller
 * whose token was revoked more than before. The answer never tells what was wrong with it.
 */
export async function identifyCustomer(
  deps: IdentifyDeps,
  partner: Partner,
  token: string | undefined,
): Promise<AudienceScope> {
  if (token === undefined) return { partnerId: partner.id, customerId: null };
  const customer =
    deps.issuedTokens && looksIssued(token)
      ? await customerNamedIn(deps.issuedTokens, deps.customers, partner, token)
      : await customerWithToken(deps, partner, token);
  if (!customer) throw new Failure('invalid_user_token', 'Send a valid user token as "x-user-token", or none.');
  return { partnerId: partner.id, customerId: customer.id };
}

async function customerWithToken(deps: IdentifyDeps, partner: Partner, token: string): Promise<Customer | null> {
  if (!deps.userTokens.mayHaveIssued(token)) return null;
  return deps.customers.findByTokenHash(partner.id, deps.userTokens.hash(token));
}

/** An issuer is one for all partners: a token counts only beside the key of the partner for whom it was made. */
async function customerNamedIn(
  issuedTokens: IssuedTokens,
  customers: CustomerStore,
  partner: Partner,
  token: string,
): Promise<Customer | null> {
  const bearer = await issuedTokens.read(token);
  if (bearer?.partner !== partner.name) return null;
  return customers.findByName(partner.id, bearer.customer);
}
