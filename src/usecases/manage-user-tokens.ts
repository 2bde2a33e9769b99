import { toCustomerName, type Customer, type UserToken } from '../domain/customer.ts';
import { Failure } from '../domain/failure.ts';
import type { Secret } from '../domain/secret.ts';
import type { CustomerStore, Page } from '../ports/customer-store.ts';
import type { KeyIssuer } from '../ports/key-issuer.ts';
import type { PartnerStore } from '../ports/partner-store.ts';
import { partnerNamed } from './partner-named.ts';

type Deps = { readonly partners: PartnerStore; readonly customers: CustomerStore };

type IssuedUserToken = { readonly id: number; readonly customer: Customer; readonly token: Secret };

export async function createUserToken(
  deps: Deps & { readonly userTokens: KeyIssuer },
  partnerName: string,
  customerName: string,
): Promise<IssuedUserToken> {
  const name = toCustomerName(customerName);
  const partner = await partnerNamed(deps, partnerName);
  const customer = await deps.customers.findByName(partner.id, name);
  const { key, hash } = deps.userTokens.issue();
  const id = customer && (await deps.customers.addToken(partner.id, customer.id, hash));
  if (!customer || id === null) {
    throw new Failure('not_found', `The partner "${partnerName}" has no customer "${name}".`);
  }
  return { id, customer, token: key };
}

export async function listUserTokens(deps: Deps, partnerName: string, page: Page): Promise<readonly UserToken[]> {
  return deps.customers.listTokens((await partnerNamed(deps, partnerName)).id, page);
}

export async function revokeUserToken(deps: Deps, partnerName: string, tokenId: number): Promise<void> {
  const partner = await partnerNamed(deps, partnerName);
  if (await deps.customers.revokeToken(partner.id, tokenId)) return;
  throw new Failure('not_found', `The partner "${partnerName}" has no user token ${tokenId}.`);
}
