import { type RawBuilder, sql } from 'kysely';
import { formatEntryId } from '../../domain/audience.ts';
import type { FailureCode } from '../../domain/failure-catalog.ts';
import type { JobId, PartnerId } from '../../domain/ids.ts';
import { jobStatus, openStatuses } from '../../domain/job.ts';
import type { ClaimedExport, FileToExport, RejectExportQueue } from '../../ports/reject-export.ts';
import { advisoryLocks } from './db/advisory-locks.ts';
import type { Database, Tx } from './db/tables.ts';
import { appendEvent } from './event-log.ts';
import { toKeyType, toSource } from './lane/jobs.ts';

const isOpen = sql`status IN (${sql.join(openStatuses)})`;

export function postgresRejectQueue(db: Database): RejectExportQueue {
  return {
    claim: (leaseSeconds) => db.transaction().execute((tx) => claimExport(tx, leaseSeconds)),
    listFiles: async (claim) => {
      const { rows } = await sql<{ id: number; path: string }>`
        SELECT source.id, source.path FROM reject_file file JOIN job_file source ON source.id = file.job_file_id
        WHERE file.export_id = ${claim.exportId}`.execute(db);
      return rows.map(({ id, path }) => ({ fileId: id, path }));
    },
    start: (claim) => db.transaction().execute((tx) => startExport(tx, claim)),
    isOtherDue: async ({ partnerId }) => {
      const { rows } = await sql`
        SELECT FROM reject_export export WHERE ${isDue} AND export.partner_id <> ${partnerId} LIMIT 1`.execute(db);
      return rows.length > 0;
    },
    endTurn: (claim) => db.transaction().execute((tx) => endTurn(tx, claim)),
    renew: async (claim, leaseSeconds, read) => {
      if (read) {
        await sql`
          UPDATE reject_file file SET bytes_read = greatest(file.bytes_read, ${read.bytes})
          FROM reject_export export
          WHERE export.id = file.export_id AND ${isHeld(claim)} AND file.job_file_id = ${read.fileId}
            AND file.status = ${jobStatus.pending}`.execute(db);
      }
      return wasChanged(
        await sql`
          UPDATE reject_export export SET claimed_until = now() + make_interval(secs => ${leaseSeconds})
          WHERE ${isHeld(claim)} AND (${isOpen} OR ${claim.isExpired})`.execute(db),
      );
    },
    commitFile: async (claim, file, outcome) => {
      const isDone = outcome.is === 'done';
      return wasChanged(
        await sql`
          UPDATE reject_file file
          SET status = ${isDone ? jobStatus.done : jobStatus.failed}, bytes_read = ${file.object.size},
            rows = ${isDone ? outcome.rows : 0}, object_key = ${isDone ? outcome.key : null},
            object_bytes = ${isDone ? outcome.bytes : 0}, failure_code = ${isDone ? null : outcome.failure.code},
            failure_detail = ${isDone ? null : outcome.failure.detail}
          FROM reject_export export
          WHERE export.id = file.export_id AND ${isHeld(claim)} AND ${isOpenOf('export')}
            AND file.job_file_id = ${file.fileId}`.execute(db),
      );
    },
    finish: (claim, failure, days) => db.transaction().execute((tx) => finishExport(tx, claim, failure, days)),
    postpone: async (claim, seconds, { counts }) => {
      await sql`
        UPDATE reject_export export SET claimed_until = now() + make_interval(secs => ${seconds}),
          earlier_attempts = CASE WHEN ${counts} THEN earlier_attempts ELSE least(attempt, earlier_attempts + 1) END
        WHERE ${isHeld(claim)}`.execute(db);
    },
    remove: async (claim) => {
      await sql`DELETE FROM reject_export export WHERE ${isHeld(claim)} AND expires_at < now()`.execute(db);
    },
  };
}

/** Every attempt has its own number, so that a worker that has lost its claim cannot change anything. */
function isHeld({ exportId, attempt }: ClaimedExport): RawBuilder<boolean> {
  return sql<boolean>`(export.id = ${exportId} AND export.attempt = ${attempt})`;
}

function wasChanged({ numAffectedRows }: { readonly numAffectedRows?: bigint }): boolean {
  return (numAffectedRows ?? 0n) > 0n;
}

/** The lock makes claims wait for each other, so that no two workers run exports of the same partner. */
async function claimExport(tx: Tx, leaseSeconds: number): Promise<ClaimedExport | null> {
  await sql`SELECT pg_advisory_xact_lock(${sql.lit(advisoryLocks.rejectExport)})`.execute(tx);
  const { rows } = await sql<{
    id: number;
    attempt: number;
    tries: number;
    open_seconds: number;
    partner_id: PartnerId;
    folder: string;
    is_expired: boolean;
    is_new: boolean;
    job_id: JobId;
    path_type: number | null;
    file_path: string;
    key_type: number | null;
    audience_id: number | null;
    generation: number | null;
    unhyphenated_ids: boolean;
  }>`
    WITH due AS (
      SELECT id FROM reject_export export WHERE ${isDue} ORDER BY greatest(requested_at, claimed_until), id LIMIT 1
    ), claimed AS (
      UPDATE reject_export export
      SET attempt = attempt + 1, claimed_until = now() + make_interval(secs => ${leaseSeconds}),
        status = CASE WHEN ${isOpen} THEN ${jobStatus.running} ELSE status END
      FROM due WHERE export.id = due.id
      RETURNING export.*
    )
    SELECT claimed.id, claimed.attempt, claimed.attempt - claimed.earlier_attempts AS tries,
      extract(epoch FROM now() - claimed.requested_at)::float8 AS open_seconds, claimed.partner_id, claimed.folder, claimed.job_id,
      claimed.status <> ${jobStatus.running} AS is_expired, claimed.started_at IS NULL AS is_new,
      l.path_type, l.key_type, coalesce(l.file_path, a.file_path) AS file_path, a.audience_id, a.generation,
      p.unhyphenated_ids
    FROM claimed JOIN partner p ON p.id = claimed.partner_id LEFT JOIN import_log l ON l.job_id = claimed.job_id LEFT JOIN audience_load a ON a.job_id = claimed.job_id
  `.execute(tx);
  const [row] = rows;
  if (!row) return null;
  return {
    exportId: row.id,
    attempt: row.attempt,
    tries: row.tries,
    openSeconds: row.open_seconds,
    partnerId: row.partner_id,
    folder: row.folder,
    isExpired: row.is_expired,
    isNew: row.is_new,
    source: toSource(row),
    keyType: row.key_type === null ? null : toKeyType(row.key_type),
    unhyphenatedIds: row.unhyphenated_ids,
  };
}

/** Not claimed, and no other export of its partner is running. */
const isDue = sql`(
  (${isOpenOf('export')} OR export.expires_at < now()) AND coalesce(export.claimed_until < now(), true)
  AND NOT EXISTS (
    SELECT FROM reject_export other
    WHERE other.partner_id = export.partner_id AND other.claimed_until >= now() AND ${isOpenOf('other')}))`;

/**
 * The end of a turn does not count as a failed attempt. The partner's other exports go first, because they did not run
 * in this turn.
 */
async function endTurn(tx: Tx, claim: ClaimedExport): Promise<void> {
  await lockOpenExports(tx, claim);
  await sql`
    UPDATE reject_export export SET claimed_until = clock_timestamp(), earlier_attempts = attempt
    WHERE ${isHeld(claim)}`.execute(tx);
  await moveBehindOthers(tx, claim);
}

/** Transactions that change several exports of a partner lock them by ID, so that they do not deadlock. */
async function lockOpenExports(tx: Tx, { partnerId }: ClaimedExport): Promise<void> {
  await sql`
    SELECT FROM reject_export WHERE partner_id = ${partnerId} AND ${isOpen} ORDER BY id FOR UPDATE`.execute(tx);
}

/** The time at which a claim has ended is also the place in the queue. */
async function moveBehindOthers(tx: Tx, { exportId, partnerId }: ClaimedExport): Promise<void> {
  await sql`
    UPDATE reject_export SET claimed_until = now()
    WHERE partner_id = ${partnerId} AND ${isOpen} AND id <> ${exportId} AND coalesce(claimed_until < now(), true)`.execute(
    tx,
  );
}

function isOpenOf(table: string): RawBuilder<unknown> {
  return sql`${sql.ref(`${table}.status`)} IN (${sql.join(openStatuses)})`;
}

/** The first attempt lists the files with rejected rows. */
async function startExport(tx: Tx, claim: ClaimedExport): Promise<FileToExport[]> {
  const { exportId } = claim;
  if (claim.isNew) {
    await sql`DELETE FROM reject_file WHERE export_id = ${exportId}`.execute(tx);
    await sql`
      INSERT INTO reject_file (export_id, job_file_id, partner_id)
      SELECT export.id, file.id, export.partner_id
      FROM reject_export export JOIN job_file file ON file.job_id = export.job_id
      WHERE ${isHeld(claim)} AND file.id = coalesce(export.job_file_id, file.id)
        AND EXISTS (SELECT FROM job_file_reject reject WHERE reject.job_file_id = file.id)`.execute(tx);
    await sql`UPDATE reject_export export SET started_at = now() WHERE ${isHeld(claim)}`.execute(tx);
  }
  const { rows } = await sql<{ id: number; path: string; key: string; etag: string; size: number }>`
    SELECT source.id, source.path, source.key, source.etag, source.size
    FROM reject_file file JOIN job_file source ON source.id = file.job_file_id
    WHERE file.export_id = ${exportId} AND file.status = ${jobStatus.pending} ORDER BY source.id`.execute(tx);
  return rows.map(({ id, path, ...object }) => ({ fileId: id, path, object }));
}

async function finishExport(
  tx: Tx,
  claim: ClaimedExport,
  failure: { readonly code: FailureCode; readonly detail: string } | null,
  days: number,
): Promise<void> {
  await lockOpenExports(tx, claim);
  const failedFiles = sql<number>`
    (SELECT count(*) FROM reject_file WHERE export_id = ${claim.exportId} AND status = ${jobStatus.failed})`;
  const allFiles = sql<number>`(SELECT count(*) FROM reject_file WHERE export_id = ${claim.exportId})`;
  const ended = await sql`
    UPDATE reject_export export
    SET status = CASE WHEN ${failure !== null} OR ${failedFiles} > 0 THEN ${jobStatus.failed}::int ELSE ${jobStatus.done} END,
      failure_code = CASE WHEN ${failure !== null} THEN ${failure?.code ?? null} WHEN ${failedFiles} > 0 THEN 'file_failed' END,
      failure_detail = CASE WHEN ${failure !== null} THEN ${failure?.detail ?? null}
        WHEN ${failedFiles} > 0 THEN ${failedFiles} || ' of ' || ${allFiles} || ' files failed.' END,
      finished_at = now(), claimed_until = NULL, expires_at = now() + make_interval(days => ${days})
    WHERE ${isHeld(claim)} AND ${isOpen}`.execute(tx);
  if (!wasChanged(ended)) return;
  await moveBehindOthers(tx, claim);
  await tx.deleteFrom('job_credential').where('job_id', '=', claim.source.jobId).execute();
  await appendExportEvent(tx, claim);
}

/** Takes the lock of the event log, so it comes last. */
async function appendExportEvent(tx: Tx, { exportId, partnerId }: ClaimedExport): Promise<void> {
  const { rows } = await sql<{
    status: number;
    code: string | null;
    job_id: JobId;
    file_id: number | null;
    audience_id: number | null;
    customer_id: number | null;
    warehouse_segment_id: number | null;
    rows: number;
    files: number;
    failed_files: number;
  }>`
    SELECT export.status, export.failure_code AS code, export.job_id, export.job_file_id AS file_id,
      audience.id AS audience_id, audience.customer_id, audience.warehouse_segment_id, files.*
    FROM reject_export export LEFT JOIN audience_load load ON load.job_id = export.job_id
      LEFT JOIN audience ON audience.id = load.audience_id, LATERAL (
        SELECT count(*) AS files, count(*) FILTER (WHERE file.status = ${jobStatus.failed}) AS failed_files,
          coalesce(sum(file.rows), 0)::bigint AS rows
        FROM reject_file file WHERE file.export_id = export.id) AS files
    WHERE export.id = ${exportId}`.execute(tx);
  const [ended] = rows;
  if (!ended) return;
  const end = ended.status === jobStatus.failed ? 'failed' : 'finished';
  const about = { rows: ended.rows, code: ended.code };
  if (ended.file_id !== null && ended.audience_id !== null && ended.warehouse_segment_id !== null) {
    const of = { audienceId: ended.audience_id, warehouseSegmentId: ended.warehouse_segment_id };
    const data = { ...about, ...of, fileId: formatEntryId({ fileId: ended.file_id }) };
    await appendEvent(tx, { partnerId, customerId: ended.customer_id, type: `audience.rejects.${end}`, data });
    return;
  }
  const data = { ...about, importLogId: ended.job_id, files: ended.files, failedFiles: ended.failed_files };
  await appendEvent(tx, { partnerId, customerId: null, type: `import.rejects.${end}`, data });
}
