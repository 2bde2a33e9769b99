import { sql } from 'kysely';
import type { JobId } from '../../../domain/ids.ts';
import type { GivenObject, LostObject } from '../../../ports/lane-store.ts';
import type { Database } from '../db/tables.ts';

export async function selectGivenObjects(db: Database, jobId: JobId): Promise<readonly GivenObject[]> {
  return db
    .selectFrom('subscription_object')
    .select(['key', 'etag', 'size'])
    .where('job_id', '=', jobId)
    .where('state', '=', 'queued')
    .orderBy('key')
    .execute();
}

export async function recordLostObjects(db: Database, jobId: JobId, lost: readonly LostObject[]): Promise<void> {
  if (lost.length === 0) return;
  await sql`
    UPDATE subscription_object object SET state = lost.state, updated_at = now()
    FROM unnest(${lost.map(({ key }) => key)}::text[], ${lost.map(({ state }) => state)}::text[]) AS lost (key, state)
    WHERE object.job_id = ${jobId} AND object.key = lost.key AND object.state = 'queued'`.execute(db);
}
