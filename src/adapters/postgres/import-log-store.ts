import type { JobId, PartnerId } from '../../domain/ids.ts';
import { sql } from 'kysely';
import type { PgBoss } from 'pg-boss';
import { z } from 'zod';
import { Failure } from '../../domain/failure.ts';
import { type ImportLog, logType, pathType } from '../../domain/import-log.ts';
import { defaultQuotas } from '../../domain/quota.ts';
import { jobKind, jobStatus } from '../../domain/job.ts';
import type { ImportLogFilter } from '../../domain/list-filters.ts';
import type { Sealer } from '../../ports/crypto.ts';
import type { ImportLogStore, NewDelete, NewImport, SubmittedImport } from '../../ports/import-log-store.ts';
import { selectAttributes } from './attribute-store.ts';
import { selectImportLogMarks } from './change-feed.ts';
import { sealCredentials } from './credentials.ts';
import { readSnapshot } from './db/read-snapshot.ts';
import type { Database, Tx } from './db/tables.ts';
import { selectMatchingImports } from './import-filter.ts';
import { cancelJob } from './lane/cancel-job.ts';
import {
  failedFilesOf,
  findListedJob,
  toImportMode,
  toJobStatus,
  toKeyType,
  toLogType,
  toPathType,
} from './lane/jobs.ts';
import { postgresAcceptedRequests, runIdempotently } from './idempotency-store.ts';
import { historyFor, isOpen, jobsAhead, progressOf, runningSeconds } from './job-progress.ts';
import { submitJob } from './lane/lane-store.ts';
import { settleObjects } from './lane/settle-objects.ts';
import { selectLoadedFiles } from './loaded-files.ts';

export function postgresImportLogStore(
  db: Database,
  boss: PgBoss,
  sealer: Sealer,
  requests = postgresAcceptedRequests(db),
  quotas = defaultQuotas,
): ImportLogStore {
  const deps = { db, requests };
  return {
    submitImport: (partnerId, request, maxOpenJobs, idempotency = null) =>
      runIdempotently(deps, { partnerId, idempotency, result }, (tx) =>
        submitJob(boss, tx, partnerId, { kind: jobKind.import, maxOpenJobs, quotas }, (jobId) =>
          insertImport(tx, sealer, { jobId, partnerId }, request),
        ),
      ),
    submitDelete: (partnerId, request, maxOpenJobs, idempotency = null) =>
      runIdempotently(deps, { partnerId, idempotency, result, hasQuota: false }, async (tx) => {
        const attributeIds = request.attributeIdsIn(await selectAttributes(tx, partnerId, { retired: true }));
        return submitJob(boss, tx, partnerId, { kind: jobKind.delete, maxOpenJobs }, (jobId) =>
          insertDelete(tx, { jobId, partnerId }, request, attributeIds),
        );
      }),
    cancel: async (partnerId, importLogId, accept, idempotency = null) => {
      await runIdempotently(deps, { partnerId, idempotency, result: done, hasQuota: false }, async (tx) => {
        const which = { jobId: importLogId, partnerId, requester: 'partner' as const, kinds: kindsWithLog };
        accept(await cancelJob(tx, boss, which));
        return 'canceled' as const;
      });
    },
    findSubmitted: (partnerId, importLogId) => selectSubmitted(db, partnerId, importLogId),
    find: async (partnerId, importLogId) => (await selectImportLogs(db, partnerId, { importLogId }))[0] ?? null,
    marksOf: (importLogIds) => selectImportLogMarks(db, importLogIds),
    listNewest: (partnerId, limit, beforeId = Number.MAX_SAFE_INTEGER, filter = {}) =>
      Object.values(filter).every((value) => value === undefined)
        ? selectImportLogs(db, partnerId, { limit, beforeId })
        : listMatching(db, partnerId, filter, { limit, before: beforeId }),
    listFiles: (partnerId, importLogId, page) => selectLoadedFiles(db, { partnerId, jobId: importLogId }, page),
  };
}

/** The stored result of an idempotent request is the job's ID. */
const result = z.int();

const done = z.literal('canceled');

/** Audience loads have no import log. */
const kindsWithLog = [jobKind.import, jobKind.delete];

async function selectSubmitted(
  db: Database,
  partnerId: PartnerId,
  importLogId: number,
): Promise<SubmittedImport | null> {
  const listed = await findListedJob(db, importLogId);
  const row = await db
    .selectFrom('import_log as log')
    .innerJoin('job', 'job.id', 'log.job_id')
    .where('log.partner_id', '=', partnerId)
    .where('log.job_id', '=', importLogId)
    .where('log.log_type', '=', logType.import)
    .select(['job.status'])
    .select(['log.file_path', 'log.path_type', 'log.key_type', 'log.compressed', 'log.mode'])
    .select(
      failedFilesOf(db, listed ?? importLogId)
        .select(sql<number>`count(*)`.as('count'))
        .as('failed_files'),
    )
    .executeTakeFirst();
  if (!row) return null;
  return {
    status: toJobStatus(row.status),
    failedFiles: listed === null ? null : (row.failed_files ?? 0),
    filePath: row.file_path,
    pathType: toPathType(row.path_type),
    keyType: toKeyType(row.key_type),
    compressed: row.compressed,
    mode: toImportMode(row.mode),
  };
}

type Owner = { readonly jobId: JobId; readonly partnerId: PartnerId };

async function insertImport(tx: Tx, sealer: Sealer, owner: Owner, request: NewImport): Promise<number> {
  const subscriptionId = request.retryOf === undefined ? null : await takeOverObjects(tx, owner, request);
  await tx
    .insertInto('import_log')
    .values({
      job_id: owner.jobId,
      partner_id: owner.partnerId,
      log_type: logType.import,
      file_path: request.filePath,
      path_type: request.pathType,
      key_type: request.keyType,
      compressed: request.compressed,
      mode: request.mode,
      keys: null,
      errors: null,
      retry_of: request.retryOf ?? null,
      only_failed: subscriptionId === null && (request.onlyFailed ?? false),
      subscription_id: subscriptionId,
    })
    .execute();
  if (request.credentials) {
    const { keyId, bytes } = sealCredentials(sealer, owner, request.credentials);
    await tx
      .insertInto('job_credential')
      .values({ job_id: owner.jobId, key_id: keyId, sealed: Buffer.from(bytes) })
      .execute();
  }
  return owner.jobId;
}

/**
 * Assigns the object versions of an import that a subscription created to the import that repeats it. Returns the
 * subscription, or null for any other import.
 */
async function takeOverObjects(
  tx: Tx,
  { jobId, partnerId }: Owner,
  { retryOf, onlyFailed = false }: NewImport,
): Promise<number | null> {
  const repeated = await tx
    .selectFrom('import_log')
    .select(['job_id', 'subscription_id'])
    .where('job_id', '=', retryOf ?? null)
    .where('partner_id', '=', partnerId)
    .executeTakeFirst();
  if (!repeated || repeated.subscription_id === null) return null;
  await settleObjects(tx, repeated.job_id);
  // The state is locked, so the subscription cannot be deleted until this transaction ends.
  const subscription = await tx
    .selectFrom('subscription')
    .select('id')
    .where('id', '=', repeated.subscription_id)
    .where('partner_id', '=', partnerId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst();
  if (!subscription) {
    const reason = `cannot be repeated, because subscription ${repeated.subscription_id} was deleted. Queue a new import instead`;
    throw new Failure('import_not_retryable', `Import log ${repeated.job_id} ${reason}.`);
  }
  const states = onlyFailed ? ['failed'] : ['failed', 'imported'];
  const { numUpdatedRows } = await tx
    .updateTable('subscription_object')
    .set({ state: 'queued', job_id: jobId, error_code: null, updated_at: sql<Date>`now()` })
    .where('job_id', '=', repeated.job_id)
    .where('partner_id', '=', partnerId)
    .where('state', 'in', states)
    .executeTakeFirstOrThrow();
  if (numUpdatedRows === 0n) {
    const reason = 'has no files left: they were overwritten or deleted, or another retry has them';
    throw new Failure('import_not_retryable', `Import log ${repeated.job_id} ${reason}.`);
  }
  return repeated.subscription_id;
}

async function insertDelete(
  tx: Tx,
  { jobId, partnerId }: Owner,
  request: NewDelete,
  attributeIds: readonly number[],
): Promise<number> {
  await tx
    .insertInto('import_log')
    .values({
      job_id: jobId,
      partner_id: partnerId,
      log_type: logType.delete,
      file_path: '',
      path_type: pathType.sharedBucket,
      key_type: request.keyType,
      keys: JSON.stringify(request.keys),
      attribute_ids: JSON.stringify(attributeIds),
      errors: null,
    })
    .execute();
  return jobId;
}

/** The progress of a running job's files. For a job that has ended, the progress is computed from the record. */
const filesRead = sql<{ bytes: number; rows: number } | null>`
  CASE WHEN job.status = ${jobStatus.running} THEN (
    SELECT json_build_object('bytes', coalesce(sum(f.bytes_read), 0),
                             'rows', coalesce(sum(greatest(f.rows_read, f.total_rows)), 0))
    FROM job_file f WHERE f.job_id = job.id) END`;

/** Reads from one snapshot, so that the records match the filter. */
async function listMatching(
  db: Database,
  partnerId: PartnerId,
  filter: ImportLogFilter,
  page: { readonly before: JobId; readonly limit: number },
): Promise<ImportLog[]> {
  return readSnapshot(db, async (tx) =>
    selectImportLogs(tx, partnerId, { ids: await selectMatchingImports(tx, partnerId, filter, page) }),
  );
}

/** Selects the partner's import logs, newest first. */
async function selectImportLogs(
  db: Database | Tx,
  partnerId: PartnerId,
  filter: { importLogId: number } | { ids: readonly JobId[] } | { beforeId: number; limit: number },
): Promise<ImportLog[]> {
  let query = db
    .selectFrom('import_log as log')
    .innerJoin('job', 'job.id', 'log.job_id')
    .where('log.partner_id', '=', partnerId)
    .select(['job.id', 'job.status', 'job.created_at', 'job.updated_at', 'job.listed_at', 'job.finished_at'])
    .select(['job.cancel_requested_at', 'job.cancel_requested_by', 'job.canceled_by'])
    .select(['log.requested_by', 'log.retry_of', 'log.subscription_id'])
    .select(['log.file_path', 'log.path_type', 'log.key_type', 'log.log_type', 'log.mode', 'log.keys'])
    .select(['log.bytes_total', 'log.total_rows', 'log.suppressed', 'log.unique_devices', 'log.errors'])
    .select([filesRead.as('read'), jobsAhead.as('jobs_ahead'), runningSeconds.as('running_seconds')]);
  if ('importLogId' in filter) query = query.where('log.job_id', '=', filter.importLogId);
  else if ('ids' in filter)
    query = query.where('log.job_id', '=', sql<number>`ANY (${filter.ids})`).orderBy('log.job_id', 'desc');
  else query = query.where('log.job_id', '<', filter.beforeId).orderBy('log.job_id', 'desc').limit(filter.limit);
  const rows = await query.execute();
  const history = await historyFor(db, partnerId, rows);
  return rows.map((row) => ({
    importLogId: row.id,
    filePath: row.file_path,
    pathType: toPathType(row.path_type),
    keyType: toKeyType(row.key_type),
    status: toJobStatus(row.status),
    logType: toLogType(row.log_type),
    mode: row.log_type === logType.delete ? null : toImportMode(row.mode),
    keys: row.keys,
    uniqueDevices: BigInt(row.unique_devices),
    totalRows: BigInt(row.total_rows),
    suppressed: row.suppressed,
    errors: row.errors,
    progress: progressOf(
      {
        ...row,
        bytes_read: row.read?.bytes ?? (isOpen(row) ? 0 : row.bytes_total),
        rows_read: row.read?.rows ?? row.total_rows,
      },
      history,
    ),
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    startedAt: row.listed_at,
    finishedAt: row.finished_at,
    cancelRequest: row.cancel_requested_at && {
      at: row.cancel_requested_at,
      by: row.cancel_requested_by === 'partner' ? 'partner' : 'operator',
      name: row.canceled_by,
    },
    requestedBy: row.requested_by,
    retryOf: row.retry_of,
    subscriptionId: row.subscription_id,
  }));
}
