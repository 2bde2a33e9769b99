import type { Caller } from '../domain/caller.ts';
import type { Partner, PartnerId, PartnerSettings } from '../domain/partner.ts';

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
