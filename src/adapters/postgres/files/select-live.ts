import { sql } from 'kysely';
import { jobStatus, openStatuses } from '../../../domain/job.ts';
import type { Database } from '../connect.ts';

export async function selectLive(
  db: Database,
  staged: { loadIds: readonly number[]; jobIds: readonly number[] },
): Promise<{ loadIds: Set<number>; jobIds: Set<number> }> {
  const loads = await db
    .selectFrom('job_file')
    .select('load_id')
    .where('load_id', '=', sql<number>`ANY(${staged.loadIds}::bigint[])`)
    .where('status', '=', jobStatus.running)
    .execute();
  const jobs = await db
    .selectFrom('job')
    .select('id')
    .where('id', '=', sql<number>`ANY(${staged.jobIds}::bigint[])`)
    .where('status', 'in', openStatuses)
    .execute();
  return {
    loadIds: new Set(loads.flatMap(({ load_id }) => (load_id === null ? [] : [load_id]))),
    jobIds: new Set(jobs.map(({ id }) => id)),
  };
}
