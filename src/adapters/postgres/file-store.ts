import type { BatchId, JobId, LoadId } from '../../domain/ids.ts';
import { badRowShares, rejectedRows } from '@inlet/row-rule/file-rule';
import { sql } from 'kysely';
import type { PgBoss } from 'pg-boss';
import { importMode } from '../../domain/import-log.ts';
import { jobStatus, openStatuses } from '../../domain/job.ts';
import type { ShardRows } from '../../domain/row-account.ts';
import type { BatchClaim, FileOutcome, FileStore } from '../../ports/load-stage.ts';
import { dispatchBatches, tryStartWork } from './lane/lane-store.ts';
import type { Database, Tx } from './db/tables.ts';
import { oldestRepair } from './db/repairs.ts';
import { type LoadRow, isOfAudience, loadColumns, toLoad, toSource } from './lane/jobs.ts';
import { appendFileEvents } from './lane/job-events.ts';
import { selectRunningJob } from './lane/publishing.ts';
import { sendLaneToken } from './queue/tokens.ts';

/** `maxBatches` limits how many batches of one partner are loaded concurrently. */
export function postgresFileStore(db: Database, boss: PgBoss, maxBatches: number): FileStore {
  return {
    claim: (batchId) => claimBatch(db, batchId),
    recordProgress: (claim, read) => recordProgress(db, claim, read),
    commit: (claim, outcomes, staged) => commitBatch(db, boss, claim, { outcomes, staged }, maxBatches),
    findLive: (staged) => selectLive(db, staged),
  };
}

type ClaimRow = LoadRow & {
  id: number;
  attempt: number;
  previous_load_id: LoadId | null;
  key: string;
  etag: string;
  size: number;
  gzip: boolean | null;
  bad_row_share: number;
  unhyphenated_ids: boolean;
};

/**
 * Claims every file in the batch that is not staged. The new load ID prevents earlier attempts from committing. The
 * job's row is not locked, because the commit checks again whether the job is running.
 */
async function claimBatch(db: Database, batchId: BatchId): Promise<BatchClaim | null> {
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
              p.audience_bad_row_share AS bad_row_share, p.unhyphenated_ids, ${loadColumns}
  `.execute(db);
  const [first] = rows;
  if (!first) return null;
  return {
    batchId,
    attempt: first.attempt,
    source: toSource(first),
    load: {
      ...toLoad(
        first,
        rows.reduce((sum, { size }) => sum + size, 0),
      ),
      isRetry: first.attempt > 1,
    },
    files: rows
      .toSorted((a, b) => a.id - b.id)
      .map(({ id, key, etag, size, gzip }) => ({ fileId: id, object: { key, etag, size }, expectGzip: gzip })),
    badRowShare: isOfAudience(first) ? first.bad_row_share : badRowShares.marketplace,
    unhyphenatedIds: first.unhyphenated_ids,
    previousLoadId: first.previous_load_id,
  };
}

type FinalOutcome = Exclude<FileOutcome, { is: 'alone' }>;

/**
 * Writes the outcomes of all files if this attempt still holds the claim and the job is running. Otherwise, writes
 * nothing. Locks the job's row first. The lane decides under the same lock, so it cannot miss the token sent here.
 */
async function commitBatch(
  db: Database,
  boss: PgBoss,
  claim: BatchClaim,
  { outcomes, staged }: { readonly outcomes: readonly FileOutcome[]; readonly staged: ShardRows | null },
  maxBatches: number,
): Promise<boolean> {
  const { jobId, partnerId } = claim.load;
  return db.transaction().execute(async (tx) => {
    const job = await selectRunningJob(tx, jobId).forUpdate().executeTakeFirst();
    if (!job || !(await isStillOurs(tx, claim))) return false;
    const final = outcomes.filter((outcome) => outcome.is !== 'alone');
    await updateFiles(tx, final);
    await insertRejects(tx, final);
    if (staged) await insertAccount(tx, claim, staged);
    await sendAlone(
      tx,
      outcomes.flatMap(({ is, fileId }) => (is === 'alone' ? [fileId] : [])),
    );
    await addToJob(tx, jobId, {
      rows: final.reduce((sum, outcome) => sum + totalRows(outcome), 0),
      suppressed: final.reduce((sum, outcome) => sum + shownSuppressed(outcome), 0),
    });
    await appendFileEvents(
      tx,
      final.flatMap(({ is, fileId }) => (is === 'failed' ? [fileId] : [])),
    );
    // Dispatches the next batches here, so that they do not wait while the lane is publishing.
    await dispatchBatches(boss, tx, jobId, maxBatches);
    await sendLaneToken(boss, tx, partnerId);
    return true;
  });
}

function totalRows({ counts }: FinalOutcome): number {
  return counts.accepted + rejectedRows(counts);
}

/** The number of suppressed rows of a failed file is not recorded, because nothing of the file is loaded. */
function shownSuppressed({ is, counts }: FinalOutcome): number {
  return is === 'staged' ? (counts.suppressed?.shown ?? 0) : 0;
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

/** Writes the outcomes to the files. A failed file ends here. A staged file ends when the lane has published it. */
async function updateFiles(tx: Tx, outcomes: readonly FinalOutcome[]): Promise<void> {
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
        suppressed_rows = CASE WHEN o.code IS NULL THEN o.suppressed_rows ELSE 0 END,
        shown_suppressed = o.shown_suppressed,
        failure_code = o.code,
        failure_detail = o.detail,
        updated_at = now()
    FROM unnest(
      ${outcomes.map(({ fileId }) => fileId)}::bigint[],
      ${outcomes.map(totalRows)}::bigint[],
      ${outcomes.map(({ counts }) => counts.accepted)}::bigint[],
      ${outcomes.map(({ counts }) => counts.suppressed?.rows ?? 0)}::bigint[],
      ${outcomes.map(shownSuppressed)}::bigint[],
      ${failures.map((failure) => failure?.code ?? null)}::text[],
      ${failures.map((failure) => failure?.detail ?? null)}::text[]
    ) AS o (id, total, accepted, suppressed_rows, shown_suppressed, code, detail)
    WHERE f.id = o.id
  `.execute(tx);
}

async function insertRejects(tx: Tx, outcomes: readonly FinalOutcome[]): Promise<void> {
  const rejects = outcomes.flatMap(({ fileId, counts }) =>
    counts.rejects.map(({ reason, rows, firstRow }) => ({ job_file_id: fileId, reason, rows, first_row: firstRow })),
  );
  if (rejects.length > 0) await tx.insertInto('job_file_reject').values(rejects).execute();
}

async function insertAccount(tx: Tx, { load }: BatchClaim, staged: ShardRows): Promise<void> {
  const { loadId, jobId, partnerId, suppression } = load;
  const staged_rows = JSON.stringify(staged);
  await tx
    .insertInto('load_account')
    .values({
      load_id: loadId,
      job_id: jobId,
      partner_id: partnerId,
      staged_rows,
      suppression_version: suppression.version,
    })
    .execute();
}

/** Moves each file to a separate batch, which can be claimed again. */
async function sendAlone(tx: Tx, fileIds: readonly number[]): Promise<void> {
  if (fileIds.length === 0) return;
  await tx
    .updateTable('job_file')
    .set({ batch_id: sql`id`, status: jobStatus.pending, attempt: 0, load_id: null })
    .where('id', 'in', fileIds)
    .execute();
}

async function addToJob(
  tx: Tx,
  jobId: JobId,
  { rows, suppressed }: { readonly rows: number; readonly suppressed: number },
): Promise<void> {
  await tx
    .updateTable('import_log')
    .set({ total_rows: sql`total_rows + ${rows}`, suppressed: sql`suppressed + ${suppressed}` })
    .where('job_id', '=', jobId)
    .execute();
  await tx
    .updateTable('job')
    .set({ updated_at: sql`now()` })
    .where('id', '=', jobId)
    .execute();
}

/** Records the progress of a load. Returns false if the claim was lost or the job was canceled. */
async function recordProgress(
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

type Staged = { readonly loadIds: readonly LoadId[]; readonly jobIds: readonly JobId[] };
type Live = { readonly loadIds: Set<LoadId>; readonly jobIds: Set<JobId> };

/**
 * Selects the live loads and jobs. A load is live while its files are loading. In a replacing job, it is live until the
 * job ends. During a backup cut, every load counts as live, because a load that a clear has just ended may be live in
 * the backup.
 */
async function selectLive(db: Database, staged: Staged): Promise<Live> {
  return db.transaction().execute(async (tx) => {
    if (!(await tryStartWork(tx))) return { loadIds: new Set(staged.loadIds), jobIds: new Set(staged.jobIds) };
    return { loadIds: await liveLoads(tx, staged.loadIds), jobIds: await liveJobs(tx, staged.jobIds) };
  });
}

async function liveLoads(tx: Tx, loadIds: readonly LoadId[]): Promise<Set<number>> {
  const loads = await tx
    .selectFrom('job_file as file')
    .innerJoin('job', 'job.id', 'file.job_id')
    .leftJoin('import_log as log', 'log.job_id', 'job.id')
    .select('file.load_id')
    .where('file.load_id', '=', sql<number>`ANY(${loadIds}::bigint[])`)
    .where('job.status', 'in', openStatuses)
    .where((eb) =>
      eb.or([
        eb('file.status', '=', jobStatus.running),
        eb.and([eb('file.status', '=', jobStatus.done), eb('log.mode', '=', importMode.replace)]),
      ]),
    )
    .execute();
  const repaired = await selectRepairs(tx)
    .where('load_id', '=', sql<number>`ANY(${loadIds}::bigint[])`)
    .execute();
  return new Set([...loads, ...repaired].flatMap(({ load_id }) => load_id ?? []));
}

/** The stages of an interrupted repair are dropped after its lifetime. */
function selectRepairs(tx: Tx) {
  return tx.selectFrom('repair_load').select(['load_id', 'job_id']).where('started_at', '>', oldestRepair);
}

async function liveJobs(tx: Tx, jobIds: readonly JobId[]): Promise<Set<number>> {
  const jobs = await tx
    .selectFrom('job')
    .select('id')
    .where('id', '=', sql<number>`ANY(${jobIds}::bigint[])`)
    .where('status', 'in', openStatuses)
    .execute();
  const repaired = await selectRepairs(tx)
    .where('job_id', '=', sql<number>`ANY(${jobIds}::bigint[])`)
    .execute();
  return new Set([...jobs.map(({ id }) => id), ...repaired.map(({ job_id }) => job_id)]);
}
