import type { AudienceScope } from '../domain/audience.ts';
import { Failure } from '../domain/failure.ts';
import type { PartnerId } from '../domain/partner.ts';
import type { CustomerStore } from '../ports/customer-store.ts';
import type { KeyIssuer } from '../ports/key-issuer.ts';

type Deps = { readonly customers: CustomerStore; readonly userTokens: KeyIssuer };

/**
 * Finds for whom a partner calls. A token that is sent must be good: to fall back to the partner would show a caller
 * whose token was revoked more than before. The answer never tells what was wrong with it.
 */
export async function identifyCustomer(
  deps: Deps,
  partnerId: PartnerId,
  token: string | undefined,
): Promise<AudienceScope> {
  if (token === undefined) return { partnerId, customerId: null };
  const customer = deps.userTokens.mayHaveIssued(token)
    ? await deps.customers.findByTokenHash(partnerId, deps.userTokens.hash(token))
    : null;
  if (!customer) throw new Failure('invalid_user_token', 'Send a valid user token as "x-user-token", or none.');
  return { partnerId, customerId: customer.id };
}
