import type { Attribute } from '../domain/attribute.ts';
import type { PartnerId } from '../domain/partner.ts';
import type { Page } from './customer-store.ts';

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
