import { sql } from 'kysely';
import type { JobId } from '../../../domain/ids.ts';
import type { GivenObject, LostObject } from '../../../ports/lane-store.ts';
import type { Database } from '../db/tables.ts';
import { wasImported } from './settle-objects.ts';

export async function selectGivenObjects(db: Database, jobId: JobId): Promise<readonly GivenObject[]> {
  return db
    .selectFrom('subscription_object')
    .select(['key', 'etag', 'size'])
    .where('job_id', '=', jobId)
    .where('state', '=', 'queued')
    .orderBy('key')
    .execute();
}

/**
 * Records nothing once the job has started, because another worker has then decided which versions it loads. Locks the job
 * and then the state of the subscription, as the end of a job does.
 */
export async function recordLostObjects(db: Database, jobId: JobId, lost: readonly LostObject[]): Promise<void> {
  if (lost.length === 0) return;
  await db.transaction().execute(async (tx) => {
    const job = await tx
      .selectFrom('job')
      .select('id')
      .where('id', '=', jobId)
      .where('listed_at', 'is', null)
      .forUpdate()
      .executeTakeFirst();
    if (!job) return;
    await sql`
      SELECT FROM import_log log JOIN subscription_state state ON state.subscription_id = log.subscription_id
      WHERE log.job_id = ${jobId} FOR UPDATE OF state`.execute(tx);
    await sql`
      UPDATE subscription_object object SET updated_at = now(),
        state = CASE WHEN ${wasImported('object')} THEN 'imported' ELSE lost.state END
      FROM unnest(${lost.map(({ key }) => key)}::text[], ${lost.map(({ state }) => state)}::text[]) AS lost (key, state)
      WHERE object.job_id = ${jobId} AND object.key = lost.key AND object.state = 'queued'`.execute(tx);
  });
}
