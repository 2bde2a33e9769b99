import { sql } from 'kysely';
import type { ApiKeyStore } from '../../ports/api-key-store.ts';
import type { Database } from './connect.ts';
import { insertKey } from './keys/insert-key.ts';
import { noteUses } from './keys/note-uses.ts';
import { rotateKey } from './keys/rotate-key.ts';
import { shownColumns, toApiKey } from './keys/shown-columns.ts';

export function postgresApiKeyStore(db: Database): ApiKeyStore {
  return {
    create: (partnerId, keyHash, wish) => insertKey(db, partnerId, keyHash, wish),
    list: async (partnerId, { afterId, limit }) => {
      const ofPartner = db.selectFrom('api_key').select(shownColumns).where('partner_id', '=', partnerId);
      const rows = await ofPartner.where('id', '>', afterId).orderBy('id').limit(limit).execute();
      return rows.map(toApiKey);
    },
    rotate: (partnerId, keyId, next) => rotateKey(db, partnerId, keyId, next),
    revoke: async (partnerId, keyId) => {
      const revoked = await db
        .updateTable('api_key')
        .set({ revoked_at: sql<Date>`coalesce(revoked_at, now())` })
        .where('partner_id', '=', partnerId)
        .where('id', '=', keyId)
        .returning('id')
        .executeTakeFirst();
      return revoked !== undefined;
    },
    noteUses: (keyIds) => noteUses(db, keyIds),
  };
}
