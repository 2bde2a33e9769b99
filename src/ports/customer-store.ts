import type { Customer, UserToken } from '../domain/customer.ts';
import type { PartnerId } from '../domain/partner.ts';

/** A part of a list in the order of ids. */
export type Page = { readonly afterId: number; readonly limit: number };

/** Customers and their user tokens. What belongs to another partner is as good as not there. */
export interface CustomerStore {
  /** Fails with `invalid_request` when the partner has a customer of this name. */
  create(partnerId: PartnerId, name: string): Promise<Customer>;
  list(partnerId: PartnerId, page: Page): Promise<readonly Customer[]>;
  findByName(partnerId: PartnerId, name: string): Promise<Customer | null>;
  /** The customer for whom the token acts; null when the token is unknown or revoked. */
  findByTokenHash(partnerId: PartnerId, tokenHash: Uint8Array): Promise<Customer | null>;
  /** Gives the token's id; null when the partner has no such customer. */
  addToken(partnerId: PartnerId, customerId: number, tokenHash: Uint8Array): Promise<number | null>;
  listTokens(partnerId: PartnerId, page: Page): Promise<readonly UserToken[]>;
  /** False when the partner has no such token. A token that was revoked keeps the time of the first. */
  revokeToken(partnerId: PartnerId, tokenId: number): Promise<boolean>;
}
