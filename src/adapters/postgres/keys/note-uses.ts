import { sql } from 'kysely';
import type { Database } from '../connect.ts';

/** Several processes may have seen the key: the first of them within a minute writes. */
export async function noteUses(db: Database, keyIds: readonly number[]): Promise<void> {
  await db
    .updateTable('api_key')
    .set({ last_used_at: sql<Date>`now()` })
    .where('id', 'in', [...keyIds])
    .where((eb) => eb.or([eb('last_used_at', 'is', null), eb('last_used_at', '<', minuteAgo)]))
    .execute();
}

export const minuteAgo = sql<Date>`now() - interval '1 minute'`;
