import type { Attribute } from '../domain/attribute.ts';
import type { PartnerId } from '../domain/partner.ts';

export interface AttributeStore {
  create(partnerId: PartnerId, attribute: { name: string; foreignKeys: readonly string[] }): Promise<Attribute>;
  /** The partner's attributes that are not retired. */
  list(partnerId: PartnerId): Promise<readonly Attribute[]>;
}
