import { sql } from 'kysely';
import type { Tx } from './connect.ts';

/** Held alone by a backup while the lanes stand still, and shared for a moment by whoever wants to begin something. */
export const pauseLock = 7_340_025;

/**
 * Whether something may begin that changes what the engine holds for good. If so, no backup takes its cut before this
 * transaction has ended. A lock and not a row: it ends with the session of the backup, whatever becomes of it.
 */
export async function mayBegin(tx: Tx): Promise<boolean> {
  const { rows } = await sql<{ may: boolean }>`
    SELECT pg_try_advisory_xact_lock_shared(${pauseLock}) AS may`.execute(tx);
  return rows[0]?.may === true;
}
