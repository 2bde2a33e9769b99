import { sql } from 'kysely';
import { formatEntryId } from '../../../domain/audience.ts';
import { type EventContent, eventOfJob } from '../../../domain/event.ts';
import type { JobId, PartnerId } from '../../../domain/ids.ts';
import { type JobKind, jobKind, jobStatus } from '../../../domain/job.ts';
import { hasEntryOf } from '../audience-status.ts';
import type { Tx } from '../db/tables.ts';
import { appendEvents } from '../event-log.ts';

// The events of the lane. Each function must be called after all other statements of the transaction that wait for
// locks, and before tokens are sent. See `appendEvents`.

type OfAudience = {
  readonly partner_id: PartnerId;
  readonly customer_id: number | null;
  readonly audience_id: number;
  readonly warehouse_segment_id: number;
};

/**
 * Appends an event for each of these files that belongs to an audience. Files of imports are ignored. All files belong
 * to one job.
 */
export async function appendFileEvents(tx: Tx, fileIds: readonly number[]): Promise<void> {
  if (fileIds.length === 0) return;
  const { rows } = await sql<
    OfAudience & { id: number; key: string; status: number; total_rows: number; failure_code: string | null }
  >`
    SELECT f.id, f.key, f.status, f.total_rows, f.failure_code,
      a.partner_id, a.customer_id, a.id AS audience_id, a.warehouse_segment_id
    FROM job_file f JOIN audience a ON a.id = f.audience_id
    WHERE f.id = ANY(${fileIds}::bigint[]) AND f.status IN (${jobStatus.done}, ${jobStatus.failed})
    ORDER BY f.id`.execute(tx);
  const [first] = rows;
  if (!first) return;
  await appendEvents(
    tx,
    { partnerId: first.partner_id, customerId: first.customer_id },
    rows.map((file): EventContent => ({
      type: 'audience.file.finished',
      data: {
        audienceId: file.audience_id,
        warehouseSegmentId: file.warehouse_segment_id,
        fileId: formatEntryId({ fileId: file.id }),
        s3Path: file.key,
        status: file.status === jobStatus.done ? jobStatus.done : jobStatus.failed,
        totalRows: file.total_rows,
        code: file.failure_code,
      },
    })),
  );
}

type EndedJob = { readonly id: JobId; readonly partnerId: PartnerId; readonly kind: JobKind };

/** Appends the events of a job that has just ended. */
export async function appendJobEvents(tx: Tx, { id, partnerId, kind }: EndedJob): Promise<void> {
  if (kind === jobKind.audience) return appendAudienceEvents(tx, id);
  const { rows } = await sql<{
    status: number;
    code: string | null;
    total_rows: number;
    files: number;
    failed_files: number;
  }>`
    SELECT j.status, j.failure_code AS code, l.total_rows, count(f.id) AS files,
      count(f.id) FILTER (WHERE f.status = ${jobStatus.failed}) AS failed_files
    FROM job j JOIN import_log l ON l.job_id = j.id LEFT JOIN job_file f ON f.job_id = j.id
    WHERE j.id = ${id} GROUP BY j.id, l.job_id`.execute(tx);
  const [job] = rows;
  if (!job) throw new Error(`job ${id} has no import log`);
  const event = eventOfJob(kind, {
    importLogId: id,
    isFailed: job.status === jobStatus.failed,
    totalRows: job.total_rows,
    code: job.code,
    files: job.files,
    failedFiles: job.failed_files,
  });
  await appendEvents(tx, { partnerId, customerId: null }, [event]);
}

/** Whether no load of the audience is open. The enclosing query must provide `audience`. */
const isReady = sql<boolean>`
  NOT EXISTS (
    SELECT FROM job open JOIN audience_load other ON other.job_id = open.id
    WHERE open.partner_id = audience.partner_id AND open.status IN (${jobStatus.pending}, ${jobStatus.running})
      AND other.audience_id = audience.id AND other.generation = audience.generation
  )`;

type Readiness = { readonly warehouseSegmentId: number; readonly isReady: boolean; readonly hasFailed: boolean };

/** The caller has locked the lane and the audience. */
export async function selectReadiness(tx: Tx, audienceId: number): Promise<Readiness> {
  const { rows } = await sql<Readiness>`
    SELECT audience.warehouse_segment_id AS "warehouseSegmentId", ${isReady} AS "isReady",
      ${hasEntryOf(jobStatus.failed)} AS "hasFailed"
    FROM audience WHERE audience.id = ${audienceId}`.execute(tx);
  const [row] = rows;
  if (!row) throw new Error(`audience ${audienceId} is locked and does not exist`);
  return row;
}

/**
 * Reports that an audience whose loads have ended has no failed entries left, because they were dismissed. While a load is
 * open, its end reports the status.
 */
export async function appendReadyEvent(
  tx: Tx,
  of: { readonly partnerId: PartnerId; readonly customerId: number | null },
  audienceId: number,
): Promise<void> {
  const after = await selectReadiness(tx, audienceId);
  if (!after.isReady || after.hasFailed) return;
  const { warehouseSegmentId } = after;
  await appendEvents(tx, of, [
    { type: 'audience.ready', data: { audienceId, warehouseSegmentId, status: jobStatus.done } },
  ]);
}

/**
 * A load that ended before its files were listed is one entry in the file list. The audience is ready when none of its
 * loads is open, with the status that the audience then has. A cleared audience is not reported again.
 */
async function appendAudienceEvents(tx: Tx, jobId: JobId): Promise<void> {
  const { rows } = await sql<
    OfAudience & {
      s3_path: string;
      is_listed: boolean;
      code: string | null;
      is_ready: boolean;
      has_failed: boolean;
    }
  >`
    SELECT audience.partner_id, audience.customer_id, audience.id AS audience_id, audience.warehouse_segment_id,
      p.prefix || l.file_path AS s3_path, j.listed_at IS NOT NULL AS is_listed, j.failure_code AS code,
      ${isReady} AS is_ready,
      ${hasEntryOf(jobStatus.failed)} AS has_failed
    FROM job j JOIN audience_load l ON l.job_id = j.id
      JOIN audience ON audience.id = l.audience_id AND audience.generation = l.generation
      JOIN partner p ON p.id = audience.partner_id
    WHERE j.id = ${jobId}`.execute(tx);
  const [ended] = rows;
  if (!ended) return;
  const of = { audienceId: ended.audience_id, warehouseSegmentId: ended.warehouse_segment_id };
  const events: EventContent[] = [];
  if (!ended.is_listed) {
    events.push({
      type: 'audience.file.finished',
      data: {
        ...of,
        fileId: formatEntryId({ jobId }),
        s3Path: ended.s3_path,
        status: jobStatus.failed,
        totalRows: 0,
        code: ended.code,
      },
    });
  }
  if (ended.is_ready)
    events.push({
      type: 'audience.ready',
      data: { ...of, status: ended.has_failed ? jobStatus.failed : jobStatus.done },
    });
  await appendEvents(tx, { partnerId: ended.partner_id, customerId: ended.customer_id }, events);
}
