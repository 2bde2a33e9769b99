import { sql } from 'kysely';
import type { Database } from '../connect.ts';

export async function revokeUserToken(db: Database, partnerId: number, tokenId: number): Promise<boolean> {
  const revoked = await db
    .updateTable('user_token')
    .set({ revoked_at: sql<Date>`coalesce(revoked_at, now())` })
    .where('partner_id', '=', partnerId)
    .where('id', '=', tokenId)
    .returning('id')
    .executeTakeFirst();
  return revoked !== undefined;
}
