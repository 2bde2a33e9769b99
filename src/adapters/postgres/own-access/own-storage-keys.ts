import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import type { PartnerId } from '../../../domain/ids.ts';
import { type StorageKey, hasRoomForStorageKey } from '../../../domain/own-access.ts';
import type { ExpiredStorageKey, OwnStorageKeys } from '../../../ports/own-access.ts';
import { advisoryLocks } from '../db/advisory-locks.ts';
import type { Database, Tx } from '../db/tables.ts';
import { type OwnChangeDeps, notFound, runOwnChange } from './run-change.ts';

const date = z.coerce.date();
const result: z.ZodType<readonly StorageKey[]> = z.array(
  z.object({
    accessKeyId: z.string(),
    createdAt: date.nullable(),
    createdBy: z.string().nullable(),
    expiresAt: date.nullable(),
  }),
);

/** How long a key whose creation was interrupted stays recorded before workers remove it. */
const unfinishedKeySeconds = 30;

export function postgresOwnStorageKeys(deps: OwnChangeDeps): OwnStorageKeys {
  return {
    list: (partnerId) => selectStorageKeys(deps.db, partnerId),
    prepareRotation: (change, { accessKeyId, overlapSeconds }, list) => {
      // The storage takes part in the change, so the lock must not delay the jobs of the partner.
      const options = { result: result.nullable(), isStored: false, lock: lockStorageKeys };
      return runOwnChange(deps, change, options, async (tx, { createdBy }) => {
        const partnerId = change.caller.partner.id;
        const otherIds = await list();
        await letExpire(tx, partnerId, otherIds, overlapSeconds);
        const expiredIds = await selectExpiredIds(tx, partnerId);
        if (!hasRoomForStorageKey(otherIds.filter((id) => !expiredIds.includes(id)))) return null;
        await tx
          .insertInto('storage_key')
          .values({
            partner_id: partnerId,
            access_key_id: accessKeyId,
            created_by: createdBy,
            expires_at: secondsFromNow(unfinishedKeySeconds),
          })
          .execute();
        return null;
      });
    },
    rotate: (change, { accessKeyId, overlapSeconds }, create) =>
      runOwnChange(deps, change, { result, lock: lockStorageKeys }, async (tx, { createdBy }) => {
        const partnerId = change.caller.partner.id;
        const otherIds = await create(await selectExpiredIds(tx, partnerId));
        // Another rotation may have created a key since the first step.
        await letExpire(tx, partnerId, otherIds, overlapSeconds);
        await tx
          .insertInto('storage_key')
          .values({ partner_id: partnerId, access_key_id: accessKeyId, created_by: createdBy, expires_at: null })
          .onConflict((conflict) => conflict.columns(['partner_id', 'access_key_id']).doUpdateSet({ expires_at: null }))
          .execute();
        const keys = await selectStorageKeys(tx, partnerId);
        const first = keys.filter((key) => key.accessKeyId === accessKeyId);
        return [...first, ...keys.filter((key) => otherIds.includes(key.accessKeyId))];
      }),
    prepareRevocation: async (change, accessKeyId, list) => {
      const options = { result: z.null(), hasQuota: false, isStored: false, lock: lockStorageKeys };
      await runOwnChange(deps, change, options, async (tx) => {
        if (!(await list()).includes(accessKeyId)) throw notFound('Storage key', accessKeyId);
        await letExpire(tx, change.caller.partner.id, [accessKeyId], 0);
        return null;
      });
    },
    revoke: async (change, remove) => {
      const options = { result: z.null(), hasQuota: false, lock: lockStorageKeys };
      await runOwnChange(deps, change, options, async () => {
        await remove();
        return null;
      });
    },
    listExpired: async (limit) => {
      const { rows } = await sql<ExpiredStorageKey>`
        SELECT key.id, key.partner_id AS "partnerId", partner.name AS "partnerName", key.access_key_id AS "accessKeyId"
        FROM storage_key key JOIN partner ON partner.id = key.partner_id
        WHERE key.expires_at <= now() ORDER BY key.expires_at LIMIT ${limit}`.execute(deps.db);
      return rows;
    },
    removeExpired: ({ id, partnerId }, remove) =>
      deps.db.transaction().execute(async (tx) => {
        if (!(await tryLockStorageKeys(tx, partnerId))) return;
        const removed = await tx
          .deleteFrom('storage_key')
          .where('partner_id', '=', partnerId)
          .where('id', '=', id)
          .where('expires_at', '<=', sql<Date>`now()`)
          .returning('id')
          .executeTakeFirst();
        // A failure keeps the row.
        if (removed) await remove();
      }),
  };
}

/** Keeps an earlier expiry. */
async function letExpire(
  tx: Tx,
  partnerId: PartnerId,
  accessKeyIds: readonly string[],
  overlapSeconds: number,
): Promise<void> {
  if (accessKeyIds.length === 0) return;
  const expires_at = secondsFromNow(overlapSeconds);
  await tx
    .insertInto('storage_key')
    .values(accessKeyIds.map((id) => ({ partner_id: partnerId, access_key_id: id, created_by: null, expires_at })))
    .onConflict((conflict) =>
      // least() ignores null.
      conflict
        .columns(['partner_id', 'access_key_id'])
        .doUpdateSet({ expires_at: sql<Date>`least(storage_key.expires_at, excluded.expires_at)` }),
    )
    .execute();
}

function secondsFromNow(seconds: number): RawBuilder<Date> {
  return sql<Date>`now() + make_interval(secs => ${seconds}::double precision)`;
}

async function selectExpiredIds(tx: Tx, partnerId: PartnerId): Promise<readonly string[]> {
  const expired = await tx
    .selectFrom('storage_key')
    .select('access_key_id')
    .where('partner_id', '=', partnerId)
    .where('expires_at', '<=', sql<Date>`now()`)
    .execute();
  return expired.map(({ access_key_id }) => access_key_id);
}

async function tryLockStorageKeys(tx: Tx, partnerId: PartnerId): Promise<boolean> {
  const { rows } = await sql<{ locked: boolean }>`
    SELECT pg_try_advisory_xact_lock(hashtextextended(${String(partnerId)}, ${advisoryLocks.storageKeys})) AS locked`.execute(
    tx,
  );
  return rows[0]?.locked === true;
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
