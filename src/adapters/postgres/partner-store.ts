import { sql } from 'kysely';
import type { PartnerStore } from '../../ports/partner-store.ts';
import type { Database } from './connect.ts';
import { insertPartner } from './partners/insert-partner.ts';
import { keyWithHash, partnerWithKey } from './partners/with-key.ts';

/** Keeps these locks apart from others. */
const partnerNames = 7_340_022;

export function postgresPartnerStore(db: Database): PartnerStore {
  const columns = ['partner.id', 'partner.name', 'partner.prefix'] as const;
  return {
    withNameLocked: (name, run) =>
      db.transaction().execute(async (tx) => {
        await sql`SELECT pg_advisory_xact_lock(hashtextextended(${name}, ${partnerNames}))`.execute(tx);
        return run();
      }),
    create: (partner) => insertPartner(db, partner),
    findByName: async (name) =>
      (await db.selectFrom('partner').select(columns).where('name', '=', name).executeTakeFirst()) ?? null,
    findByKeyHash: async (keyHash) =>
      (await db
        .selectFrom(keyWithHash(keyHash).as('api_key'))
        .innerJoin(partnerWithKey(keyHash).as('partner'), 'partner.id', 'api_key.partner_id')
        .select(columns)
        .where('api_key.revoked_at', 'is', null)
        .executeTakeFirst()) ?? null,
    readExternalId: async (partnerId) =>
      (await db.selectFrom('partner').select('external_id').where('id', '=', partnerId).executeTakeFirstOrThrow())
        .external_id,
    readSettings: (partnerId) =>
      db
        .selectFrom('partner')
        .select('audience_bad_row_share as audienceBadRowShare')
        .where('id', '=', partnerId)
        .executeTakeFirstOrThrow(),
    writeSettings: async (partnerId, { audienceBadRowShare }) => {
      const values = { audience_bad_row_share: audienceBadRowShare };
      await db.updateTable('partner').set(values).where('id', '=', partnerId).execute();
    },
  };
}
