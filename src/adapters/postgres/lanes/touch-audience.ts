import { sql } from 'kysely';
import type { Database } from '../connect.ts';

/** A job of an audience has ended: a statement of its own, because the audience is locked before its jobs elsewhere. */
export async function touchAudience(db: Database, jobId: number): Promise<void> {
  await db
    .updateTable('audience')
    .from('audience_load as load')
    .set({ updated_at: sql`now()` })
    .where('load.job_id', '=', jobId)
    .whereRef('audience.id', '=', 'load.audience_id')
    .whereRef('audience.generation', '=', 'load.generation')
    .execute();
}
