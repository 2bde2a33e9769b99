import { sql } from 'kysely';
import type { Counting } from '../../../domain/composition/counts.ts';
import type { AudienceState } from '../../../ports/composition-store.ts';
import type { Database } from '../connect.ts';

/** Any number, as long as no other lock has the same. */
const compositions = 7_340_024;

/**
 * A lock of the session, not of a transaction: a report takes minutes, and a transaction may not be idle for that long.
 * It holds one connection, and ends with it when the process dies.
 */
export async function runAlone<T>(
  db: Database,
  audience: AudienceState,
  counting: Counting,
  run: () => Promise<T>,
): Promise<T | null> {
  const name = `composition ${audience.audienceId} ${counting}`;
  return db.connection().execute(async (connection) => {
    const { rows } = await sql<{ taken: boolean }>`
      SELECT pg_try_advisory_lock(hashtextextended(${name}, ${compositions})) AS taken`.execute(connection);
    if (!rows[0]?.taken) return null;
    try {
      return await run();
    } finally {
      await sql`SELECT pg_advisory_unlock(hashtextextended(${name}, ${compositions}))`.execute(connection);
    }
  });
}
