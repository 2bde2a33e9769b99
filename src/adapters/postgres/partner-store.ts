import type { PartnerStore } from '../../ports/partner-store.ts';
import type { Database } from './connect.ts';
import { insertPartner } from './partners/insert-partner.ts';

export function postgresPartnerStore(db: Database): PartnerStore {
  const columns = ['partner.id', 'partner.name', 'partner.prefix'] as const;
  return {
    create: (partner) => insertPartner(db, partner),
    findByName: async (name) =>
      (await db.selectFrom('partner').select(columns).where('name', '=', name).executeTakeFirst()) ?? null,
    findByKeyHash: async (keyHash) =>
      (await db
        .selectFrom('api_key')
        .innerJoin('partner', 'partner.id', 'api_key.partner_id')
        .select(columns)
        .where('api_key.key_hash', '=', Buffer.from(keyHash))
        .where('api_key.revoked_at', 'is', null)
        .executeTakeFirst()) ?? null,
  };
}
