import { sql } from 'kysely';
import type { Failure } from '../../../domain/failure.ts';
import type { ImportLogError } from '../../../domain/import-log.ts';
import { jobStatus, statusesBefore } from '../../../domain/job.ts';
import type { Database, Tx } from '../connect.ts';
import { supersedeByFailed } from './supersede.ts';

export type JobEnd = {
  readonly failure: Failure | null;
  readonly errors: readonly ImportLogError[];
  /** Whether its files were fixed: another holder of the lane may have done that meanwhile. */
  readonly hasStarted: boolean;
  /** Null when it was counted before. */
  readonly uniqueDevices: number | null;
};

export async function endJob(db: Database, jobId: number, end: JobEnd): Promise<void> {
  await db.transaction().execute((tx) => endJobIn(tx, jobId, end));
}

/** Takes the job to its final status and wipes its credentials, once: of two holders of the lane the second changes nothing. */
export async function endJobIn(tx: Tx, jobId: number, end: JobEnd): Promise<void> {
  const status = end.failure ? jobStatus.failed : jobStatus.done;
  const ended = await tx
    .updateTable('job')
    .set({
      status,
      failure_code: end.failure?.code ?? null,
      failure_detail: end.failure?.detail ?? null,
      // Not when the transaction began: it may have waited until the job before this one had ended.
      finished_at: sql`clock_timestamp()`,
      updated_at: sql`now()`,
    })
    .where('id', '=', jobId)
    .where('status', 'in', statusesBefore(status))
    .where('listed_at', end.hasStarted ? 'is not' : 'is', null)
    .returning('id')
    .executeTakeFirst();
  if (!ended) return;
  if (!end.hasStarted) await supersedeByFailed(tx, jobId);
  // Its devices are in the warehouse: what was counted before is old.
  if (end.uniqueDevices !== null && end.uniqueDevices > 0)
    await sql`SELECT nextval('known_devices_version')`.execute(tx);
  await tx.deleteFrom('job_credential').where('job_id', '=', jobId).execute();
  await tx
    .updateTable('import_log')
    .set({
      ...(end.uniqueDevices === null ? {} : { unique_devices: end.uniqueDevices }),
      errors: end.errors.length === 0 ? null : JSON.stringify(end.errors),
    })
    .where('job_id', '=', jobId)
    .execute();
}
