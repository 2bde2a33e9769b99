import { columnOfReason, isRejectReason, rejectReasons } from '@inlet/row-rule/reject-reason';
import { sql } from 'kysely';
import { importLogErrorLimit, type ImportLogError } from '../../../domain/import-log.ts';
import { cancelledCode } from '../../../domain/job-outcome.ts';
import { jobStatus } from '../../../domain/job.ts';
import { failureCatalogue, isFailureCode } from '../../../domain/failure-catalogue.ts';
import type { JobSummary } from '../../../ports/lane-store.ts';
import type { Database } from '../connect.ts';

export async function summarizeJob(db: Database, jobId: number): Promise<JobSummary> {
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

function loadIdsOf(files: readonly { readonly load_id: number | null }[]): number[] {
  return [...new Set(files.flatMap(({ load_id }) => load_id ?? []))];
}

/** Failed files first, then refused rows by file and reason, as many as a record holds. */
async function selectErrors(db: Database, jobId: number): Promise<ImportLogError[]> {
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
    throw new Error(`${code} is in no catalogue`);
  });
}
