import type { ApiKey, NewApiKey } from '../domain/api-key.ts';
import type { Attribute } from '../domain/attribute.ts';
import type { AuditEntry, DeniedCall } from '../domain/audit.ts';
import type { KeyCaller } from '../domain/caller.ts';
import type { Customer, UserToken } from '../domain/customer.ts';
import type { TokenBearer } from '../domain/issued-token.ts';
import type { PartnerId } from '../domain/ids.ts';
import type { KeyType } from '../domain/import-log.ts';
import type { Partner, PartnerSettings } from '../domain/partner.ts';
import type { DeviceRetentionState } from './device-retention.ts';

export type KeyHolder = KeyCaller & {
  /** Whether the key is neither revoked nor expired. */
  readonly isValid: boolean;
  /** Whether the operator has suspended the partner. */
  readonly isSuspended: boolean;
  /** Whether the last recorded use is more than a minute old. */
  readonly isUseDue: boolean;
};

export interface PartnerStore {
  /** Runs a function under an exclusive lock on this name. Other callers wait. */
  withNameLocked<T>(name: string, run: () => Promise<T>): Promise<T>;
  create(partner: { readonly name: string; readonly prefix: string; readonly keyHash: Uint8Array }): Promise<Partner>;
  findByName(name: string): Promise<Partner | null>;
  /** Returns the key's holder, even if the key is no longer valid. Null for an unknown key. */
  findByKeyHash(keyHash: Uint8Array): Promise<KeyHolder | null>;
  /** Returns the external ID that Inlet sends when it assumes a role of this partner. Each partner has its own. */
  readExternalId(partnerId: PartnerId): Promise<string>;
  readSettings(partnerId: PartnerId): Promise<PartnerSettings>;
  readDeviceRetention(partnerId: PartnerId): Promise<DeviceRetentionState>;
  /**
   * Rejects the partner's keys and sessions, and starts none of its waiting jobs. Suspending it again keeps the time of
   * the first suspension.
   */
  suspend(partnerId: PartnerId): Promise<void>;
  /** Returns when the partner was suspended. Null if it is not suspended. */
  readSuspension(partnerId: PartnerId): Promise<Date | null>;
  resume(partnerId: PartnerId): Promise<void>;
  /** Changes the given settings, of which there is at least one. */
  writeSettings(partnerId: PartnerId, settings: Partial<PartnerSettings>): Promise<void>;
}

/** Manages API keys for operators. Every method treats another partner's keys as nonexistent. */
export interface ApiKeyStore {
  create(partnerId: PartnerId, keyHash: Uint8Array, newKey: NewApiKey): Promise<ApiKey>;
  list(partnerId: PartnerId, page: Page): Promise<readonly ApiKey[]>;
  /**
   * Creates a key with the same settings. The old key expires after the overlap or at its own expiry, whichever comes
   * first. If no expiry is given, the new key keeps the old key's expiry. Returns null if the partner has no such key
   * or the key is not valid.
   */
  rotate(
    partnerId: PartnerId,
    keyId: number,
    next: { readonly keyHash: Uint8Array; readonly livesSeconds: number | null; readonly overlapSeconds: number },
  ): Promise<{ readonly old: ApiKey; readonly made: ApiKey } | null>;
  /** False if the partner has no such key. Revoking again keeps the first revocation time. */
  revoke(partnerId: PartnerId, keyId: number): Promise<boolean>;
  /** Writes nothing for a key whose last recorded use is less than a minute old. */
  recordUses(keyIds: readonly number[]): Promise<void>;
}

/** A page of a list that is ordered by ID. */
export type Page = { readonly afterId: number; readonly limit: number };

export type TokenHolder = { readonly customer: Customer; readonly tokenId: number };

/** Customers and their user tokens. Every method treats another partner's customers and tokens as nonexistent. */
export interface CustomerStore {
  /** Fails with `invalid_request` if the partner already has a customer with this name. */
  create(partnerId: PartnerId, name: string): Promise<Customer>;
  list(partnerId: PartnerId, page: Page): Promise<readonly Customer[]>;
  find(partnerId: PartnerId, customerId: number): Promise<Customer | null>;
  findByName(partnerId: PartnerId, name: string): Promise<Customer | null>;
  /** Returns the customer that the token represents. Null if the token is unknown or revoked. */
  findByTokenHash(partnerId: PartnerId, tokenHash: Uint8Array): Promise<TokenHolder | null>;
  /** Returns the token's ID, or null if the partner has no such customer. */
  addToken(partnerId: PartnerId, customerId: number, tokenHash: Uint8Array): Promise<number | null>;
  /** Lists the tokens of all customers, or of one customer. */
  listTokens(partnerId: PartnerId, page: Page, customerId?: number): Promise<readonly UserToken[]>;
  /** False if the partner has no such token. Revoking again keeps the first revocation time. */
  revokeToken(partnerId: PartnerId, tokenId: number): Promise<boolean>;
}

export interface AttributeStore {
  create(partnerId: PartnerId, attribute: { name: string; foreignKeys: readonly string[] }): Promise<Attribute>;
  /** Lists the partner's attributes ordered by ID. Without a page, lists all of them. */
  list(partnerId: PartnerId, which: { readonly retired: boolean; readonly page?: Page }): Promise<readonly Attribute[]>;
  /** Returns the keys in the list that refer to an attribute of the partner, also to a retired one. */
  findKeys(partnerId: PartnerId, type: KeyType, keys: readonly string[]): Promise<ReadonlySet<string>>;
  /** Returns false if the partner has no such attribute. */
  rename(partnerId: PartnerId, attributeId: number, name: string): Promise<boolean>;
  /** A retired attribute accepts no more imports. Its data stays until it is deleted. */
  retire(partnerId: PartnerId, attributeId: number): Promise<boolean>;
  /**
   * Maps foreign keys to the attribute. If a key is already mapped to another attribute of the partner, this mapping
   * replaces it.
   */
  tie(partnerId: PartnerId, attributeId: number, foreignKeys: readonly string[]): Promise<boolean>;
}

/** User tokens issued by the configured OpenID Connect issuer. */
export interface IssuedTokens {
  /**
   * Returns the customer and partner that the token represents. Null if the token is invalid. Fails with `issuer_away`
   * if the token cannot be verified.
   */
  read(token: string): Promise<TokenBearer | null>;
}

/** Append-only. The database itself records changes to keys, partners, and their settings. */
export interface AuditLog {
  addDenied(calls: readonly DeniedCall[]): Promise<void>;
  /** Lists entries, newest first. Without a partner, lists the entries of all partners and of unknown callers. */
  list(which: {
    readonly partnerId: PartnerId | null;
    readonly beforeId: number;
    readonly limit: number;
  }): Promise<readonly AuditEntry[]>;
}
