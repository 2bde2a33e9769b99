import { sql } from 'kysely';
import type { PgBoss } from 'pg-boss';
import type { Failure } from '../../../domain/failure.ts';
import { jobStatus } from '../../../domain/job.ts';
import type { FileClaim } from '../../../ports/file-store.ts';
import { rejectedRows, type LoadCounts } from '../../../ports/warehouse.ts';
import type { Database, Tx } from '../connect.ts';
import { sendLaneToken } from '../dispatch.ts';

/**
 * Writes the result of an attempt, if it is still the file's attempt and the job goes on. The job's row is locked
 * first: the lane looks under the same lock, so the wake-up that is sent here cannot be missed.
 */
export async function commitFile(
  db: Database,
  boss: PgBoss,
  claim: FileClaim,
  result: { counts: LoadCounts; failure: Failure | null },
): Promise<boolean> {
  const { jobId, fileId, partnerId } = claim.load;
  return db.transaction().execute(async (tx) => {
    const job = await tx
      .selectFrom('job')
      .select('id')
      .where('id', '=', jobId)
      .where('status', '=', jobStatus.running)
      .where('cancelled', '=', false)
      .forUpdate()
      .executeTakeFirst();
    if (!job) return false;
    const total = result.counts.accepted + rejectedRows(result.counts);
    const committed = await tx
      .updateTable('job_file')
      .set({
        status: result.failure ? jobStatus.failed : jobStatus.done,
        total_rows: total,
        bytes_read: claim.object.size,
        rows_read: sql`greatest(rows_read, ${total}::bigint)`,
        accepted_rows: result.failure ? 0 : result.counts.accepted,
        failure_code: result.failure?.code ?? null,
        failure_detail: result.failure?.detail ?? null,
        updated_at: sql`now()`,
      })
      .where('id', '=', fileId)
      .where('attempt', '=', claim.attempt)
      .where('status', '=', jobStatus.running)
      .returning('id')
      .executeTakeFirst();
    if (!committed) return false;
    await insertRejects(tx, fileId, result.counts);
    await addToJob(tx, jobId, total);
    await sendLaneToken(boss, tx, partnerId);
    return true;
  });
}

async function insertRejects(tx: Tx, fileId: number, counts: LoadCounts): Promise<void> {
  if (counts.rejects.length === 0) return;
  await tx
    .insertInto('job_file_reject')
    .values(
      counts.rejects.map(({ reason, rows, firstRow }) => ({ job_file_id: fileId, reason, rows, first_row: firstRow })),
    )
    .execute();
}

async function addToJob(tx: Tx, jobId: number, rows: number): Promise<void> {
  await tx
    .updateTable('import_log')
    .set({ total_rows: sql`total_rows + ${rows}` })
    .where('job_id', '=', jobId)
    .execute();
  await tx
    .updateTable('job')
    .set({ updated_at: sql`now()` })
    .where('id', '=', jobId)
    .execute();
}
