import type { PartnerId } from '../../domain/ids.ts';
import { sql } from 'kysely';
import { requestWindowSeconds } from '../../domain/limits.ts';
import type { RequestWindows, RequestPortion, TakenRequests } from '../../ports/request-store.ts';
import type { Database } from './db/tables.ts';

export function postgresRequestWindows(db: Database, windowSeconds = requestWindowSeconds): RequestWindows {
  return {
    take: (portions) => takeRequests(db, windowSeconds, portions),
    sweep: () => deleteEndedWindows(db, windowSeconds),
  };
}

/**
 * Deletes all partners' ended windows except the most recent one, because a delayed statement may still add to that
 * window.
 */
async function deleteEndedWindows(db: Database, windowSeconds: number): Promise<void> {
  await db
    .deleteFrom('request_window')
    .where('number', '<', sql<number>`floor(extract(epoch FROM now()) / ${windowSeconds}::int) - 1`)
    .execute();
}

/**
 * Adds all portions in one statement, the caller's own row before the row of several callers. A statement that is waiting for a shared row
 * therefore holds no row that another statement needs. If a statement started in the previous window and had to wait,
 * it counts in the row's current window. If the row's window is further in the future, the clock was set back, and the
 * row's count restarts.
 */
async function takeRequests(
  db: Database,
  windowSeconds: number,
  portions: readonly RequestPortion[],
): Promise<TakenRequests[]> {
  const partnerIds = portions.map(({ partnerId }) => partnerId);
  const windowIds = portions.map(({ windowId }) => windowId);
  const requests = portions.map((portion) => portion.requests);
  const { rows } = await sql<{ partnerId: PartnerId; windowId: number; taken: number; secondsLeft: number }>`
    INSERT INTO request_window AS known (partner_id, key_id, number, taken)
    SELECT partner_id, key_id, floor(extract(epoch FROM now()) / ${windowSeconds}::int), requests
    FROM unnest(${partnerIds}::bigint[], ${windowIds}::bigint[], ${requests}::bigint[])
      WITH ORDINALITY AS portion (partner_id, key_id, requests, place)
    ORDER BY place
    ON CONFLICT (partner_id, key_id) DO UPDATE SET
      number = CASE WHEN known.number - excluded.number IN (0, 1) THEN known.number ELSE excluded.number END,
      taken = CASE WHEN known.number - excluded.number IN (0, 1) THEN known.taken ELSE 0 END + excluded.taken
    RETURNING partner_id AS "partnerId", key_id AS "windowId", taken,
      ((number + 1) * ${windowSeconds}::int - extract(epoch FROM now()))::float8 AS "secondsLeft"`.execute(db);
  return portions.map(({ partnerId, windowId }) => {
    const row = rows.find((found) => found.partnerId === partnerId && found.windowId === windowId);
    if (!row) throw new Error('a request window was not written');
    return { taken: row.taken, secondsLeft: row.secondsLeft };
  });
}
