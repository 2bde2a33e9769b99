import { sql } from 'kysely';
import { jobStatus } from '../../../domain/job.ts';
import type { StagedLoad } from '../../../ports/lane-store.ts';
import type { Tx } from '../connect.ts';
import { loadColumns, toLoad, type LoadRow } from '../load-rows.ts';

type StagedRow = LoadRow & {
  file_id: number;
  publish_attempts: number;
  accepted_rows: number;
  uploaded_devices: number;
  size: number;
};

/** Every load of the job that waits to be published, and how often it has been taken now. */
export async function takeStagedLoads(tx: Tx, jobId: number): Promise<StagedLoad[]> {
  const { rows } = await sql<StagedRow>`
    UPDATE job_file f SET publish_attempts = f.publish_attempts + 1
    FROM job j LEFT JOIN import_log l ON l.job_id = j.id LEFT JOIN audience_load a ON a.job_id = j.id
    WHERE f.job_id = ${jobId} AND j.id = f.job_id AND f.staged AND f.status = ${jobStatus.running}
    RETURNING f.id AS file_id, f.load_id, f.publish_attempts, f.accepted_rows, f.uploaded_devices, f.size, ${loadColumns}
  `.execute(tx);
  return [...Map.groupBy(rows, ({ load_id }) => load_id).values()].flatMap((files) => {
    const [first] = files;
    if (!first) return [];
    return {
      load: toLoad(
        first,
        files.reduce((sum, { size }) => sum + size, 0),
      ),
      fileIds: files.map(({ file_id }) => file_id),
      rows: files.reduce((sum, { accepted_rows }) => sum + accepted_rows, 0),
      // A good file has a good row, and so a device.
      isCounted: files.every(({ uploaded_devices }) => uploaded_devices > 0),
      publishAttempt: first.publish_attempts,
    };
  });
}

/** The good rows of the files that wait to be published, and whether one has waited for longer than so many seconds. */
export async function whatWaits(
  tx: Tx,
  jobId: number,
  seconds: number,
): Promise<{ readonly rows: number; readonly isLong: boolean }> {
  const { rows, is_long } = await tx
    .selectFrom('job_file')
    .select([
      sql<number>`coalesce(sum(accepted_rows), 0)::bigint`.as('rows'),
      sql<boolean>`coalesce(min(updated_at) < now() - make_interval(secs => ${seconds}), false)`.as('is_long'),
    ])
    .where('job_id', '=', jobId)
    .where('staged', '=', true)
    .where('status', '=', jobStatus.running)
    .executeTakeFirstOrThrow();
  return { rows, isLong: is_long };
}
