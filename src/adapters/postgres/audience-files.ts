import { type RawBuilder, sql } from 'kysely';
import type { AudienceReach, AudienceScope, FileEntryId } from '../../domain/audience.ts';
import { jobStatus } from '../../domain/job.ts';
import type { AudienceFile, AudienceFilePage, FileEntryPage } from '../../ports/audience-store.ts';
import { pathsWithoutFiles } from './audience-status.ts';
import type { Database, Tx } from './db/tables.ts';
import { toJobStatus } from './lane/jobs.ts';

// An audience's file list, which determines the audience's status.

/**
 * Selects the `audience` rows that the caller can access. No caller can access a deleted audience. The expression can use
 * the index on partner and customer.
 */
export function inScope({ partnerId, customerId }: AudienceReach): RawBuilder<boolean> {
  const ofCustomer = customerId === null ? sql`IS NULL` : sql`= ${customerId}`;
  const isOfCustomer = customerId === 'every' ? sql`true` : sql`audience.customer_id ${ofCustomer}`;
  return sql<boolean>`(audience.partner_id = ${partnerId} AND ${isOfCustomer} AND audience.deleted_at IS NULL)`;
}

/**
 * Selects the file entries of the audience's live generation. The entries are every loaded version of a file, the
 * newest failed attempt of each file, and the paths without files. Decision 5: a dismissed entry does not affect the
 * status of the audience. The enclosing query must provide `audience`.
 */
export const audienceFiles: RawBuilder<unknown> = sql`
  SELECT f.job_id, f.id, f.key AS s3_path, f.etag, f.last_modified, f.status,
         CASE WHEN f.status = ${jobStatus.done} THEN f.accepted_rows ELSE 0 END AS rows,
         CASE WHEN f.status = ${jobStatus.done} THEN f.shown_suppressed ELSE 0 END AS suppressed,
         f.updated_at, f.failure_code, f.failure_detail, f.dismissed_at, f.dismissed_by, f.dismissed_at IS NULL AS decides
  FROM job_file f
  WHERE f.audience_id = audience.id AND f.generation = audience.generation AND NOT f.superseded
  UNION ALL
  ${pathsWithoutFiles}`;

type EntryRow = {
  job_id: number;
  id: number;
  s3_path: string;
  etag: string | null;
  last_modified: Date | null;
  status: number;
  rows: number;
  rejected: number;
  suppressed: number;
  failure_code: string | null;
  failure_detail: string | null;
  dismissed_at: Date | null;
  dismissed_by: string | null;
  updated_at: Date;
};

export async function selectAudienceFiles(
  db: Database | Tx,
  scope: AudienceScope,
  audienceId: number,
  { after, limit, statuses }: FileEntryPage,
): Promise<AudienceFilePage> {
  const { rows } = await sql<EntryRow>`
    SELECT entry.job_id, entry.id, entry.s3_path, entry.etag, entry.last_modified, entry.status, entry.rows, entry.suppressed, entry.failure_code,
      entry.failure_detail, entry.dismissed_at, entry.dismissed_by, entry.updated_at,
      coalesce((SELECT sum(reject.rows) FROM job_file_reject reject WHERE reject.job_file_id = entry.id), 0)::bigint AS rejected
    FROM audience, LATERAL (${audienceFiles}) AS entry
    WHERE audience.id = ${audienceId} AND ${inScope(scope)} AND (entry.job_id, entry.id) > (${after[0]}, ${after[1]})
      ${statuses ? sql`AND entry.status IN (${sql.join(statuses)})` : sql``}
    ORDER BY entry.job_id, entry.id LIMIT ${limit + 1}
  `.execute(db);
  const files = rows.slice(0, limit).map(toFile);
  return { files, next: rows.length > limit ? (files.at(-1)?.position ?? null) : null };
}

function toFile(row: EntryRow): AudienceFile {
  return {
    id: row.id === 0 ? { jobId: row.job_id } : { fileId: row.id },
    position: [row.job_id, row.id],
    s3Path: row.s3_path,
    etag: row.etag,
    lastModified: row.last_modified,
    status: toJobStatus(row.status),
    rowsUploaded: row.rows,
    rowsRejected: row.rejected,
    suppressed: row.suppressed,
    failure: row.failure_code === null ? null : { code: row.failure_code, detail: row.failure_detail ?? '' },
    dismissedAt: row.dismissed_at,
    dismissedBy: row.dismissed_by,
    updatedAt: row.updated_at,
  };
}

/** The caller has locked the audience and verified that it is in scope. Dismissing an entry again has no effect. */
export async function dismissFile(
  tx: Tx,
  of: { readonly audienceId: number; readonly generation: number },
  entry: FileEntryId,
): Promise<'dismissed' | 'not found' | 'not failed'> {
  const isShown = sql<boolean>`
    entry.audience_id = ${of.audienceId} AND entry.generation = ${of.generation} AND NOT entry.superseded`;
  const { rows } =
    'fileId' in entry
      ? await sql<{ status: number }>`
          SELECT entry.status FROM job_file entry WHERE entry.id = ${entry.fileId} AND ${isShown}`.execute(tx)
      : await sql<{ status: number }>`
          SELECT job.status FROM audience_load entry JOIN job ON job.id = entry.job_id
          WHERE entry.job_id = ${entry.jobId} AND ${isShown} AND job.listed_at IS NULL`.execute(tx);
  const [found] = rows;
  if (!found) return 'not found';
  if (found.status !== jobStatus.failed) return 'not failed';
  const dismissed = {
    dismissed_at: sql<Date>`coalesce(dismissed_at, now())`,
    dismissed_by: sql<
      string | null
    >`CASE WHEN dismissed_at IS NULL THEN nullif(current_setting('inlet.requester', true), '') ELSE dismissed_by END`,
  };
  if ('fileId' in entry) await tx.updateTable('job_file').set(dismissed).where('id', '=', entry.fileId).execute();
  else await tx.updateTable('audience_load').set(dismissed).where('job_id', '=', entry.jobId).execute();
  await tx
    .updateTable('audience')
    .set({ updated_at: sql`now()` })
    .where('id', '=', of.audienceId)
    .execute();
  return 'dismissed';
}
