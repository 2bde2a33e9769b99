import type { JobId, LoadId } from '../../../domain/ids.ts';
import { columnOfReason, isRejectReason, rejectReasons } from '@inlet/row-rule/reject-reason';
import { sql } from 'kysely';
import { failureCatalogue, isFailureCode } from '../../../domain/failure-catalogue.ts';
import type { Failure } from '../../../domain/failure.ts';
import { type ImportLogError, importLogErrorLimit } from '../../../domain/import-log.ts';
import { cancelledCode, cancelledFile } from '../../../domain/job-outcome.ts';
import { jobStatus, statusesBefore } from '../../../domain/job.ts';
import type { JobSummary } from '../../../ports/lane-store.ts';
import type { Database, Tx } from '../db/tables.ts';
import { supersedeByFailed } from './start-job.ts';

export type JobEnd = {
  readonly failure: Failure | null;
  readonly errors: readonly ImportLogError[];
  /** The job has started. Guards against another holder of the lane that started it meanwhile. */
  readonly hasStarted: boolean;
  /** Null if it is already recorded. */
  readonly uniqueDevices: number | null;
};

export async function endJob(db: Database, jobId: JobId, end: JobEnd): Promise<void> {
  await db.transaction().execute((tx) => endJobIn(tx, jobId, end));
}

/**
 * Sets the final status and deletes the credentials. Has an effect only once, so a second holder of the lane changes
 * nothing.
 */
export async function endJobIn(tx: Tx, jobId: JobId, end: JobEnd): Promise<void> {
  const status = end.failure ? jobStatus.failed : jobStatus.done;
  const ended = await tx
    .updateTable('job')
    .set({
      status,
      failure_code: end.failure?.code ?? null,
      failure_detail: end.failure?.detail ?? null,
      // Does not use now(), because the transaction may have waited for the previous job to end.
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
  // New devices in the warehouse make earlier matched counts stale.
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

export async function summarizeJob(db: Database, jobId: JobId): Promise<JobSummary> {
  const files = await db
    .selectFrom('job_file')
    .select(['load_id', 'status', 'failure_code'])
    .where('job_id', '=', jobId)
    .where('status', 'in', [jobStatus.done, jobStatus.failed])
    .execute();
  const loaded = files.filter(({ status }) => status === jobStatus.done);
  const cancelled = files.filter(({ failure_code }) => failure_code === cancelledCode);
  return {
    loadIds: loadIdsOf(loaded),
    cancelledLoadIds: loadIdsOf(cancelled),
    cancelledFiles: cancelled.length,
    failedFiles: files.length - loaded.length,
    loadedFiles: loaded.length,
    errors: await selectErrors(db, jobId),
  };
}

function loadIdsOf(files: readonly { readonly load_id: LoadId | null }[]): number[] {
  return [...new Set(files.flatMap(({ load_id }) => load_id ?? []))];
}

/** Failed files first, then rejected rows by file and reason, up to the limit of a record. */
async function selectErrors(db: Database, jobId: JobId): Promise<ImportLogError[]> {
  const { rows } = await sql<{ code: string; detail: string | null; file: string; row: number | null; count: number }>`
    SELECT code, detail, file, "row", count FROM (
      SELECT 0 AS rank, f.id, f.failure_code AS code, f.failure_detail AS detail,
             f.path AS file, NULL::bigint AS "row", 1::bigint AS count
      FROM job_file f
      WHERE f.job_id = ${jobId} AND f.status = ${jobStatus.failed}
      UNION ALL
      SELECT 1, f.id, r.reason, NULL, f.path, r.first_row, r.rows
      FROM job_file f JOIN job_file_reject r ON r.job_file_id = f.id
      WHERE f.job_id = ${jobId}
    ) AS all_errors
    ORDER BY rank, id, count DESC, code LIMIT ${importLogErrorLimit}
  `.execute(db);
  return rows.map(({ code, detail, file, row, count }) => {
    if (isRejectReason(code))
      return { code, message: rejectReasons[code], file, row, column: columnOfReason(code), count };
    if (isFailureCode(code)) {
      return { code, message: detail ?? failureCatalogue[code].title, file, row, column: null, count };
    }
    throw new Error(`${code} is not in the failure catalogue`);
  });
}

/**
 * Fails every file of a job that is not past the point of no return. A worker that is loading one loses its claim and
 * cannot commit. The caller holds the job's row. Files are locked in the same order as in a claim.
 */
export async function cancelFiles(tx: Tx, jobId: JobId): Promise<void> {
  const { code, detail } = cancelledFile();
  await sql`
    WITH open AS (
      SELECT id FROM job_file
      WHERE job_id = ${jobId} AND status IN (${jobStatus.pending}, ${jobStatus.running}) AND NOT staged
      ORDER BY id FOR UPDATE
    )
    UPDATE job_file f
    SET status = ${jobStatus.failed}, failure_code = ${code}, failure_detail = ${detail}, updated_at = now()
    FROM open WHERE f.id = open.id
  `.execute(tx);
}
