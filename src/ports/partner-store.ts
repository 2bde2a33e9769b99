import type { Caller } from '../domain/caller.ts';
import type { Partner, PartnerId, PartnerSettings } from '../domain/partner.ts';

export interface PartnerStore {
  /** Runs something that only one may do for this name at a time; others wait. */
  withNameLocked<T>(name: string, run: () => Promise<T>): Promise<T>;
  create(partner: { readonly name: string; readonly prefix: string; readonly keyHash: Uint8Array }): Promise<Partner>;
  findByName(name: string): Promise<Partner | null>;
  /** The partner that holds the key, and the id of the key; null when the key is unknown or revoked. */
  findByKeyHash(keyHash: Uint8Array): Promise<Caller | null>;
  /** With which Inlet assumes the roles of this partner and of no other. */
  readExternalId(partnerId: PartnerId): Promise<string>;
  readSettings(partnerId: PartnerId): Promise<PartnerSettings>;
  writeSettings(partnerId: PartnerId, settings: PartnerSettings): Promise<void>;
}
