import { sql } from 'kysely';
import type { Partner } from '../../domain/partner.ts';
import type { PartnerStore } from '../../ports/partner-store.ts';
import { coalesceEach } from '../coalesce.ts';
import { selectKeyHolder } from './api-key-store.ts';
import { advisoryLocks } from './db/advisory-locks.ts';
import type { Database } from './db/tables.ts';
import { scheduleRemoval, selectRetentionState } from './device-retention.ts';

export function postgresPartnerStore(db: Database): PartnerStore {
  const columns = ['partner.id', 'partner.name', 'partner.prefix'] as const;
  // Concurrent requests with the same key share a query. The query starts after all requests that share it have
  // arrived, so no request is authenticated with stale data.
  const findByKeyHash = coalesceEach((hash) => selectKeyHolder(db, Buffer.from(hash, 'base64')));
  return {
    withNameLocked: (name, run) =>
      db.transaction().execute(async (tx) => {
        await sql`SELECT pg_advisory_xact_lock(hashtextextended(${name}, ${advisoryLocks.partnerName}))`.execute(tx);
        return run();
      }),
    create: (partner) => insertPartner(db, partner),
    findByName: async (name) =>
      (await db.selectFrom('partner').select(columns).where('name', '=', name).executeTakeFirst()) ?? null,
    findByKeyHash: (keyHash) => findByKeyHash(Buffer.from(keyHash).toString('base64')),
    readExternalId: async (partnerId) =>
      (await db.selectFrom('partner').select('external_id').where('id', '=', partnerId).executeTakeFirstOrThrow())
        .external_id,
    readSettings: async (partnerId) => {
      const [settings, ...others] = await db
        .selectFrom('partner')
        .select([
          'audience_bad_row_share as audienceBadRowShare',
          'unhyphenated_ids as unhyphenatedIds',
          'device_days as deviceDays',
        ])
        .where('id', '=', partnerId)
        .execute();
      if (!settings || others.length > 0) throw new Error(`there is not exactly one partner ${partnerId}`);
      return settings;
    },
    suspend: async (partnerId) => {
      await db
        .updateTable('partner')
        .set({ suspended_at: sql<Date>`coalesce(suspended_at, now())` })
        .where('id', '=', partnerId)
        .execute();
    },
    readSuspension: async (partnerId) =>
      (await db.selectFrom('partner').select('suspended_at').where('id', '=', partnerId).executeTakeFirstOrThrow())
        .suspended_at,
    resume: async (partnerId) => {
      await db.updateTable('partner').set({ suspended_at: null }).where('id', '=', partnerId).execute();
    },
    readDeviceRetention: (partnerId) => selectRetentionState(db, partnerId),
    writeSettings: async (partnerId, { audienceBadRowShare, unhyphenatedIds, deviceDays }) => {
      const values = {
        ...(audienceBadRowShare === undefined ? {} : { audience_bad_row_share: audienceBadRowShare }),
        ...(unhyphenatedIds === undefined ? {} : { unhyphenated_ids: unhyphenatedIds }),
        ...(deviceDays === undefined ? {} : { device_days: deviceDays }),
      };
      await db.transaction().execute(async (tx) => {
        await tx.updateTable('partner').set(values).where('id', '=', partnerId).execute();
        if (deviceDays !== undefined) await scheduleRemoval(tx, partnerId);
      });
    },
  };
}

/** Creates a partner and its first key in one transaction. */
async function insertPartner(
  db: Database,
  partner: { name: string; prefix: string; keyHash: Uint8Array },
): Promise<Partner> {
  return db.transaction().execute(async (tx) => {
    const made = await tx
      .insertInto('partner')
      .values({ name: partner.name, prefix: partner.prefix })
      .returning(['id', 'name', 'prefix'])
      .executeTakeFirstOrThrow();
    await tx
      .insertInto('api_key')
      .values({ partner_id: made.id, key_hash: Buffer.from(partner.keyHash), name: 'first' })
      .execute();
    return made;
  });
}
