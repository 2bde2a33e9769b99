import type { ApiKey, KeyWish } from '../domain/api-key.ts';
import type { Attribute } from '../domain/attribute.ts';
import type { AuditEntry, DeniedCall } from '../domain/audit.ts';
import type { Caller } from '../domain/caller.ts';
import type { Customer, UserToken } from '../domain/customer.ts';
import type { TokenBearer } from '../domain/issued-token.ts';
import type { PartnerId } from '../domain/ids.ts';
import type { Partner, PartnerSettings } from '../domain/partner.ts';

export type KeyHolder = Caller & {
  /** Neither revoked nor expired. */
  readonly isValid: boolean;
  /** Its last use was noted more than a minute ago. */
  readonly isUseDue: boolean;
};

export interface PartnerStore {
  /** Runs something that only one may do for this name at a time; others wait. */
  withNameLocked<T>(name: string, run: () => Promise<T>): Promise<T>;
  create(partner: { readonly name: string; readonly prefix: string; readonly keyHash: Uint8Array }): Promise<Partner>;
  findByName(name: string): Promise<Partner | null>;
  /** Who holds the key, also when it does not work any more; null when it is unknown. */
  findByKeyHash(keyHash: Uint8Array): Promise<KeyHolder | null>;
  /** With which Inlet assumes the roles of this partner and of no other. */
  readExternalId(partnerId: PartnerId): Promise<string>;
  readSettings(partnerId: PartnerId): Promise<PartnerSettings>;
  writeSettings(partnerId: PartnerId, settings: PartnerSettings): Promise<void>;
}

/** API keys as an operator sees them. Another partner's keys are treated as nonexistent. */
export interface ApiKeyStore {
  create(partnerId: PartnerId, keyHash: Uint8Array, wish: KeyWish): Promise<ApiKey>;
  list(partnerId: PartnerId, page: Page): Promise<readonly ApiKey[]>;
  /**
   * A second key like the first, which ends after the overlap, or earlier if it was to. Without a time of its own the
   * new one lives as long as the old one was to. Null when the partner has no such key, or it has ended.
   */
  rotate(
    partnerId: PartnerId,
    keyId: number,
    next: { readonly keyHash: Uint8Array; readonly livesSeconds: number | null; readonly overlapSeconds: number },
  ): Promise<{ readonly old: ApiKey; readonly made: ApiKey } | null>;
  /** False when the partner has no such key. A key that was revoked keeps the time of the first. */
  revoke(partnerId: PartnerId, keyId: number): Promise<boolean>;
  /** Writes nothing for a key whose last use was noted less than a minute ago. */
  recordUses(keyIds: readonly number[]): Promise<void>;
}

/** A part of a list in the order of ids. */
export type Page = { readonly afterId: number; readonly limit: number };

/** Customers and their user tokens. Another partner's are treated as nonexistent. */
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

export interface AttributeStore {
  create(partnerId: PartnerId, attribute: { name: string; foreignKeys: readonly string[] }): Promise<Attribute>;
  /** The partner's attributes in the order of their ids: all, or a page of them. */
  list(partnerId: PartnerId, which: { readonly retired: boolean; readonly page?: Page }): Promise<readonly Attribute[]>;
  /** False when the partner has no such attribute. */
  rename(partnerId: PartnerId, attributeId: number, name: string): Promise<boolean>;
  /** A retired attribute takes no more imports; its data stays until it is deleted. */
  retire(partnerId: PartnerId, attributeId: number): Promise<boolean>;
  /** Ties foreign keys to the attribute; a key that was tied to another of the partner's attributes moves. */
  tie(partnerId: PartnerId, attributeId: number, foreignKeys: readonly string[]): Promise<boolean>;
}

/** User tokens that are not made here, but by an OpenID Connect issuer that the configuration names. */
export interface IssuedTokens {
  /** For whom the token speaks; null when it is not good. Fails with `issuer_away` when that cannot be known. */
  read(token: string): Promise<TokenBearer | null>;
}

/** Only added to. Changes of keys, partners and what they have are written by the database itself. */
export interface AuditLog {
  addDenied(calls: readonly DeniedCall[]): Promise<void>;
  /** Newest first. Without a partner, lists every entry, including those of unknown callers. */
  list(which: {
    readonly partnerId: PartnerId | null;
    readonly beforeId: number;
    readonly limit: number;
  }): Promise<readonly AuditEntry[]>;
}
