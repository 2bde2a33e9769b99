import { sql } from 'kysely';
import type { PgBoss } from 'pg-boss';
import { jobStatus } from '../../../domain/job.ts';
import type { BatchClaim, FileOutcome } from '../../../ports/file-store.ts';
import { rejectedRows } from '../../../ports/load-stage.ts';
import type { Database, Tx } from '../connect.ts';
import { sendLaneToken } from '../dispatch.ts';
import { runningJob } from '../lanes/running-job.ts';
import { sendBatchesOut } from '../lanes/send-batches-out.ts';

type Judged = Exclude<FileOutcome, { is: 'alone' }>;

/**
 * Writes what became of each file of a batch, if it is still this attempt's and the job goes on: all or nothing. The
 * job's row is locked first: the lane looks under the same lock, so the wake-up that is sent here cannot be missed.
 */
export async function commitBatch(
  db: Database,
  boss: PgBoss,
  claim: BatchClaim,
  outcomes: readonly FileOutcome[],
  filesOut: number,
): Promise<boolean> {
  const { jobId, partnerId } = claim.load;
  return db.transaction().execute(async (tx) => {
    const job = await runningJob(tx, jobId).forUpdate().executeTakeFirst();
    if (!job || !(await isStillOurs(tx, claim))) return false;
    const judged = outcomes.filter((outcome) => outcome.is !== 'alone');
    await updateFiles(tx, judged);
    await insertRejects(tx, judged);
    await sendAlone(
      tx,
      outcomes.flatMap(({ is, fileId }) => (is === 'alone' ? [fileId] : [])),
    );
    await addToJob(
      tx,
      jobId,
      judged.reduce((sum, outcome) => sum + totalRows(outcome), 0),
    );
    // The lane may be busy with what is staged; the next files need not wait for it.
    await sendBatchesOut(boss, tx, jobId, filesOut);
    await sendLaneToken(boss, tx, partnerId);
    return true;
  });
}

function totalRows({ counts }: Judged): number {
  return counts.accepted + rejectedRows(counts);
}

async function isStillOurs(tx: Tx, { load, files }: BatchClaim): Promise<boolean> {
  const ours = await tx
    .selectFrom('job_file')
    .select('id')
    .where('load_id', '=', load.loadId)
    .where('status', '=', jobStatus.running)
    .where('staged', '=', false)
    .forUpdate()
    .execute();
  return ours.length === files.length;
}

/** A failed file ends here; a staged one is loaded when the lane has published it. */
async function updateFiles(tx: Tx, outcomes: readonly Judged[]): Promise<void> {
  if (outcomes.length === 0) return;
  const failures = outcomes.map((outcome) => (outcome.is === 'failed' ? outcome.failure : null));
  await sql`
    UPDATE job_file f
    SET status = CASE WHEN o.code IS NULL THEN f.status ELSE ${jobStatus.failed} END,
        staged = o.code IS NULL,
        total_rows = o.total,
        rows_read = greatest(f.rows_read, o.total),
        bytes_read = f.size,
        accepted_rows = CASE WHEN o.code IS NULL THEN o.accepted ELSE 0 END,
        failure_code = o.code,
        failure_detail = o.detail,
        updated_at = now()
    FROM unnest(
      ${outcomes.map(({ fileId }) => fileId)}::bigint[],
      ${outcomes.map(totalRows)}::bigint[],
      ${outcomes.map(({ counts }) => counts.accepted)}::bigint[],
      ${failures.map((failure) => failure?.code ?? null)}::text[],
      ${failures.map((failure) => failure?.detail ?? null)}::text[]
    ) AS o (id, total, accepted, code, detail)
    WHERE f.id = o.id
  `.execute(tx);
}

async function insertRejects(tx: Tx, outcomes: readonly Judged[]): Promise<void> {
  const rejects = outcomes.flatMap(({ fileId, counts }) =>
    counts.rejects.map(({ reason, rows, firstRow }) => ({ job_file_id: fileId, reason, rows, first_row: firstRow })),
  );
  if (rejects.length > 0) await tx.insertInto('job_file_reject').values(rejects).execute();
}

/** These are claimed again, each by itself. */
async function sendAlone(tx: Tx, fileIds: readonly number[]): Promise<void> {
  if (fileIds.length === 0) return;
  await tx
    .updateTable('job_file')
    .set({ batch_id: sql`id`, status: jobStatus.pending, attempt: 0, load_id: null })
    .where('id', 'in', fileIds)
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
