import { sql } from 'kysely';
import { importMode } from '../../../domain/import-log.ts';
import { jobStatus, openStatuses } from '../../../domain/job.ts';
import type { Database, Tx } from '../connect.ts';
import { mayBegin } from '../pause.ts';

type Staged = { readonly loadIds: readonly number[]; readonly jobIds: readonly number[] };
type Live = { readonly loadIds: Set<number>; readonly jobIds: Set<number> };

/**
 * A load is live while its files are loading, and in a replacing job until the job ends. While a backup is being taken all
 * of them are: one that a clear has just ended may be alive in the backup.
 */
export async function selectLive(db: Database, staged: Staged): Promise<Live> {
  return db.transaction().execute(async (tx) => {
    if (!(await mayBegin(tx))) return { loadIds: new Set(staged.loadIds), jobIds: new Set(staged.jobIds) };
    return { loadIds: await liveLoads(tx, staged.loadIds), jobIds: await liveJobs(tx, staged.jobIds) };
  });
}

async function liveLoads(tx: Tx, loadIds: readonly number[]): Promise<Set<number>> {
  const loads = await tx
    .selectFrom('job_file as file')
    .innerJoin('job', 'job.id', 'file.job_id')
    .leftJoin('import_log as log', 'log.job_id', 'job.id')
    .select('file.load_id')
    .where('file.load_id', '=', sql<number>`ANY(${loadIds}::bigint[])`)
    .where('job.status', 'in', openStatuses)
    .where((eb) =>
      eb.or([
        eb('file.status', '=', jobStatus.running),
        eb.and([eb('file.status', '=', jobStatus.done), eb('log.mode', '=', importMode.replace)]),
      ]),
    )
    .execute();
  return new Set(loads.flatMap(({ load_id }) => load_id ?? []));
}

async function liveJobs(tx: Tx, jobIds: readonly number[]): Promise<Set<number>> {
  const jobs = await tx
    .selectFrom('job')
    .select('id')
    .where('id', '=', sql<number>`ANY(${jobIds}::bigint[])`)
    .where('status', 'in', openStatuses)
    .execute();
  return new Set(jobs.map(({ id }) => id));
}
