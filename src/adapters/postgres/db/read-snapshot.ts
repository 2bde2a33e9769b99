import { sql } from 'kysely';
import type { Database, Tx } from './tables.ts';

/**
 * Runs several statements on one snapshot. Compiling the statement for a filtered list of 100,000 audiences took
 * PostgreSQL over a second, and running it without compilation took 20 ms.
 */
export async function readSnapshot<Result>(db: Database, run: (tx: Tx) => Promise<Result>): Promise<Result> {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .execute(async (tx) => {
      await sql`SET LOCAL jit = off`.execute(tx);
      return run(tx);
    });
}
