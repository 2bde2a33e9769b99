import { badRowShares } from '@inlet/row-rule/file-rule';
import { sql } from 'kysely';
import { jobStatus } from '../../../domain/job.ts';
import type { BatchClaim } from '../../../ports/file-store.ts';
import type { Database } from '../connect.ts';
import { isOfAudience, loadColumns, toLoad, toSource, type LoadRow } from '../load-rows.ts';

type ClaimRow = LoadRow & {
  id: number;
  attempt: number;
  previous_load_id: number | null;
  key: string;
  etag: string;
  size: number;
  gzip: boolean | null;
  bad_row_share: number;
};

/**
 * Takes all files of a batch that are not staged yet. The new attempt number is what makes every earlier attempt
 * powerless. The job's row is not locked: whether it goes on is asked again when the attempt commits.
 */
export async function claimBatch(db: Database, batchId: number): Promise<BatchClaim | null> {
  const { rows } = await sql<ClaimRow>`
    WITH before AS (
      SELECT id, load_id FROM job_file
      WHERE batch_id = ${batchId} AND status IN (${jobStatus.pending}, ${jobStatus.running}) AND NOT staged
      ORDER BY id FOR UPDATE
    ), next AS (SELECT nextval('load_id') AS load_id)
    UPDATE job_file f
    SET status = ${jobStatus.running}, attempt = f.attempt + 1, load_id = next.load_id, updated_at = now()
    FROM before, next, job j
      JOIN partner p ON p.id = j.partner_id
      LEFT JOIN import_log l ON l.job_id = j.id
      LEFT JOIN audience_load a ON a.job_id = j.id
    WHERE f.id = before.id AND j.id = f.job_id AND NOT j.cancelled AND j.status = ${jobStatus.running}
    RETURNING f.id, f.attempt, f.load_id, before.load_id AS previous_load_id, f.key, f.etag, f.size, f.gzip,
              p.audience_bad_row_share AS bad_row_share, ${loadColumns}
  `.execute(db);
  const [first] = rows;
  if (!first) return null;
  return {
    batchId,
    attempt: first.attempt,
    source: toSource(first),
    load: toLoad(
      first,
      rows.reduce((sum, { size }) => sum + size, 0),
    ),
    files: rows
      .toSorted((a, b) => a.id - b.id)
      .map(({ id, key, etag, size, gzip }) => ({ fileId: id, object: { key, etag, size }, expectGzip: gzip })),
    badRowShare: isOfAudience(first) ? first.bad_row_share : badRowShares.marketplace,
    previousLoadId: first.previous_load_id,
  };
}
