import { sql } from 'kysely';
import { versionOfAdds } from '../../../domain/device-version.ts';
import { jobStatus } from '../../../domain/job.ts';
import type { FileClaim } from '../../../ports/file-store.ts';
import type { Database } from '../connect.ts';

type ClaimRow = {
  attempt: number;
  load_id: number;
  previous_load_id: number | null;
  job_id: number;
  partner_id: number;
  seq: number;
  key: string;
  etag: string;
  size: number;
  gzip: boolean;
};

/** The new attempt number is what makes every earlier attempt powerless. */
export async function claimFile(db: Database, fileId: number): Promise<FileClaim | null> {
  const { rows } = await sql<ClaimRow>`
    UPDATE job_file f
    SET status = ${jobStatus.running}, attempt = f.attempt + 1, load_id = nextval('load_id'), updated_at = now()
    FROM job j, (SELECT id, load_id FROM job_file WHERE id = ${fileId} FOR UPDATE) AS before
    WHERE f.id = before.id AND j.id = f.job_id AND NOT j.cancelled
      AND f.status IN (${jobStatus.pending}, ${jobStatus.running}) AND j.status = ${jobStatus.running}
    RETURNING f.attempt, f.load_id, before.load_id AS previous_load_id, f.job_id, f.partner_id, j.seq,
              f.key, f.etag, f.size, f.gzip
  `.execute(db);
  const [row] = rows;
  if (!row) return null;
  return {
    attempt: row.attempt,
    object: { key: row.key, etag: row.etag, size: row.size },
    expectGzip: row.gzip,
    previousLoadId: row.previous_load_id,
    load: {
      loadId: row.load_id,
      fileId,
      jobId: row.job_id,
      partnerId: row.partner_id,
      version: versionOfAdds(row.seq),
    },
  };
}
