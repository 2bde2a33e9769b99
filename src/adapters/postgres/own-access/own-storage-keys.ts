import { sql } from 'kysely';
import { z } from 'zod';
import type { PartnerId } from '../../../domain/ids.ts';
import type { StorageKey } from '../../../domain/own-access.ts';
import type { ExpiredStorageKey, OwnStorageKeys } from '../../../ports/own-access.ts';
import { advisoryLocks } from '../db/advisory-locks.ts';
import type { Database, Tx } from '../db/tables.ts';
import { type OwnChangeDeps, runOwnChange } from './run-change.ts';

const date = z.coerce.date();
const result: z.ZodType<readonly StorageKey[]> = z.array(
  z.object({
    accessKeyId: z.string(),
    createdAt: date.nullable(),
    createdBy: z.string().nullable(),
    expiresAt: date.nullable(),
  }),
);

export function postgresOwnStorageKeys(deps: OwnChangeDeps): OwnStorageKeys {
  return {
    list: (partnerId) => selectStorageKeys(deps.db, partnerId),
    rotate: (change, overlapSeconds, create) =>
      // The storage takes part in the change, so the lock must not delay the jobs of the partner.
      runOwnChange(deps, change, { result, lock: lockStorageKeys }, async (tx, { createdBy }) => {
        const partnerId = change.caller.partner.id;
        const { accessKeyId, otherIds } = await create();
        const expiry = sql<Date>`now() + make_interval(secs => ${overlapSeconds}::double precision)`;
        if (otherIds.length > 0) {
          await tx
            .insertInto('storage_key')
            .values(
              otherIds.map((id) => ({
                partner_id: partnerId,
                access_key_id: id,
                created_by: null,
                expires_at: expiry,
              })),
            )
            .onConflict((conflict) =>
              // The earlier of the two times. least() ignores null.
              conflict
                .columns(['partner_id', 'access_key_id'])
                .doUpdateSet({ expires_at: sql<Date>`least(storage_key.expires_at, excluded.expires_at)` }),
            )
            .execute();
        }
        await tx
          .insertInto('storage_key')
          .values({ partner_id: partnerId, access_key_id: accessKeyId, created_by: createdBy, expires_at: null })
          .execute();
        const keys = await selectStorageKeys(tx, partnerId);
        const first = keys.filter((key) => key.accessKeyId === accessKeyId);
        return [...first, ...keys.filter((key) => key.accessKeyId !== accessKeyId)];
      }),
    listExpired: async (limit) => {
      const { rows } = await sql<ExpiredStorageKey>`
        SELECT key.id, partner.name AS "partnerName", key.access_key_id AS "accessKeyId"
        FROM storage_key key JOIN partner ON partner.id = key.partner_id
        WHERE key.expires_at <= now() ORDER BY key.expires_at LIMIT ${limit}`.execute(deps.db);
      return rows;
    },
    forget: async (keyId) => {
      await deps.db.deleteFrom('storage_key').where('id', '=', keyId).execute();
    },
  };
}

async function lockStorageKeys(tx: Tx, partnerId: PartnerId): Promise<void> {
  await sql`SELECT pg_advisory_xact_lock(hashtextextended(${String(partnerId)}, ${advisoryLocks.storageKeys}))`.execute(
    tx,
  );
}

function selectStorageKeys(db: Database | Tx, partnerId: PartnerId): Promise<StorageKey[]> {
  return db
    .selectFrom('storage_key')
    .where('partner_id', '=', partnerId)
    .orderBy('id')
    .select([
      'access_key_id as accessKeyId',
      'created_at as createdAt',
      'created_by as createdBy',
      'expires_at as expiresAt',
    ])
    .execute();
}
