import { sql } from 'kysely';
import { jobStatus } from '../../../domain/job.ts';
import type { BatchClaim } from '../../../ports/file-store.ts';
import type { Database } from '../connect.ts';

/** Says at the same time whether anybody still wants the load. */
export async function noteProgress(
  db: Database,
  { load, files }: BatchClaim,
  read: { readonly bytes: number; readonly rows: number } | null,
): Promise<boolean> {
  const isWanted = sql`
    file.load_id = ${load.loadId} AND file.status = ${jobStatus.running}
    AND job.id = file.job_id AND job.status = ${jobStatus.running} AND NOT job.cancelled`;
  const query = read
    ? sql`
        UPDATE job_file file
        SET bytes_read = greatest(bytes_read, ${read.bytes}::bigint), rows_read = greatest(rows_read, ${read.rows}::bigint)
        FROM job WHERE ${isWanted} RETURNING file.id`
    : sql`SELECT file.id FROM job_file file, job WHERE ${isWanted}`;
  return (await query.execute(db)).rows.length === files.length;
}
