import { sql } from 'kysely';
import { versionsOfJob } from '../../../domain/device-version.ts';
import { jobStatus } from '../../../domain/job.ts';
import type { FileClaim } from '../../../ports/file-store.ts';
import { toImportMode, toPathType } from '../codes.ts';
import type { Database } from '../connect.ts';

type ClaimRow = {
  attempt: number;
  load_id: number;
  staged: boolean;
  previous_load_id: number | null;
  job_id: number;
  partner_id: number;
  seq: number;
  key: string;
  etag: string;
  size: number;
  gzip: boolean;
  path_type: number;
  file_path: string;
  mode: string;
};

/** The new attempt number is what makes every earlier attempt powerless. */
export async function claimFile(db: Database, fileId: number): Promise<FileClaim | null> {
  const { rows } = await sql<ClaimRow>`
    UPDATE job_file f
    SET status = ${jobStatus.running}, attempt = f.attempt + 1, updated_at = now(),
        load_id = CASE WHEN f.staged THEN f.load_id ELSE nextval('load_id') END
    FROM job j, import_log l, (SELECT id, load_id FROM job_file WHERE id = ${fileId} FOR UPDATE) AS before
    WHERE f.id = before.id AND j.id = f.job_id AND l.job_id = j.id AND NOT j.cancelled
      AND f.status IN (${jobStatus.pending}, ${jobStatus.running}) AND j.status = ${jobStatus.running}
    RETURNING f.attempt, f.load_id, f.staged, before.load_id AS previous_load_id, f.job_id, f.partner_id, j.seq,
              f.key, f.etag, f.size, f.gzip, l.path_type, l.file_path, l.mode
  `.execute(db);
  const [row] = rows;
  if (!row) return null;
  const { job_id: jobId, partner_id: partnerId } = row;
  return {
    attempt: row.attempt,
    object: { key: row.key, etag: row.etag, size: row.size },
    source: { jobId, partnerId, pathType: toPathType(row.path_type), filePath: row.file_path },
    mode: toImportMode(row.mode),
    expectGzip: row.gzip,
    isStaged: row.staged,
    previousLoadId: row.staged ? null : row.previous_load_id,
    load: { loadId: row.load_id, fileId, jobId, partnerId, versions: versionsOfJob(row.seq) },
  };
}
