import { sql } from 'kysely';
import type { Database } from '../connect.ts';

/** Several processes may have seen the key: the first of them within a minute writes. */
export async function noteUses(db: Database, keyIds: readonly number[]): Promise<void> {
  await sql`SELECT note_key_uses(${keyIds}::bigint[])`.execute(db);
}
