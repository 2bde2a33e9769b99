import { type RawBuilder, sql } from 'kysely';
import type { PartnerId } from '../../domain/ids.ts';
import { importMode } from '../../domain/import-log.ts';
import { jobKind, jobStatus, openStatuses } from '../../domain/job.ts';
import type {
  AuditPage,
  AuditRecords,
  AuditScope,
  RecordedAudience,
  RecordedDelete,
  RecordedImport,
} from '../../ports/row-audit.ts';
import type { Database } from './db/tables.ts';

export function postgresAuditRecords(db: Database): AuditRecords {
  return {
    listImports: (scope, page) => selectImports(db, scope, page),
    listDeletes: (scope, page) => selectDeletes(db, scope, page),
    listAudiences: (scope, page) =>
      selectAudiences(
        db,
        sql`${isOf(scope, sql`audience`)} AND audience.updated_at >= ${scope.since} AND audience.id > ${page.afterId}
          ORDER BY audience.id LIMIT ${page.limit}`,
      ),
    findUnrecorded: (partnerId, stored) => selectUnrecorded(db, partnerId, stored),
    findAudience: async (audienceId) => (await selectAudiences(db, sql`audience.id = ${audienceId}`))[0] ?? null,
  };
}

function isOf({ partnerId }: AuditScope, table: RawBuilder<unknown>): RawBuilder<boolean> {
  return partnerId === null ? sql<boolean>`true` : sql<boolean>`${table}.partner_id = ${partnerId}`;
}

/** Matches jobs after `afterId` that ended in the period. */
function isEnded(scope: AuditScope, { afterId }: AuditPage): RawBuilder<boolean> {
  return sql<boolean>`${isOf(scope, sql`job`)} AND job.id > ${afterId} AND job.finished_at >= ${scope.since}
    AND job.status NOT IN (${sql.join(openStatuses)})`;
}

/**
 * Maximum number of rows that were erased after this time. If an erasure ended afterward, this is the number of all of
 * the partner's erased rows.
 */
function erasedAfter(partnerId: RawBuilder<unknown>, time: RawBuilder<unknown>): RawBuilder<number> {
  return sql<number>`coalesce((SELECT erased.rows FROM erased_partner erased
    WHERE erased.partner_id = ${partnerId} AND erased.erased_at >= ${time}), 0)`;
}

/** Rows of these jobs are removed because they have not been seen for some time. */
const isUnseen = sql<boolean>`EXISTS (SELECT FROM device_retention retention
  WHERE retention.partner_id = job.partner_id AND retention.unseen_seq >= job.seq)`;

/** Omits imports that failed because rows were missing, because their records already say so. */
async function selectImports(db: Database, scope: AuditScope, page: AuditPage): Promise<RecordedImport[]> {
  const { rows } = await sql<RecordedImport>`
    SELECT job.id AS "jobId", job.partner_id AS "partnerId", job.seq, log.mode = ${importMode.replace} AS "isReplace",
      log.unique_devices AS "uniqueDevices",
      EXISTS (SELECT FROM job later WHERE later.partner_id = job.partner_id AND later.seq > job.seq
        AND later.kind IN (${jobKind.import}, ${jobKind.delete}) AND later.listed_at IS NOT NULL) AS "hasLater",
      CASE WHEN ${isUnseen} THEN log.unique_devices
        ELSE ${erasedAfter(sql`job.partner_id`, sql`job.finished_at`)} END AS "erasedRows"
    FROM job JOIN import_log log ON log.job_id = job.id
    WHERE ${isEnded(scope, page)} AND job.kind = ${jobKind.import} AND job.listed_at IS NOT NULL
      AND job.failure_code IS DISTINCT FROM 'rows_missing'
    ORDER BY job.id LIMIT ${page.limit}
  `.execute(db);
  return rows;
}

async function selectDeletes(db: Database, scope: AuditScope, page: AuditPage): Promise<RecordedDelete[]> {
  const { rows } = await sql<RecordedDelete>`
    SELECT job.id AS "jobId", job.partner_id AS "partnerId", job.seq,
      coalesce(log.attribute_ids, '[]'::jsonb) AS "attributeIds"
    FROM job JOIN import_log log ON log.job_id = job.id
    WHERE ${isEnded(scope, page)} AND job.kind = ${jobKind.delete} AND job.status = ${jobStatus.done}
    ORDER BY job.id LIMIT ${page.limit}
  `.execute(db);
  return rows;
}

type Stored = Parameters<AuditRecords['findUnrecorded']>[1];

/**
 * Selects stored jobs and audiences without a record. A job that has not started does not count as a record, because it
 * has no rows. Imports and deletes before the oldest recorded import or delete are ignored, because they are past their
 * retention. Audience jobs do not count as the oldest record, because jobs of live audiences are kept longer. An
 * earlier generation of an audience counts as recorded, because the purge removes its rows after a clear.
 */
async function selectUnrecorded(
  db: Database,
  partnerId: PartnerId,
  { seqs, audiences }: Stored,
): Promise<{ seqs: Set<number>; audienceIds: Set<number> }> {
  const { rows: jobs } = await sql<{ seq: number }>`
    SELECT stored.seq FROM unnest(${seqs}::bigint[]) AS stored (seq)
    WHERE NOT EXISTS (SELECT FROM job WHERE job.partner_id = ${partnerId} AND job.seq = stored.seq AND job.listed_at IS NOT NULL)
      AND (stored.seq > (SELECT min(seq) FROM job WHERE partner_id = ${partnerId} AND kind <> ${jobKind.audience})
        OR stored.seq >= coalesce((SELECT next_seq FROM partner WHERE id = ${partnerId}), 0))
  `.execute(db);
  const { rows: lost } = await sql<{ id: number }>`
    SELECT DISTINCT stored.id FROM unnest(
      ${audiences.map(({ audienceId }) => audienceId)}::bigint[], ${audiences.map(({ generation }) => generation)}::int[]
    ) AS stored (id, generation)
    WHERE NOT EXISTS (
      SELECT FROM audience WHERE audience.id = stored.id AND audience.partner_id = ${partnerId}
        AND audience.generation >= stored.generation
    )
  `.execute(db);
  return { seqs: new Set(jobs.map(({ seq }) => seq)), audienceIds: new Set(lost.map(({ id }) => id)) };
}

/** Audiences without open jobs. `which` selects rows of `audience`. */
async function selectAudiences(db: Database, which: RawBuilder<unknown>): Promise<RecordedAudience[]> {
  const { rows } = await sql<RecordedAudience>`
    SELECT audience.id AS "audienceId", audience.partner_id AS "partnerId", audience.generation,
      audience.last_load_id AS "lastLoadId", audience.uploaded_devices AS "uploadedDevices",
      audience.unique_devices AS "uniqueDevices", audience.matched_devices AS "matchedDevices",
      (SELECT coalesce(sum(file.uploaded_devices), 0)::bigint FROM job_file file
       WHERE file.audience_id = audience.id AND file.generation = audience.generation AND file.status = ${jobStatus.done}) AS "uploadedByFiles",
      ${erasedAfter(sql`audience.partner_id`, sql`audience.updated_at`)} AS "erasedRows"
    FROM audience
    WHERE NOT EXISTS (
      SELECT FROM audience_load load JOIN job ON job.id = load.job_id
      WHERE load.audience_id = audience.id AND job.status IN (${sql.join(openStatuses)})
    ) AND ${which}
  `.execute(db);
  return rows;
}
