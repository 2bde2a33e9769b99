import type { JobId } from '../../../domain/ids.ts';
import { type RawBuilder, sql } from 'kysely';
import { jobStatus } from '../../../domain/job.ts';
import type { AudienceJob, CountsAfter, StagedLoad } from '../../../ports/lane-store.ts';
import type { Database, Tx } from '../db/tables.ts';

export async function commitImportLoads(db: Database, jobId: JobId, loads: readonly StagedLoad[]): Promise<boolean> {
  return db.transaction().execute(async (tx) => (await markLoaded(tx, jobId, loads)).length > 0);
}

/**
 * Files and counts change together, or not at all if the audience was cleared meanwhile. Locks the audience before the
 * job, in the same order as a clear.
 */
export async function commitAudienceLoads(
  db: Database,
  job: AudienceJob,
  loads: readonly StagedLoad[],
  counts: CountsAfter,
): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    const audience = await tx
      .selectFrom('audience')
      .select('id')
      .where('id', '=', job.audienceId)
      .where('generation', '=', job.generation)
      .forUpdate()
      .executeTakeFirst();
    if (!audience) return false;
    const loaded = await markLoaded(tx, job.id, loads);
    if (loaded.length === 0) return false;
    const uploaded = loaded.reduce((sum, { uploaded_devices }) => sum + uploaded_devices, 0);
    await tx
      .updateTable('audience')
      .set({
        uploaded_devices: sql`uploaded_devices + ${uploaded}`,
        unique_devices: counts.unique,
        matched_devices: counts.matched,
        matched_version: counts.knownVersion,
        // Uses a new number instead of the load's own, because loads are published in any order.
        last_load_id: sql`nextval('load_id')`,
        updated_at: sql`now()`,
      })
      .where('id', '=', job.audienceId)
      .execute();
    return true;
  });
}

/**
 * Commits everything or nothing. Of two holders of the lane, only the one with the latest claim can commit, and it may
 * still be publishing when the other one tries to commit.
 */
async function markLoaded(
  tx: Tx,
  jobId: JobId,
  loads: readonly StagedLoad[],
): Promise<readonly { uploaded_devices: number }[]> {
  const job = await tx
    .updateTable('job')
    .set({ updated_at: sql`now()` })
    .where('id', '=', jobId)
    .where('status', '=', jobStatus.running)
    .where('cancelled', '=', false)
    .returning('id')
    .executeTakeFirst();
  if (!job || !(await areOurs(tx, jobId, loads))) return [];
  return tx
    .updateTable('job_file')
    .set({ status: jobStatus.done, updated_at: sql`now()` })
    .where('job_id', '=', jobId)
    .where('load_id', '=', anyOf(loads))
    .where('status', '=', jobStatus.running)
    .where('staged', '=', true)
    .returning('uploaded_devices')
    .execute();
}

async function areOurs(tx: Tx, jobId: JobId, loads: readonly StagedLoad[]): Promise<boolean> {
  const now = await tx
    .selectFrom('job_file')
    .select(['load_id', 'publish_attempts'])
    .distinct()
    .where('job_id', '=', jobId)
    .where('load_id', '=', anyOf(loads))
    .where('status', '=', jobStatus.running)
    .where('staged', '=', true)
    .execute();
  const taken = new Map(now.map(({ load_id, publish_attempts }) => [load_id, publish_attempts]));
  return loads.every(({ load, publishAttempt }) => taken.get(load.loadId) === publishAttempt);
}

function anyOf(loads: readonly StagedLoad[]): RawBuilder<number> {
  return sql<number>`ANY(${loads.map(({ load }) => load.loadId)}::bigint[])`;
}

/** A missing staging table yields no counts, because they were recorded before the table was dropped. */
export async function recordUploadedDevices(
  db: Database,
  jobId: JobId,
  devices: ReadonlyMap<number, number>,
): Promise<void> {
  await sql`
    UPDATE job_file f SET uploaded_devices = greatest(f.uploaded_devices, o.devices)
    FROM unnest(${[...devices.keys()]}::bigint[], ${[...devices.values()]}::bigint[]) AS o (id, devices)
    WHERE f.id = o.id AND f.job_id = ${jobId}
  `.execute(db);
}

/** Finds the job if it is running and not canceled. */
export function selectRunningJob(db: Database | Tx, jobId: JobId) {
  return db
    .selectFrom('job')
    .select('id')
    .where('id', '=', jobId)
    .where('status', '=', jobStatus.running)
    .where('cancelled', '=', false);
}
