import type { ApiKey, NewApiKey } from '../domain/api-key.ts';
import type { Attribute } from '../domain/attribute.ts';
import type { Caller } from '../domain/caller.ts';
import type { Customer, UserToken } from '../domain/customer.ts';
import type { IdempotentRequest } from '../domain/idempotency.ts';
import type { PartnerId } from '../domain/ids.ts';
import type { StorageKey } from '../domain/own-access.ts';

// Changes that partners make themselves. The audit log names the caller. Each change runs in one transaction, in which the
// API key of the caller must still work. All methods fail with `not_found` for an ID of another partner.

export type OwnChange = {
  readonly caller: Caller;
  /** Null if the request has no idempotency key. A stored request never contains a secret. */
  readonly idempotency: IdempotentRequest | null;
};

export interface OwnAttributes {
  /** Fails with `invalid_request` if the name or a foreign key is in use, and with `quota_exceeded`. */
  create(
    change: OwnChange,
    attribute: { readonly name: string; readonly foreignKeys: readonly string[] },
  ): Promise<Attribute>;
  rename(change: OwnChange, attributeId: number, name: string): Promise<Attribute>;
  retire(change: OwnChange, attributeId: number): Promise<Attribute>;
  /** Maps foreign keys to the attribute, and moves those that are mapped to another attribute. */
  tie(change: OwnChange, attributeId: number, foreignKeys: readonly string[]): Promise<Attribute>;
  /** Ignores foreign keys that are not mapped to the attribute. */
  untie(change: OwnChange, attributeId: number, foreignKeys: readonly string[]): Promise<Attribute>;
}

export interface OwnKeys {
  /** Creates a key that expires no later than the caller's key. */
  create(change: OwnChange, keyHash: Uint8Array, newKey: NewApiKey): Promise<ApiKey>;
  /** Replaces a working key. `check` can reject the key by throwing. */
  rotate(
    change: OwnChange,
    keyId: number,
    next: { readonly keyHash: Uint8Array; readonly livesSeconds: number | null; readonly overlapSeconds: number },
    check: (old: ApiKey) => void,
  ): Promise<{ readonly old: ApiKey; readonly made: ApiKey }>;
  /** Revokes a key. `check` can reject it by throwing, and gets all working keys of the partner. */
  revoke(change: OwnChange, keyId: number, check: (workingKeys: readonly ApiKey[]) => void): Promise<void>;
}

export interface OwnStorageKeys {
  /** Returns what is recorded about the access keys. Those that were created with the partner may be missing. */
  list(partnerId: PartnerId): Promise<readonly StorageKey[]>;
  /**
   * The first step of a rotation, which stays committed if the second one fails. Lets all keys that `list` returns expire
   * after the overlap, and records the new key as one that expires soon. Returns null, or the result of the rotation if
   * the request is a repetition.
   */
  prepareRotation(
    change: OwnChange,
    rotation: StorageKeyRotation,
    list: () => Promise<readonly string[]>,
  ): Promise<readonly StorageKey[] | null>;
  /**
   * The second step. `create` gets the IDs of the expired keys, replaces them in the storage with the new key, and returns
   * the IDs of the other keys. They expire after the overlap, and the new key no longer does. Returns the new key first.
   * Changes of one partner's keys run one at a time. `create` is not called for a repeated request.
   */
  rotate(
    change: OwnChange,
    rotation: StorageKeyRotation,
    create: (expiredIds: readonly string[]) => Promise<readonly string[]>,
  ): Promise<readonly StorageKey[]>;
  /**
   * The first step of a revocation, which stays committed if the second one fails. Lets the key expire now. Fails with
   * `not_found` if `list` does not return the key.
   */
  prepareRevocation(change: OwnChange, accessKeyId: string, list: () => Promise<readonly string[]>): Promise<void>;
  /** The second step, which removes the key with `remove`. `remove` is not called for a repeated request. */
  revoke(change: OwnChange, remove: () => Promise<void>): Promise<void>;
  /** Returns expired keys of all partners. For workers. */
  listExpired(limit: number): Promise<readonly ExpiredStorageKey[]>;
  /**
   * Removes an expired key with `remove`, and forgets it. Does nothing if the key no longer expires, or if a rotation is
   * running. For workers.
   */
  removeExpired(key: ExpiredStorageKey, remove: () => Promise<void>): Promise<void>;
}

type StorageKeyRotation = { readonly accessKeyId: string; readonly overlapSeconds: number };

export type ExpiredStorageKey = {
  readonly id: number;
  readonly partnerId: PartnerId;
  readonly partnerName: string;
  readonly accessKeyId: string;
};

export type OwnUserToken = Omit<UserToken, 'customer'>;

export interface OwnCustomers {
  create(change: OwnChange, name: string): Promise<Customer>;
  rename(change: OwnChange, customerId: number, name: string): Promise<Customer>;
  /**
   * Removes a customer with its user tokens, and ends its sessions. Fails with `customer_in_use` if it has audiences.
   */
  remove(change: OwnChange, customerId: number): Promise<void>;
  addToken(change: OwnChange, customerId: number, tokenHash: Uint8Array): Promise<OwnUserToken>;
  /** Revoking again keeps the first revocation time. */
  revokeToken(change: OwnChange, of: { readonly customerId: number; readonly tokenId: number }): Promise<void>;
}
