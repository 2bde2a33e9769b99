import { type RawBuilder, sql } from 'kysely';
import { Failure } from '../../../domain/failure.ts';
import type { JobId, LoadId } from '../../../domain/ids.ts';
import { importMode } from '../../../domain/import-log.ts';
import { cancelledCode, jobStatus } from '../../../domain/job.ts';
import type { LoadAccount } from '../../../domain/row-account.ts';
import type { AudienceJob, CountsAfter, StagedLoad } from '../../../ports/lane-store.ts';
import type { Database, Tx } from '../db/tables.ts';
import { appendFileEvents } from './job-events.ts';

// The statements that the lane runs while it publishes staged loads.

export async function commitImportLoads(db: Database, jobId: JobId, loads: readonly StagedLoad[]): Promise<boolean> {
  return db.transaction().execute(async (tx) => (await markLoaded(tx, jobId, loads)).length > 0);
}

/**
 * Marks the files as loaded and stores the new counts in one transaction. Writes nothing if the audience was cleared in
 * the meantime. Locks the audience before the job, as a clear does.
 */
export async function commitAudienceLoads(
  db: Database,
  job: AudienceJob,
  loads: readonly StagedLoad[],
  counts: CountsAfter,
): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    const audience = await tx
      .selectFrom('audience')
      .select('id')
      .where('id', '=', job.audienceId)
      .where('generation', '=', job.generation)
      .forUpdate()
      .executeTakeFirst();
    if (!audience) return false;
    const loaded = await markLoaded(tx, job.id, loads);
    if (loaded.length === 0) return false;
    const uploaded = loaded.reduce((sum, { uploaded_devices }) => sum + uploaded_devices, 0);
    await tx
      .updateTable('audience')
      .set({
        uploaded_devices: sql`uploaded_devices + ${uploaded}`,
        unique_devices: counts.unique,
        matched_devices: counts.matched,
        matched_version: counts.knownVersion,
        matched_at: sql`now()`,
        // Uses a new number, not the ID of a load, because loads can be published in any order.
        last_load_id: sql`nextval('load_id')`,
        updated_at: sql`now()`,
      })
      .where('id', '=', job.audienceId)
      .execute();
    await appendFileEvents(
      tx,
      loaded.map(({ id }) => id),
    );
    return true;
  });
}

/**
 * Marks all files of the loads as loaded, or none. If two workers hold the lane, only the worker with the latest claim
 * can commit. That worker may still be publishing when the other one tries to commit.
 */
async function markLoaded(
  tx: Tx,
  jobId: JobId,
  loads: readonly StagedLoad[],
): Promise<readonly { id: number; uploaded_devices: number }[]> {
  const job = await tx
    .updateTable('job')
    .set({ updated_at: sql`now()` })
    .where('id', '=', jobId)
    .where('status', '=', jobStatus.running)
    .where('cancelled', '=', false)
    .returning('id')
    .executeTakeFirst();
  if (!job || !(await areOurs(tx, jobId, loads))) return [];
  return tx
    .updateTable('job_file')
    .set({ status: jobStatus.done, updated_at: sql`now()` })
    .where('job_id', '=', jobId)
    .where('load_id', '=', anyOf(loads))
    .where('status', '=', jobStatus.running)
    .where('staged', '=', true)
    .returning(['id', 'uploaded_devices'])
    .execute();
}

async function areOurs(tx: Tx, jobId: JobId, loads: readonly StagedLoad[]): Promise<boolean> {
  const now = await tx
    .selectFrom('job_file')
    .select(['load_id', 'publish_attempts'])
    .distinct()
    .where('job_id', '=', jobId)
    .where('load_id', '=', anyOf(loads))
    .where('status', '=', jobStatus.running)
    .where('staged', '=', true)
    .execute();
  const taken = new Map(now.map(({ load_id, publish_attempts }) => [load_id, publish_attempts]));
  return loads.every(({ load, publishAttempt }) => taken.get(load.loadId) === publishAttempt);
}

function anyOf(loads: readonly StagedLoad[]): RawBuilder<number> {
  return sql<number>`ANY(${loads.map(({ load }) => load.loadId)}::bigint[])`;
}

/**
 * Records the device counts of staged files. A load whose staging table is missing has no counts here, because they
 * were recorded before the table was dropped.
 */
export async function recordUploadedDevices(
  db: Database,
  loadId: LoadId,
  devices: ReadonlyMap<number, number>,
): Promise<void> {
  await sql`
    UPDATE job_file f SET uploaded_devices = greatest(f.uploaded_devices, o.devices)
    FROM unnest(${[...devices.keys()]}::bigint[], ${[...devices.values()]}::bigint[]) AS o (id, devices)
    WHERE f.id = o.id AND f.load_id = ${loadId}
  `.execute(db);
}

export async function recordOnlyFile(
  db: Database,
  jobId: JobId,
  { load, publishAttempt }: StagedLoad,
  { id, devices }: { readonly id: number; readonly devices: number },
): Promise<boolean> {
  const recorded = await db
    .updateTable('job_file')
    .set({ uploaded_devices: devices })
    .where('id', '=', id)
    .where('job_id', '=', jobId)
    .where('load_id', '=', load.loadId)
    .where('publish_attempts', '=', publishAttempt)
    .returning('id')
    .executeTakeFirst();
  return recorded !== undefined;
}

export async function recordPublished(db: Database, loadIds: readonly LoadId[]): Promise<void> {
  await db
    .updateTable('load_account')
    .set({ published_at: sql`now()` })
    .where('load_id', '=', sql<number>`ANY(${loadIds}::bigint[])`)
    .where('published_at', 'is', null)
    .execute();
}

export async function findPublished(db: Database, loadIds: readonly LoadId[]): Promise<Set<LoadId>> {
  const published = await db
    .selectFrom('load_account')
    .select('load_id')
    .where('load_id', '=', sql<number>`ANY(${loadIds}::bigint[])`)
    .where('published_at', 'is not', null)
    .execute();
  return new Set(published.map(({ load_id }) => load_id));
}

export function toAccount(
  staged: readonly number[],
  publishedAt: Date | null,
  suppressionVersion: number,
): LoadAccount {
  return { staged, isPublished: publishedAt !== null, suppressionVersion };
}

export async function selectAccounts(db: Database, jobId: JobId): Promise<Map<LoadId, LoadAccount>> {
  const rows = await db
    .selectFrom('load_account')
    .select(['load_id', 'staged_rows', 'published_at', 'suppression_version'])
    .where('job_id', '=', jobId)
    .execute();
  return new Map(
    rows.map((row) => [row.load_id, toAccount(row.staged_rows, row.published_at, row.suppression_version)]),
  );
}

/**
 * Resets the files of incomplete loads to pending, or fails them. The files keep their load ID, so that the next
 * attempt drops the rows that are still staged.
 */
export async function reloadFiles(
  db: Database,
  jobId: JobId,
  loads: readonly StagedLoad[],
  maxReloads: number,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const job = await selectRunningJob(tx, jobId).forUpdate().executeTakeFirst();
    if (!job || !(await areOurs(tx, jobId, loads))) return;
    const { rows: files } = await sql<StagedFile>`
      WITH incomplete AS (
        SELECT id, total_rows, shown_suppressed,
          reloads >= ${maxReloads} OR EXISTS (
            SELECT FROM job_file other WHERE other.job_id = ${jobId} AND other.failure_code = ${cancelledCode}
          ) AS is_final
        FROM job_file
        WHERE job_id = ${jobId} AND load_id = ${anyOf(loads)} AND staged AND status = ${jobStatus.running}
      )
      UPDATE job_file f
      SET staged = false, reloads = f.reloads + 1, total_rows = 0, accepted_rows = 0, uploaded_devices = 0,
          suppressed_rows = 0, shown_suppressed = 0,
          status = CASE WHEN is_final THEN ${sql.lit(jobStatus.failed)} ELSE ${sql.lit(jobStatus.pending)} END,
          failure_code = CASE WHEN is_final THEN ${rowsMissing.code}::text END,
          failure_detail = CASE WHEN is_final THEN ${rowsMissing.detail}::text END,
          updated_at = now()
      FROM incomplete WHERE f.id = incomplete.id
      RETURNING f.id, incomplete.total_rows, incomplete.shown_suppressed
    `.execute(tx);
    await forgetStaged(tx, jobId, files);
    await tx.deleteFrom('load_account').where('load_id', '=', anyOf(loads)).execute();
    await appendFileEvents(
      tx,
      files.map(({ id }) => id),
    );
  });
}

/**
 * Resets the files of staged loads to pending. The files of a replacing job have status 2 when they are staged, because
 * the job publishes them when it finishes.
 */
export async function restageFiles(db: Database, jobId: JobId, loadIds: readonly LoadId[]): Promise<void> {
  await db.transaction().execute(async (tx) => {
    if (!(await selectRunningJob(tx, jobId).forUpdate().executeTakeFirst())) return;
    const isOfLoads = sql`load_id = ANY(${loadIds}::bigint[])`;
    const { rows: files } = await sql<StagedFile>`
      WITH outdated AS (
        SELECT file.id, file.total_rows, file.shown_suppressed FROM job_file file LEFT JOIN import_log log ON log.job_id = file.job_id
        WHERE file.job_id = ${jobId} AND file.${isOfLoads} AND file.staged
          AND (file.status = ${jobStatus.running} OR file.status = ${jobStatus.done} AND log.mode = ${importMode.replace})
          AND NOT EXISTS (
            SELECT FROM load_account account WHERE account.load_id = file.load_id AND account.published_at IS NOT NULL)
      )
      UPDATE job_file f
      SET staged = false, total_rows = 0, accepted_rows = 0, uploaded_devices = 0, suppressed_rows = 0,
          shown_suppressed = 0, status = ${sql.lit(jobStatus.pending)}, updated_at = now()
      FROM outdated WHERE f.id = outdated.id
      RETURNING f.id, outdated.total_rows, outdated.shown_suppressed
    `.execute(tx);
    await forgetStaged(tx, jobId, files);
    await sql`DELETE FROM load_account WHERE ${isOfLoads} AND published_at IS NULL`.execute(tx);
  });
}

type StagedFile = { readonly id: number; readonly total_rows: number; readonly shown_suppressed: number };

/** Their rows are subtracted from the record's total, because the next commit adds them again. */
async function forgetStaged(tx: Tx, jobId: JobId, files: readonly StagedFile[]): Promise<void> {
  const subtracted = files.reduce((sum, { total_rows }) => sum + total_rows, 0);
  const suppressed = files.reduce((sum, { shown_suppressed }) => sum + shown_suppressed, 0);
  await tx
    .updateTable('import_log')
    .set({ total_rows: sql`total_rows - ${subtracted}`, suppressed: sql`suppressed - ${suppressed}` })
    .where('job_id', '=', jobId)
    .execute();
  const fileIds = files.map(({ id }) => id);
  await sql`DELETE FROM job_file_reject WHERE job_file_id = ANY(${fileIds}::bigint[])`.execute(tx);
}

const rowsMissing = new Failure('rows_missing', 'Staged rows were missing each time the file was loaded.');

/** Selects the job if it is running and not canceled. */
export function selectRunningJob(db: Database | Tx, jobId: JobId) {
  return db
    .selectFrom('job')
    .select('id')
    .where('id', '=', jobId)
    .where('status', '=', jobStatus.running)
    .where('cancelled', '=', false);
}
