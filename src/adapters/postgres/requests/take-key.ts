import { sql } from 'kysely';
import type { Tx } from '../connect.ts';
import type { RequestName } from './request-records.ts';

/** Keeps these locks apart from others. */
const requestKeys = 7_340_024;

/** False when another request with this key is being carried out. Held to the end of the transaction. */
export async function takeKey(tx: Tx, { partnerId, keyHash }: RequestName): Promise<boolean> {
  const name = `${partnerId} ${keyHash.toString('hex')}`;
  const { rows } = await sql<{ taken: boolean }>`
    SELECT pg_try_advisory_xact_lock(hashtextextended(${name}, ${requestKeys})) AS taken`.execute(tx);
  return rows[0]?.taken === true;
}
