import { sql } from 'kysely';
import type { ApiKey } from '../../../domain/api-key.ts';
import type { ApiKeyStore } from '../../../ports/api-key-store.ts';
import type { Database } from '../connect.ts';
import { insertKey } from './insert-key.ts';
import { shownColumns, toApiKey } from './shown-columns.ts';

type Next = Parameters<ApiKeyStore['rotate']>[2];

/** Both or neither: a key does not get an end before there is one to go on with. */
export async function rotateKey(
  db: Database,
  partnerId: number,
  keyId: number,
  next: Next,
): Promise<{ old: ApiKey; made: ApiKey } | null> {
  return db.transaction().execute(async (tx) => {
    const before = await tx
      .selectFrom('api_key')
      .where('partner_id', '=', partnerId)
      .where('id', '=', keyId)
      .where('revoked_at', 'is', null)
      .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', sql<Date>`now()`)]))
      .select(['name', 'scopes', sql<number | null>`extract(epoch FROM expires_at - created_at)::float8`.as('lived')])
      .forUpdate()
      .executeTakeFirst();
    if (!before) return null;
    const old = await tx
      .updateTable('api_key')
      // The earlier of the two; null is passed over.
      .set({ expires_at: sql<Date>`least(expires_at, now() + make_interval(secs => ${next.overlapSeconds}))` })
      .where('partner_id', '=', partnerId)
      .where('id', '=', keyId)
      .returning(shownColumns)
      .executeTakeFirstOrThrow();
    const made = await insertKey(tx, partnerId, next.keyHash, {
      name: before.name,
      scopes: before.scopes === null ? null : toApiKey(old).scopes,
      livesSeconds: next.livesSeconds ?? before.lived,
    });
    return { old: toApiKey(old), made };
  });
}
