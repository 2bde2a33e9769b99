import { columnOfReason, isRejectReason, rejectReasons } from '@inlet/row-rule/row-rule';
import { sql } from 'kysely';
import { failureCatalog, isFailureCode } from '../../../domain/failure-catalog.ts';
import type { Failure } from '../../../domain/failure.ts';
import type { JobId, LoadId, PartnerId } from '../../../domain/ids.ts';
import type { AudiencePath } from '../../../domain/source-file.ts';
import type { SuppressionList } from '../../../domain/suppression.ts';
import {
  type ImportLogError,
  importLogErrorLimit,
  importMode,
  keyType,
  logType,
  pathType,
} from '../../../domain/import-log.ts';
import {
  cancelledCode,
  cancelledFile,
  jobKind,
  jobStatus,
  statusesBefore,
  versionsOfJob,
} from '../../../domain/job.ts';
import type { AudienceJob, FileToLoad, JobError, JobSummary } from '../../../ports/lane-store.ts';
import type { Load } from '../../../ports/load-stage.ts';
import type { JobSource } from '../../../ports/object-store.ts';
import type { Database, Tx } from '../db/tables.ts';
import { appendJobEvents } from './job-events.ts';
import { settleObjects } from './settle-objects.ts';
import { selectAccounts } from './publishing.ts';

/**
 * Starts an import and writes its list of files. Only the first call has an effect, so a second holder of the lane
 * changes nothing.
 */
export async function startImport(
  db: Database,
  jobId: JobId,
  batches: readonly (readonly FileToLoad[])[],
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const started = await markStarted(tx, jobId);
    if (!started) return;
    const bytesTotal = batches.flat().reduce((sum, { size }) => sum + size, 0);
    await tx.updateTable('import_log').set({ bytes_total: bytesTotal }).where('job_id', '=', jobId).execute();
    await insertFiles(tx, { jobId, partnerId: started.partnerId, audience: null }, batches);
  });
}

/**
 * Starts an audience load and writes its list of files. Supersedes earlier entries for the same paths. Returns the
 * number of files to load.
 */
export async function startAudienceLoad(
  db: Database,
  job: AudienceJob,
  batches: readonly (readonly FileToLoad[])[],
): Promise<number> {
  return db.transaction().execute(async (tx) => {
    const started = await markStarted(tx, job.id);
    if (!started) return 0;
    await supersedeFiles(tx, job, batches.flat());
    // Submitting the job superseded earlier loads of its own path. This call supersedes earlier loads of single files
    // that were missing at that time and exist now.
    await supersedeLoads(
      tx,
      job,
      batches.flat().map(({ key }) => key.slice(job.prefix.length)),
    );
    const audience = { id: job.audienceId, generation: job.generation };
    return insertFiles(tx, { jobId: job.id, partnerId: job.partnerId, audience }, batches);
  });
}

export async function selectFailedFiles(db: Database, jobId: JobId): Promise<readonly FileToLoad[] | null> {
  const listed = await findListedJob(db, jobId);
  if (listed === null) return null;
  return failedFilesOf(db, listed)
    .select(['key', 'path', 'etag', 'size', 'gzip', 'last_modified as lastModified'])
    .orderBy('id')
    .execute();
}

/** The job whose failed files a job loads, if the job is such a retry. */
export const onlyFailedOf = sql<JobId | null>`
  CASE WHEN log.only_failed THEN log.retry_of WHEN load.only_failed THEN load.retry_of END`;

/**
 * Returns the job that has the files of a job. A retry of failed files that ended before it listed them has the files of
 * the job that it repeats. Null if the files were never listed.
 */
export async function findListedJob(db: Database | Tx, jobId: JobId): Promise<JobId | null> {
  const job = await db
    .selectFrom('job')
    .leftJoin('import_log as log', 'log.job_id', 'job.id')
    .leftJoin('audience_load as load', 'load.job_id', 'job.id')
    .where('job.id', '=', jobId)
    .select(['job.listed_at', onlyFailedOf.as('only_failed_of')])
    .executeTakeFirst();
  // A job that is past its retention has no files left.
  if (!job || job.listed_at) return jobId;
  return job.only_failed_of === null ? null : findListedJob(db, job.only_failed_of);
}

/** The files of the job that a retry of the failed files loads. */
export function failedFilesOf(db: Database | Tx, jobId: JobId) {
  return db
    .selectFrom('job_file')
    .where('job_id', '=', jobId)
    .where('status', '=', jobStatus.failed)
    .where('superseded', '=', false)
    .where('dismissed_at', 'is', null);
}

export async function startDelete(db: Database, jobId: JobId, found: { rows: number; devices: number }): Promise<void> {
  await db.transaction().execute(async (tx) => {
    if (!(await markStarted(tx, jobId))) return;
    await tx
      .updateTable('import_log')
      .set({ total_rows: found.rows, unique_devices: found.devices })
      .where('job_id', '=', jobId)
      .execute();
  });
}

/**
 * Changes the job's status from pending to running. Returns undefined if the job has already started or is canceled.
 */
async function markStarted(tx: Tx, jobId: JobId): Promise<{ partnerId: PartnerId } | undefined> {
  return tx
    .updateTable('job')
    .set({ status: jobStatus.running, listed_at: sql`now()`, updated_at: sql`now()` })
    .where('id', '=', jobId)
    .where('status', '=', jobStatus.pending)
    .where('cancelled', '=', false)
    .where('listed_at', 'is', null)
    .returning('partner_id as partnerId')
    .executeTakeFirst();
}

type Owner = {
  readonly jobId: JobId;
  readonly partnerId: PartnerId;
  /** For an audience, files that are already loaded into this generation are skipped. */
  readonly audience: { readonly id: number; readonly generation: number } | null;
};

/** Inserts the files in order and returns how many were inserted. A batch has the ID of its first file. */
async function insertFiles(tx: Tx, owner: Owner, batches: readonly (readonly FileToLoad[])[]): Promise<number> {
  const files = batches.flatMap((batch, number) => batch.map((file) => ({ ...file, number })));
  const { rows } = await sql`
    INSERT INTO job_file (id, batch_id, job_id, partner_id, audience_id, generation, key, path, etag, size, gzip, last_modified)
    SELECT f.id, min(f.id) OVER (PARTITION BY f.batch), ${owner.jobId}, ${owner.partnerId},
           ${owner.audience?.id ?? null}, ${owner.audience?.generation ?? null}, f.key, f.path, f.etag, f.size, f.gzip, f.last_modified
    FROM (
      SELECT nextval(pg_get_serial_sequence('job_file', 'id')) AS id, listed.*
      FROM (
        SELECT * FROM unnest(
          ${files.map(({ number }) => number)}::int[],
          ${files.map(({ key }) => key)}::text[], ${files.map(({ path }) => path)}::text[],
          ${files.map(({ etag }) => etag)}::text[], ${files.map(({ size }) => size)}::bigint[],
          ${files.map(({ gzip }) => gzip)}::boolean[],
          ${files.map(({ lastModified }) => lastModified?.toISOString() ?? null)}::timestamptz[]
        ) WITH ORDINALITY AS f (batch, key, path, etag, size, gzip, last_modified, place)
        WHERE NOT EXISTS (
          SELECT FROM job_file loaded
          WHERE loaded.audience_id = ${owner.audience?.id ?? null} AND loaded.generation = ${owner.audience?.generation ?? null}
            AND loaded.key = f.key AND loaded.etag = f.etag AND loaded.size = f.size AND loaded.status = 2
        )
        ORDER BY place
      ) AS listed
    ) AS f
    RETURNING id
  `.execute(tx);
  return rows.length;
}

// An audience lists one entry per loaded version of a file, and one per path that failed. A partner's jobs run in ID
// order.

/**
 * Supersedes earlier failed attempts to load these files. Loaded versions stay in the list. Those that a worker of the
 * previous release superseded are listed again.
 */
async function supersedeFiles(tx: Tx, job: AudienceJob, files: readonly FileToLoad[]): Promise<void> {
  await tx
    .updateTable('job_file')
    .set({ superseded: false })
    .where('audience_id', '=', job.audienceId)
    .where('generation', '=', job.generation)
    .where('status', '=', jobStatus.done)
    .where('superseded', '=', true)
    .execute();
  await tx
    .updateTable('job_file')
    .set({ superseded: true })
    .where('audience_id', '=', job.audienceId)
    .where('generation', '=', job.generation)
    .where('key', '=', sql<string>`ANY(${files.map(({ key }) => key)}::text[])`)
    .where('status', '<>', jobStatus.done)
    .where('superseded', '=', false)
    .execute();
}

type EarlierThan = { readonly id: number; readonly audienceId: number; readonly generation: number };

/** When a job is submitted, supersedes earlier loads of the same path. */
export async function supersedeSamePath(tx: Tx, job: EarlierThan, { relative, literal }: AudiencePath): Promise<void> {
  await supersedeEarlier(tx, job)
    .where('file_path', '=', relative)
    .where('literal_path', 'is not distinct from', literal)
    .execute();
}

/** Supersedes earlier loads whose path is one of these files. */
async function supersedeLoads(tx: Tx, job: EarlierThan, paths: readonly string[]): Promise<void> {
  const isListed = sql<string>`ANY(${paths}::text[])`;
  await supersedeEarlier(tx, job)
    .where((eb) => eb.or([eb('file_path', '=', isListed), eb('literal_path', '=', isListed)]))
    .execute();
}

function supersedeEarlier(tx: Tx, { id, audienceId, generation }: EarlierThan) {
  return tx
    .updateTable('audience_load')
    .set({ superseded: true })
    .where('audience_id', '=', audienceId)
    .where('generation', '=', generation)
    .where('job_id', '<', id);
}

/** Supersedes a failed file at the job's path, so that the audience lists the failed job instead. */
async function supersedeByFailed(tx: Tx, jobId: JobId): Promise<void> {
  await sql`
    UPDATE job_file f SET superseded = true FROM audience_load own JOIN partner p ON p.id = own.partner_id
    WHERE own.job_id = ${jobId} AND f.audience_id = own.audience_id AND f.generation = own.generation
      AND f.key IN (p.prefix || own.file_path, p.prefix || own.literal_path) AND f.status <> ${jobStatus.done} AND NOT f.superseded
  `.execute(tx);
}

export type JobEnd = {
  readonly failure: Failure | null;
  readonly errors: readonly ImportLogError[];
  /**
   * Whether the caller expects the job to have started. If another holder of the lane has started the job in the
   * meantime, nothing is written.
   */
  readonly hasStarted: boolean;
  /** Null if the number is already recorded. */
  readonly uniqueDevices: number | null;
};

export async function endJob(db: Database, jobId: JobId, end: JobEnd): Promise<void> {
  await db.transaction().execute((tx) => endJobIn(tx, jobId, end));
}

/**
 * Sets the final status and deletes the credentials. Only the first call has an effect, so a second holder of the lane
 * changes nothing.
 */
export async function endJobIn(tx: Tx, jobId: JobId, end: JobEnd): Promise<void> {
  const status = end.failure ? jobStatus.failed : jobStatus.done;
  const ended = await tx
    .updateTable('job')
    .set({
      status,
      failure_code: end.failure?.code ?? null,
      failure_detail: end.failure?.detail ?? null,
      // now() would return the start time of the transaction, which may have waited for the previous job to end.
      finished_at: sql`clock_timestamp()`,
      updated_at: sql`now()`,
    })
    .where('id', '=', jobId)
    .where('status', 'in', statusesBefore(status))
    .where('listed_at', end.hasStarted ? 'is not' : 'is', null)
    .returning(['id', 'partner_id', 'kind'])
    .executeTakeFirst();
  if (!ended) return;
  if (!end.hasStarted) await supersedeByFailed(tx, jobId);
  // New devices in the warehouse make the stored matched counts stale.
  if (end.uniqueDevices !== null && end.uniqueDevices > 0)
    await sql`SELECT nextval('known_devices_version')`.execute(tx);
  await tx.deleteFrom('job_credential').where('job_id', '=', jobId).execute();
  await tx
    .updateTable('import_log')
    .set({
      ...(end.uniqueDevices === null ? {} : { unique_devices: end.uniqueDevices }),
      errors: end.errors.length === 0 ? null : JSON.stringify(end.errors),
    })
    .where('job_id', '=', jobId)
    .execute();
  await settleObjects(tx, jobId);
  await appendJobEvents(tx, { id: jobId, partnerId: ended.partner_id, kind: toJobKind(ended.kind) });
}

export async function summarizeJob(db: Database, jobId: JobId): Promise<JobSummary> {
  const files = await db
    .selectFrom('job_file')
    .select(['load_id', 'status', 'failure_code', 'accepted_rows'])
    .where('job_id', '=', jobId)
    .where('status', 'in', [jobStatus.done, jobStatus.failed])
    .execute();
  const loaded = files.filter(({ status }) => status === jobStatus.done);
  const cancelled = files.filter(({ failure_code }) => failure_code === cancelledCode);
  return {
    loadIds: loadIdsOf(loaded),
    accounts: await selectAccounts(db, jobId),
    suppression: await selectSuppressionList(db),
    acceptedRows: loaded.reduce((sum, { accepted_rows }) => sum + accepted_rows, 0),
    cancelledLoadIds: loadIdsOf(cancelled),
    cancelledFiles: cancelled.length,
    failedFiles: files.length - loaded.length,
    loadedFiles: loaded.length,
    errors: await selectErrors(db, jobId),
  };
}

function loadIdsOf(files: readonly { readonly load_id: LoadId | null }[]): number[] {
  return [...new Set(files.flatMap(({ load_id }) => load_id ?? []))];
}

/**
 * Selects failed files first, then rejected rows by file and reason. Returns at most as many errors as a record can
 * contain.
 */
async function selectErrors(db: Database, jobId: JobId): Promise<JobError[]> {
  const { rows } = await sql<ErrorRow & { id: number; load_id: LoadId | null }>`
    SELECT id, load_id, code, detail, file, "row", count FROM (
      SELECT 0 AS rank, f.id, f.load_id, f.failure_code AS code, f.failure_detail AS detail,
             f.path AS file, NULL::bigint AS "row", 1::bigint AS count
      FROM job_file f
      WHERE f.job_id = ${jobId} AND f.status = ${jobStatus.failed}
      UNION ALL
      SELECT 1, f.id, f.load_id, r.reason, NULL, f.path, r.first_row, r.rows
      FROM job_file f JOIN job_file_reject r ON r.job_file_id = f.id
      WHERE f.job_id = ${jobId}
    ) AS all_errors
    ORDER BY rank, id, count DESC, code LIMIT ${importLogErrorLimit}
  `.execute(db);
  return rows.map((row) => ({ ...toError(row), fileId: row.id, loadId: row.load_id }));
}

/** The first file and row with a code, and the number of rows or files. Without a row, the error concerns files. */
export type ErrorRow = { code: string; detail: string | null; file: string; row: number | null; count: number };

export function toError({ code, detail, file, row, count }: ErrorRow): ImportLogError {
  if (isRejectReason(code))
    return { code, message: rejectReasons[code], file, row, column: columnOfReason(code), count };
  if (isFailureCode(code)) {
    return { code, message: detail ?? failureCatalog[code].title, file, row, column: null, count };
  }
  // A newer release wrote this code before a rollback. The job must still be able to end.
  return { code: 'internal', message: detail ?? code, file, row, column: null, count };
}

/**
 * Fails every open file of the job that is not staged. A worker that is loading such a file loses its claim and cannot
 * commit. The caller has locked the job's row. Files are locked in the same order as in a claim. Returns the IDs of the
 * files.
 */
export async function cancelFiles(tx: Tx, jobId: JobId): Promise<number[]> {
  const { code, detail } = cancelledFile();
  const { rows } = await sql<{ id: number }>`
    WITH open AS (
      SELECT id FROM job_file
      WHERE job_id = ${jobId} AND status IN (${jobStatus.pending}, ${jobStatus.running}) AND NOT staged
      ORDER BY id FOR UPDATE
    )
    UPDATE job_file f
    SET status = ${jobStatus.failed}, failure_code = ${code}, failure_detail = ${detail}, updated_at = now()
    FROM open WHERE f.id = open.id
    RETURNING f.id
  `.execute(tx);
  return rows.map(({ id }) => id);
}

/** Returns a function that checks that a value from the database is a known code. */
function codeReader<T extends number | string>(
  name: string,
  codes: Readonly<Record<string, T>>,
): (value: number | string) => T {
  const known = Object.values(codes);
  return (value) => {
    const code = known.find((candidate) => candidate === value);
    if (code === undefined) throw new Error(`${value} is not a ${name}`);
    return code;
  };
}

export const toJobStatus = codeReader('job status', jobStatus);
export const toJobKind = codeReader('job kind', jobKind);
export const toPathType = codeReader('path type', pathType);
export const toKeyType = codeReader('key type', keyType);
export const toLogType = codeReader('log type', logType);
export const toImportMode = codeReader('import mode', importMode);

/** The columns of the current suppression list. */
const listColumns = `
  (SELECT version FROM suppression) AS list_version, (SELECT hashes FROM suppression) AS list_hashes`;

type ListRow = { list_version: number; list_hashes: number };

async function selectSuppressionList(db: Database): Promise<SuppressionList> {
  const { rows } = await sql<ListRow>`SELECT ${sql.raw(listColumns)}`.execute(db);
  const [row] = rows;
  if (!row) throw new Error('a SELECT without FROM returns one row');
  return toSuppressionList(row);
}

function toSuppressionList(row: ListRow): SuppressionList {
  return { version: row.list_version, hashes: row.list_hashes };
}

/**
 * The columns of a load's job. `j` is the job, `l` is its import log, and `a` is its audience load. Either `l` or `a`
 * is null.
 */
export const loadColumns = sql.raw(`
  j.id AS job_id, j.partner_id, j.seq, l.path_type, l.mode, coalesce(l.file_path, a.file_path) AS file_path,
  a.audience_id, a.generation, ${listColumns}`);

export type LoadRow = ListRow & {
  job_id: JobId;
  partner_id: PartnerId;
  seq: number;
  load_id: LoadId;
  path_type: number | null;
  mode: string | null;
  file_path: string;
  audience_id: number | null;
  generation: number | null;
};

type AudienceRow = { audience_id: number; generation: number };

export function isOfAudience<Row extends Pick<LoadRow, 'audience_id' | 'generation'>>(
  row: Row,
): row is Row & AudienceRow {
  return row.audience_id !== null && row.generation !== null;
}

export function toLoad(row: LoadRow, bytes: number): Load {
  return {
    loadId: row.load_id,
    jobId: row.job_id,
    partnerId: row.partner_id,
    bytes,
    suppression: toSuppressionList(row),
    target: isOfAudience(row)
      ? { kind: 'audience', audienceId: row.audience_id, generation: row.generation }
      : { kind: 'attributes', versions: versionsOfJob(row.seq), isReplacing: row.mode === importMode.replace },
  };
}

/** Returns the location of a job's files. Audience files are always in the shared bucket. */
export function toSource(row: Omit<LoadRow, 'load_id' | 'seq' | 'mode' | keyof ListRow>): JobSource {
  return {
    jobId: row.job_id,
    partnerId: row.partner_id,
    pathType: row.path_type === null ? pathType.sharedBucket : toPathType(row.path_type),
    filePath: row.file_path,
  };
}
