import type { PgBoss } from 'pg-boss';
import { Failure } from '../../../domain/failure.ts';
import { logType } from '../../../domain/import-log.ts';
import { jobKind } from '../../../domain/job.ts';
import type { NewImport } from '../../../ports/import-log-store.ts';
import type { Database } from '../connect.ts';
import { sendLaneToken } from '../dispatch.ts';
import { appendJob } from '../lanes/append-job.ts';

export async function submitImport(
  db: Database,
  boss: PgBoss,
  partnerId: number,
  request: NewImport,
  maxOpenJobs: number,
): Promise<number> {
  return db.transaction().execute(async (tx) => {
    const job = await appendJob(tx, partnerId, jobKind.import);
    if (job.openJobs > maxOpenJobs) {
      throw new Failure(
        'too_many_open_jobs',
        `The partner has ${maxOpenJobs} open jobs, which is the most it may have.`,
      );
    }
    await tx
      .insertInto('import_log')
      .values({
        job_id: job.id,
        partner_id: partnerId,
        log_type: logType.import,
        file_path: request.filePath,
        path_type: request.pathType,
        key_type: request.keyType,
        compressed: request.compressed,
        keys: null,
        errors: null,
      })
      .execute();
    await sendLaneToken(boss, tx, partnerId);
    return job.id;
  });
}
