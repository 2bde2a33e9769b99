import type { ApiKey, NewApiKey } from '../../domain/api-key.ts';
import { type Customer, type UserToken, toCustomerName } from '../../domain/customer.ts';
import { Failure } from '../../domain/failure.ts';
import { parseKey } from '../../domain/key-format.ts';
import type { Secret } from '../../domain/secret.ts';
import type { KeyIssuer } from '../../ports/crypto.ts';
import type { ApiKeyStore, Page, KeyHolder, PartnerStore, CustomerStore } from '../../ports/partner-store.ts';
import { partnerNamed } from './manage-partners.ts';

type ApiKeyDeps = { readonly partners: PartnerStore; readonly keys: ApiKeyStore };
type Issuing = ApiKeyDeps & { readonly apiKeys: KeyIssuer };

type IssuedKey = { readonly key: Secret; readonly made: ApiKey };

export async function createApiKey(deps: Issuing, partnerName: string, newKey: NewApiKey): Promise<IssuedKey> {
  const partner = await partnerNamed(deps, partnerName);
  const { key, hash } = deps.apiKeys.issue();
  return { key, made: await deps.keys.create(partner.id, hash, newKey) };
}

export async function listApiKeys(deps: ApiKeyDeps, partnerName: string, page: Page): Promise<readonly ApiKey[]> {
  return deps.keys.list((await partnerNamed(deps, partnerName)).id, page);
}

export async function rotateApiKey(
  deps: Issuing,
  partnerName: string,
  keyId: number,
  times: { readonly livesSeconds: number | null; readonly overlapSeconds: number },
): Promise<IssuedKey & { readonly old: ApiKey }> {
  const partner = await partnerNamed(deps, partnerName);
  const { key, hash } = deps.apiKeys.issue();
  const rotated = await deps.keys.rotate(partner.id, keyId, { keyHash: hash, ...times });
  if (rotated) return { key, ...rotated };
  throw new Failure('not_found', `The partner "${partnerName}" has no valid key ${keyId}.`);
}

export async function revokeApiKey(deps: ApiKeyDeps, partnerName: string, keyId: number): Promise<void> {
  const partner = await partnerNamed(deps, partnerName);
  if (await deps.keys.revoke(partner.id, keyId)) return;
  throw new Failure('not_found', `The partner "${partnerName}" has no key ${keyId}.`);
}

/** Looks up the owner of a string that may be an API key, such as a leaked key. */
export async function identifyApiKey(
  deps: { readonly partners: PartnerStore; readonly apiKeys: KeyIssuer },
  text: string,
): Promise<{ readonly format: ReturnType<typeof parseKey>; readonly holder: KeyHolder | null }> {
  const holder = deps.apiKeys.mayHaveIssued(text) ? await deps.partners.findByKeyHash(deps.apiKeys.hash(text)) : null;
  return { format: parseKey(text), holder };
}

type CustomerDeps = { readonly partners: PartnerStore; readonly customers: CustomerStore };

export async function createCustomer(deps: CustomerDeps, partnerName: string, name: string): Promise<Customer> {
  const kept = toCustomerName(name);
  return deps.customers.create((await partnerNamed(deps, partnerName)).id, kept);
}

export async function listCustomers(deps: CustomerDeps, partnerName: string, page: Page): Promise<readonly Customer[]> {
  return deps.customers.list((await partnerNamed(deps, partnerName)).id, page);
}

type UserTokenDeps = { readonly partners: PartnerStore; readonly customers: CustomerStore };

type IssuedUserToken = { readonly id: number; readonly customer: Customer; readonly token: Secret };

export async function createUserToken(
  deps: UserTokenDeps & { readonly userTokens: KeyIssuer },
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

export async function listUserTokens(
  deps: UserTokenDeps,
  partnerName: string,
  page: Page,
): Promise<readonly UserToken[]> {
  return deps.customers.listTokens((await partnerNamed(deps, partnerName)).id, page);
}

export async function revokeUserToken(deps: UserTokenDeps, partnerName: string, tokenId: number): Promise<void> {
  const partner = await partnerNamed(deps, partnerName);
  if (await deps.customers.revokeToken(partner.id, tokenId)) return;
  throw new Failure('not_found', `The partner "${partnerName}" has no user token ${tokenId}.`);
}
