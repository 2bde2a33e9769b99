import { sql } from 'kysely';
import type { UploadLog, UploadSweep } from '../../ports/upload-storage.ts';
import type { Database } from './db/tables.ts';

export function postgresUploadLog(db: Database): UploadLog {
  return {
    add: async (partnerId, { key, storageId, expiresAt }, { atMost, share }) => {
      const customerId = share?.customerId ?? null;
      const { numAffectedRows } = await sql`
        INSERT INTO upload (partner_id, customer_id, object_key, storage_id, expires_at)
        SELECT ${partnerId}, ${customerId}::bigint, ${key}, ${storageId}, ${expiresAt}::timestamptz
        FROM (
          SELECT count(*) AS every, count(*) FILTER (WHERE customer_id = ${customerId}::bigint) AS own
          FROM upload WHERE partner_id = ${partnerId} AND ended_at IS NULL AND expires_at > now()
        ) AS open
        WHERE open.every < ${atMost} AND open.own < ${share?.most ?? atMost}`.execute(db);
      return numAffectedRows === 1n;
    },
    end: async (partnerId, { storageId }) => {
      await db
        .updateTable('upload')
        .set({ ended_at: sql<Date>`now()` })
        .where('partner_id', '=', partnerId)
        .where('storage_id', '=', storageId)
        .where('ended_at', 'is', null)
        .execute();
    },
  };
}

export function postgresUploadSweep(db: Database): UploadSweep {
  return {
    listExpired: (graceHours, { afterId, limit }) =>
      db
        .selectFrom('upload')
        .select(['id', 'object_key as key', 'storage_id as storageId'])
        .where('ended_at', 'is', null)
        .where('expires_at', '<', sql<Date>`now() - make_interval(hours => ${graceHours})`)
        .where('id', '>', afterId)
        .orderBy('id')
        .limit(limit)
        .execute(),
    markEnded: async (ids) => {
      await sql`UPDATE upload SET ended_at = now() WHERE id = ANY(${ids}::bigint[])`.execute(db);
    },
    removeEnded: async (limit) => {
      const { numAffectedRows } = await sql`
        DELETE FROM upload WHERE id = ANY (ARRAY(SELECT id FROM upload WHERE ended_at IS NOT NULL LIMIT ${limit}))`.execute(
        db,
      );
      return Number(numAffectedRows ?? 0);
    },
  };
}
