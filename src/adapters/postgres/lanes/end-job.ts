import { sql } from 'kysely';
import type { Failure } from '../../../domain/failure.ts';
import type { ImportLogError } from '../../../domain/import-log.ts';
import { jobStatus, statusesBefore } from '../../../domain/job.ts';
import type { Database } from '../connect.ts';
import { supersedeByFailed } from './supersede.ts';

export type JobEnd = {
  readonly failure: Failure | null;
  readonly errors: readonly ImportLogError[];
  /** Whether its files were fixed: another holder of the lane may have done that meanwhile. */
  readonly hasStarted: boolean;
  /** Null when it was counted before. */
  readonly uniqueDevices: number | null;
};

/** Takes the job to its final status and wipes its credentials, once: of two holders of the lane the second changes nothing. */
export async function endJob(db: Database, jobId: number, end: JobEnd): Promise<void> {
  const status = end.failure ? jobStatus.failed : jobStatus.done;
  await db.transaction().execute(async (tx) => {
    const ended = await tx
      .updateTable('job')
      .set({
        status,
        failure_code: end.failure?.code ?? null,
        failure_detail: end.failure?.detail ?? null,
        finished_at: sql`now()`,
        updated_at: sql`now()`,
      })
      .where('id', '=', jobId)
      .where('status', 'in', statusesBefore(status))
      .where('listed_at', end.hasStarted ? 'is not' : 'is', null)
      .returning('id')
      .executeTakeFirst();
    if (!ended) return;
    if (!end.hasStarted) await supersedeByFailed(tx, jobId);
    await tx.deleteFrom('job_credential').where('job_id', '=', jobId).execute();
    await tx
      .updateTable('import_log')
      .set({
        ...(end.uniqueDevices === null ? {} : { unique_devices: end.uniqueDevices }),
        errors: end.errors.length === 0 ? null : JSON.stringify(end.errors),
      })
      .where('job_id', '=', jobId)
      .execute();
  });
}
