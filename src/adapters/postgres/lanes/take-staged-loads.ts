import { sql } from 'kysely';
import { jobStatus } from '../../../domain/job.ts';
import type { StagedLoad } from '../../../ports/lane-store.ts';
import type { Tx } from '../connect.ts';
import { loadColumns, toLoad, type LoadRow } from '../load-rows.ts';

type StagedRow = LoadRow & { file_id: number; publish_attempts: number };

/** Every load of the job that waits to be published, and how often it has been taken now. */
export async function takeStagedLoads(tx: Tx, jobId: number): Promise<StagedLoad[]> {
  const { rows } = await sql<StagedRow>`
    UPDATE job_file f SET publish_attempts = f.publish_attempts + 1
    FROM job j LEFT JOIN import_log l ON l.job_id = j.id LEFT JOIN audience_load a ON a.job_id = j.id
    WHERE f.job_id = ${jobId} AND j.id = f.job_id AND f.staged AND f.status = ${jobStatus.running}
    RETURNING f.id AS file_id, f.load_id, f.publish_attempts, ${loadColumns}
  `.execute(tx);
  return [...Map.groupBy(rows, ({ load_id }) => load_id).values()].flatMap((files) => {
    const [first] = files;
    if (!first) return [];
    return {
      load: toLoad(first),
      fileIds: files.map(({ file_id }) => file_id),
      publishAttempt: first.publish_attempts,
    };
  });
}
