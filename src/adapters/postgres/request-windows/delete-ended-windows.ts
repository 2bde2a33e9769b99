import { sql } from 'kysely';
import type { Database } from '../connect.ts';

/** Of all partners. Not the last one: a statement that waited may still count in it. */
export async function deleteEndedWindows(db: Database, windowSeconds: number): Promise<void> {
  await db
    .deleteFrom('request_window')
    .where('number', '<', sql<number>`floor(extract(epoch FROM now()) / ${windowSeconds}::int) - 1`)
    .execute();
}
