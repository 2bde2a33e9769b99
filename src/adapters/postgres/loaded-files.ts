import type { JobId, PartnerId } from '../../domain/ids.ts';
import { sql } from 'kysely';
import { isFailureCode } from '../../domain/failure-catalog.ts';
import type { FilePage, LoadedFile } from '../../ports/records.ts';
import type { Database } from './db/tables.ts';
import { toJobStatus } from './lane/jobs.ts';

type OfWhat =
  | { readonly partnerId: PartnerId; readonly jobId: JobId }
  | { readonly partnerId: PartnerId; readonly audienceId: number; readonly generation: number };

/** Selects the files of a job, or an audience's files that are not superseded, ordered by ID. */
export async function selectLoadedFiles(db: Database, of: OfWhat, page: FilePage): Promise<LoadedFile[]> {
  let query = db
    .selectFrom('job_file as file')
    .where('file.partner_id', '=', of.partnerId)
    .where('file.id', '>', page.afterId)
    .orderBy('file.id')
    .limit(page.limit)
    .select(['file.id', 'file.path', 'file.status', 'file.total_rows', 'file.size', 'file.bytes_read', 'file.load_id'])
    .select('file.shown_suppressed')
    .select(['file.failure_code', 'file.failure_detail', 'file.last_modified', 'file.updated_at'])
    .select(
      sql<number>`coalesce((SELECT sum(r.rows) FROM job_file_reject r WHERE r.job_file_id = file.id), 0)::bigint`.as(
        'rejected_rows',
      ),
    );
  query =
    'jobId' in of
      ? query.where('file.job_id', '=', of.jobId)
      : query
          .where('file.audience_id', '=', of.audienceId)
          .where('file.generation', '=', of.generation)
          .where('file.superseded', '=', false);
  if (page.statuses) query = query.where('file.status', 'in', page.statuses);
  const { code, file } = page.error ?? {};
  if (file !== undefined) query = query.where('file.path', '=', file);
  if (page.onlyWithErrors) {
    query = query.where((eb) => {
      const rejects = eb
        .selectFrom('job_file_reject as r')
        .select('r.reason')
        .whereRef('r.job_file_id', '=', 'file.id');
      return code === undefined
        ? eb.or([eb('file.failure_code', 'is not', null), eb.exists(rejects)])
        : eb.or([eb('file.failure_code', '=', code), eb.exists(rejects.where('r.reason', '=', code))]);
    });
  }
  return (await query.execute()).map((row) => ({
    id: row.id,
    path: row.path,
    status: toJobStatus(row.status),
    totalRows: row.total_rows,
    rejectedRows: row.rejected_rows,
    suppressed: row.shown_suppressed,
    bytes: row.size,
    bytesRead: row.bytes_read,
    failure: failureOf(row.failure_code, row.failure_detail),
    loadId: row.load_id,
    lastModified: row.last_modified,
    updatedAt: row.updated_at,
  }));
}

function failureOf(code: string | null, detail: string | null): LoadedFile['failure'] {
  return code !== null && isFailureCode(code) ? { code, detail: detail ?? '' } : null;
}
