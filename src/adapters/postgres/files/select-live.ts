import { sql } from 'kysely';
import { importMode } from '../../../domain/import-log.ts';
import { jobStatus, openStatuses } from '../../../domain/job.ts';
import type { Database } from '../connect.ts';

/** A load is live while its files are loading, and in a replacing job until the job ends. */
export async function selectLive(
  db: Database,
  staged: { loadIds: readonly number[]; jobIds: readonly number[] },
): Promise<{ loadIds: Set<number>; jobIds: Set<number> }> {
  const loads = await db
    .selectFrom('job_file as file')
    .innerJoin('job', 'job.id', 'file.job_id')
    .leftJoin('import_log as log', 'log.job_id', 'job.id')
    .select('file.load_id')
    .where('file.load_id', '=', sql<number>`ANY(${staged.loadIds}::bigint[])`)
    .where('job.status', 'in', openStatuses)
    .where((eb) =>
      eb.or([
        eb('file.status', '=', jobStatus.running),
        eb.and([eb('file.status', '=', jobStatus.done), eb('log.mode', '=', importMode.replace)]),
      ]),
    )
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
