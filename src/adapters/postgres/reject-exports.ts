import { type RawBuilder, sql } from 'kysely';
import type { CustomerShare } from '../../domain/customer-share.ts';
import { type FailureCode, isFailureCode } from '../../domain/failure-catalog.ts';
import { Failure } from '../../domain/failure.ts';
import type { JobId, PartnerId } from '../../domain/ids.ts';
import { cancelledCode, jobStatus, openStatuses } from '../../domain/job.ts';
import type { Sealer } from '../../ports/crypto.ts';
import type { ExportSubject, ExportedFile, RejectExport, RejectExportStore } from '../../ports/reject-export.ts';
import { sealCredentials } from './credentials.ts';
import type { Database, Tx } from './db/tables.ts';
import { toJobStatus } from './lane/jobs.ts';
import { lockLane } from './lane/lane-store.ts';

const isOpen = sql`status IN (${sql.join(openStatuses)})`;

/** The columns that identify an export. An audience has an export per file, and an import has one for all files. */
function ofSubject(subject: ExportSubject): RawBuilder<boolean> {
  return 'fileId' in subject
    ? sql<boolean>`(export.job_file_id = ${subject.fileId})`
    : sql<boolean>`(export.job_id = ${subject.importLogId} AND export.job_file_id IS NULL)`;
}

export function postgresRejectExports(db: Database, sealer: Sealer): RejectExportStore {
  return {
    request: (partnerId, subject, request) =>
      db.transaction().execute((tx) => requestExport(tx, sealer, { partnerId, subject }, request)),
    find: (partnerId, subject) => selectExport(db, partnerId, subject),
    listFiles: (partnerId, subject, page) => selectFiles(db, partnerId, subject, page),
  };
}

async function requestExport(
  tx: Tx,
  sealer: Sealer,
  { partnerId, subject }: { readonly partnerId: PartnerId; readonly subject: ExportSubject },
  { folder, credentials, maxOpen, share }: Parameters<RejectExportStore['request']>[2],
): Promise<void> {
  // Concurrent requests of the partner wait, so that the limit is exact.
  await lockLane(tx, partnerId);
  const { rows } = await sql<{ id: number; job_id: JobId; is_valid: boolean; is_expired: boolean }>`
    SELECT id, job_id, coalesce(expires_at < now(), false) AS is_expired,
      ${isOpen} OR (status = ${jobStatus.done} AND expires_at >= now()) AS is_valid
    FROM reject_export export WHERE partner_id = ${partnerId} AND ${ofSubject(subject)} FOR UPDATE`.execute(tx);
  const [found] = rows;
  if (found?.is_valid) return;
  await requireFewOpen(tx, partnerId, maxOpen, share);
  const jobId = found ? await restart(tx, partnerId, found) : await insertExport(tx, partnerId, subject, folder);
  if (!credentials) return;
  const { keyId, bytes } = sealCredentials(sealer, { jobId, partnerId }, credentials);
  await sql`
    INSERT INTO job_credential (job_id, key_id, sealed) VALUES (${jobId}, ${keyId}, ${Buffer.from(bytes)})
    ON CONFLICT DO NOTHING`.execute(tx);
}

async function requireFewOpen(tx: Tx, partnerId: PartnerId, max: number, share: CustomerShare | null): Promise<void> {
  const isOwn = sql`EXISTS (
    SELECT FROM audience_load load JOIN audience ON audience.id = load.audience_id
    WHERE load.job_id = export.job_id AND audience.customer_id = ${share?.customerId ?? null}::bigint)`;
  const { rows } = await sql<{ open: number; own: number }>`
    SELECT count(*) AS open, count(*) FILTER (WHERE ${isOwn}) AS own
    FROM reject_export export WHERE partner_id = ${partnerId} AND ${isOpen}`.execute(tx);
  const { open, own } = rows[0] ?? { open: 0, own: 0 };
  const [whose, limit] = share && own >= share.most ? ['customer', share.most] : ['partner', max];
  if (open < max && (!share || own < share.most)) return;
  throw new Failure(
    'too_many_open_jobs',
    `The ${whose} has ${limit} open exports of rejected rows, which is the limit.`,
  );
}

/** An expired export starts from scratch. A failed export reads its failed files again and keeps the other objects. */
async function restart(
  tx: Tx,
  partnerId: PartnerId,
  { id, job_id, is_expired }: { readonly id: number; readonly job_id: JobId; readonly is_expired: boolean },
): Promise<JobId> {
  await sql`
    UPDATE reject_export SET status = ${jobStatus.pending}, earlier_attempts = attempt, requested_at = now(), finished_at = NULL,
      started_at = CASE WHEN ${is_expired} THEN NULL ELSE started_at END,
      expires_at = NULL, failure_code = NULL, failure_detail = NULL
    WHERE partner_id = ${partnerId} AND id = ${id}`.execute(tx);
  await sql`
    UPDATE reject_file SET status = ${jobStatus.pending}, bytes_read = 0, failure_code = NULL, failure_detail = NULL
    WHERE partner_id = ${partnerId} AND export_id = ${id} AND status = ${jobStatus.failed}`.execute(tx);
  return job_id;
}

/**
 * Ends the exports of the audience's rejected rows. A worker that is running one loses it within a second. The lease
 * stays, and when it has expired, workers remove the objects in the same way as those of an expired export. Locks the
 * exports by ID, as workers do.
 */
export async function endExportsOfAudience(tx: Tx, partnerId: PartnerId, audienceId: number): Promise<void> {
  const detail = 'The audience was deleted.';
  const ifOpen = (then: unknown, otherwise: string) =>
    sql`CASE WHEN ${isOpen} THEN ${then} ELSE ${sql.ref(otherwise)} END`;
  await sql`
    WITH locked AS MATERIALIZED (
      SELECT id FROM reject_export
      WHERE partner_id = ${partnerId} AND job_id IN (
        SELECT job_id FROM audience_load WHERE partner_id = ${partnerId} AND audience_id = ${audienceId})
      ORDER BY id FOR UPDATE
    )
    UPDATE reject_export SET expires_at = now(), finished_at = coalesce(finished_at, now()),
      status = ${ifOpen(sql`${jobStatus.failed}::smallint`, 'status')}, failure_code = ${ifOpen(cancelledCode, 'failure_code')},
      failure_detail = ${ifOpen(detail, 'failure_detail')}
    WHERE partner_id = ${partnerId} AND id IN (SELECT id FROM locked)`.execute(tx);
}

async function insertExport(tx: Tx, partnerId: PartnerId, subject: ExportSubject, folder: string): Promise<JobId> {
  const fileId = 'fileId' in subject ? subject.fileId : null;
  const ofJob =
    'fileId' in subject
      ? sql`(SELECT job_id FROM job_file WHERE id = ${subject.fileId} AND partner_id = ${partnerId})`
      : sql`(SELECT id FROM job WHERE id = ${subject.importLogId} AND partner_id = ${partnerId})`;
  const { rows } = await sql<{ job_id: JobId }>`
    INSERT INTO reject_export (partner_id, job_id, job_file_id, folder)
    VALUES (${partnerId}, ${ofJob}, ${fileId}, ${folder}) RETURNING job_id`.execute(tx);
  const [inserted] = rows;
  if (!inserted) throw new Error('an INSERT … VALUES returns one row');
  return inserted.job_id;
}

async function selectExport(db: Database, partnerId: PartnerId, subject: ExportSubject): Promise<RejectExport | null> {
  const { rows } = await sql<{
    status: number;
    failure_code: string | null;
    failure_detail: string | null;
    requested_at: Date;
    finished_at: Date | null;
    expires_at: Date | null;
    total: number;
    done: number;
    failed: number;
    bytes_read: number;
    bytes_total: number;
    rows: number;
  }>`
    SELECT export.status, export.failure_code, export.failure_detail, export.requested_at, export.finished_at,
      export.expires_at, files.*
    FROM reject_export export, LATERAL (
      SELECT count(*) AS total, count(*) FILTER (WHERE file.status = ${jobStatus.done}) AS done,
        count(*) FILTER (WHERE file.status = ${jobStatus.failed}) AS failed,
        coalesce(sum(file.bytes_read), 0)::bigint AS bytes_read, coalesce(sum(source.size), 0)::bigint AS bytes_total,
        coalesce(sum(file.rows), 0)::bigint AS rows
      FROM reject_file file JOIN job_file source ON source.id = file.job_file_id WHERE file.export_id = export.id
    ) AS files
    WHERE export.partner_id = ${partnerId} AND ${ofSubject(subject)}
      AND coalesce(export.expires_at >= now(), true)`.execute(db);
  const [row] = rows;
  if (!row) return null;
  return {
    status: toJobStatus(row.status),
    files: { total: row.total, done: row.done, failed: row.failed },
    bytesRead: row.bytes_read,
    bytesTotal: row.bytes_total,
    rows: row.rows,
    failure: toFailure(row),
    requestedAt: row.requested_at,
    finishedAt: row.finished_at,
    expiresAt: row.expires_at,
  };
}

async function selectFiles(
  db: Database,
  partnerId: PartnerId,
  subject: ExportSubject,
  { afterId, limit }: { readonly afterId: number; readonly limit: number },
): Promise<ExportedFile[]> {
  const { rows } = await sql<{
    id: number;
    path: string;
    status: number;
    rows: number;
    object_key: string | null;
    object_bytes: number;
    failure_code: string | null;
    failure_detail: string | null;
  }>`
    SELECT source.id, source.path, file.status, file.rows, file.object_key, file.object_bytes, file.failure_code,
      file.failure_detail
    FROM reject_export export JOIN reject_file file ON file.export_id = export.id
      JOIN job_file source ON source.id = file.job_file_id
    WHERE export.partner_id = ${partnerId} AND ${ofSubject(subject)} AND coalesce(export.expires_at >= now(), true)
      AND source.id > ${afterId}
    ORDER BY source.id LIMIT ${limit}`.execute(db);
  return rows.map((row) => ({
    fileId: row.id,
    path: row.path,
    status: toJobStatus(row.status),
    rows: row.rows,
    object: row.object_key === null ? null : { key: row.object_key, bytes: row.object_bytes },
    failure: toFailure(row),
  }));
}

function toFailure(row: {
  failure_code: string | null;
  failure_detail: string | null;
}): { readonly code: FailureCode; readonly detail: string } | null {
  const { failure_code: code, failure_detail: detail } = row;
  return code !== null && isFailureCode(code) ? { code, detail: detail ?? '' } : null;
}
