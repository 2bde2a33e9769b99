import { sql } from 'kysely';
import type { Database } from '../connect.ts';
import { endOfTime } from './end-of-time.ts';

/** A bounded number, the oldest first: what is left comes with the next call. */
export async function deleteOld(db: Database, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    DELETE FROM accepted_request WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM accepted_request WHERE accepted_at <= ${endOfTime} ORDER BY accepted_at LIMIT ${limit}
      FOR UPDATE SKIP LOCKED))`.execute(db);
  return Number(numAffectedRows ?? 0);
}
