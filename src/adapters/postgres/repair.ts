import { setTimeout as pause } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import type { JobId, LoadId, PartnerId } from '../../domain/ids.ts';
import { importMode } from '../../domain/import-log.ts';
import { jobKind, jobStatus, openStatuses } from '../../domain/job.ts';
import type { FileToRepair, Incomplete, LaterChanges, RepairRecords } from '../../ports/repair.ts';
import type { DeviceCounts, Generation } from '../../ports/warehouse.ts';
import { skipIdsSql } from './control-backup.ts';
import type { Database } from './db/tables.ts';
import { type LoadRow, loadColumns, toKeyType, toLoad, toSource } from './lane/jobs.ts';
import { lockLane } from './lane/lane-store.ts';

export function postgresRepairRecords(db: Database): RepairRecords {
  return {
    listFiles: (of) => selectFiles(db, of),
    listRecentLoads: (limit) => selectRecentLoads(db, limit),
    listSince: (loadId, partnerId) => selectSince(db, loadId, partnerId),
    findLaterChanges: (partnerId, seq) => selectLaterChanges(db, partnerId, seq),
    readSuppression: () => db.selectFrom('suppression').select(['version', 'hashes']).executeTakeFirstOrThrow(),
    startLoad: (file, like, shards) => insertLoad(db, file, { like, shards }),
    endLoads: async (loadIds) => {
      await db
        .deleteFrom('repair_load')
        .where('load_id', '=', sql<LoadId>`ANY(${loadIds}::bigint[])`)
        .execute();
    },
    whileIdle: async (partnerId, waitSeconds, run) => {
      for (let second = 0; second < waitSeconds; second++) {
        const result = await whileIdle(db, partnerId, run);
        if (result !== null) return result;
        await pause(1_000);
      }
      return null;
    },
  };
}

type FileRow = LoadRow & {
  id: number;
  key_type: number | null;
  key: string;
  path: string;
  etag: string;
  size: number;
  gzip: boolean | null;
  total_rows: number;
  accepted_rows: number;
};

async function selectFiles(db: Database, of: Incomplete): Promise<FileToRepair[]> {
  const isOf: RawBuilder<unknown> =
    of.kind === 'import'
      ? sql`f.job_id = ${of.jobId}`
      : sql`f.audience_id = ${of.audienceId} AND f.generation = (SELECT generation FROM audience WHERE id = ${of.audienceId})`;
  const { rows } = await sql<FileRow>`
    SELECT f.id, f.load_id, l.key_type, f.key, f.path, f.etag, f.size, f.gzip, f.total_rows, f.accepted_rows, ${loadColumns}
    FROM job_file f JOIN job j ON j.id = f.job_id
      LEFT JOIN import_log l ON l.job_id = j.id LEFT JOIN audience_load a ON a.job_id = j.id
    WHERE ${isOf} AND f.status = ${jobStatus.done} AND f.load_id IS NOT NULL
    ORDER BY f.id
  `.execute(db);
  return rows.map((row) => ({
    fileId: row.id,
    loadId: row.load_id,
    jobId: row.job_id,
    partnerId: row.partner_id,
    seq: row.seq,
    keyType: row.key_type === null ? null : toKeyType(row.key_type),
    target: toLoad(row, 0).target,
    suppression: toLoad(row, 0).suppression,
    source: toSource(row),
    object: { key: row.key, etag: row.etag, size: row.size },
    path: row.path,
    expectGzip: row.gzip,
    totalRows: row.total_rows,
    acceptedRows: row.accepted_rows,
  }));
}

/** Must be less than the 90 days for which ClickHouse keeps the counts of a load. */
const recentDays = 7;

async function selectRecentLoads(db: Database, limit: number): Promise<LoadId[]> {
  const { rows } = await sql<{ load_id: LoadId }>`
    SELECT load_id FROM load_account WHERE published_at > now() - make_interval(days => ${recentDays})
    ORDER BY load_id DESC LIMIT ${limit}
  `.execute(db);
  return rows.map(({ load_id }) => load_id);
}

/** Omits audience loads that were cleared in the meantime. */
async function selectSince(db: Database, loadId: LoadId, partnerId: PartnerId | null): Promise<Incomplete[]> {
  const { rows } = await sql<{ job_id: JobId; audience_id: number | null }>`
    SELECT DISTINCT CASE WHEN f.audience_id IS NULL THEN f.job_id ELSE 0 END AS job_id, f.audience_id
    FROM job_file f JOIN job j ON j.id = f.job_id LEFT JOIN audience a ON a.id = f.audience_id
    WHERE f.load_id >= ${loadId} AND f.status = ${jobStatus.done} AND j.status NOT IN (${sql.join(openStatuses)})
      AND (f.audience_id IS NULL OR f.generation = a.generation)
      AND (${partnerId}::bigint IS NULL OR f.partner_id = ${partnerId})
    ORDER BY 1, 2
  `.execute(db);
  return rows.map(({ job_id, audience_id }) =>
    audience_id === null ? { kind: 'import', jobId: job_id } : { kind: 'audience', audienceId: audience_id },
  );
}

async function selectLaterChanges(db: Database, partnerId: PartnerId, seq: number): Promise<LaterChanges> {
  const { rows } = await sql<{ kind: string; attribute_ids: readonly number[] | null }>`
    SELECT job.kind, log.attribute_ids FROM job JOIN import_log log ON log.job_id = job.id
    WHERE job.partner_id = ${partnerId} AND job.seq > ${seq} AND job.listed_at IS NOT NULL
      AND (job.kind = ${jobKind.delete} OR log.mode = ${importMode.replace})
  `.execute(db);
  const { rows: moved } = await sql`
    SELECT FROM audit_log JOIN job ON job.partner_id = audit_log.partner_id AND audit_log.at >= job.listed_at
    WHERE job.partner_id = ${partnerId} AND job.seq = ${seq}
      AND audit_log.event IN ('attribute_foreign_key.update', 'attribute_foreign_key.delete')
    LIMIT 1
  `.execute(db);
  const { rows: unseen } = await sql`
    SELECT FROM device_retention WHERE partner_id = ${partnerId} AND unseen_seq >= ${seq}`.execute(db);
  return {
    isUnseen: unseen.length > 0,
    hasMovedKeys: moved.length > 0,
    deletedAttributeIds: [...new Set(rows.flatMap(({ attribute_ids }) => attribute_ids ?? []))],
    hasReplace: rows.some(({ kind }) => kind !== jobKind.delete),
  };
}

async function insertLoad(
  db: Database,
  { partnerId, jobId }: FileToRepair,
  { like, shards }: { readonly like: LoadId; readonly shards: number },
): Promise<LoadId> {
  for (;;) {
    const { rows } = await sql<{ id: LoadId }>`SELECT nextval('load_id') AS id`.execute(db);
    const loadId = rows[0]?.id ?? 0;
    if (loadId % shards !== like % shards) continue;
    await db.insertInto('repair_load').values({ load_id: loadId, partner_id: partnerId, job_id: jobId }).execute();
    return loadId;
  }
}

/**
 * Runs `run` while the lane is locked, unless the partner has open jobs. Every lane step and every new job takes the
 * same lock. The transaction stays open until `run` ends.
 */
async function whileIdle<T>(db: Database, partnerId: PartnerId, run: () => Promise<T>): Promise<T | null> {
  return db.transaction().execute(async (tx) => {
    await sql`SET LOCAL idle_in_transaction_session_timeout = 0`.execute(tx);
    await lockLane(tx, partnerId);
    const open = await tx
      .selectFrom('job')
      .select('id')
      .where('partner_id', '=', partnerId)
      .where('status', 'in', openStatuses)
      .limit(1)
      .executeTakeFirst();
    return open ? null : run();
  });
}

/**
 * Moves every sequence forward, and moves partners' lanes past the positions that are already in ClickHouse. Jobs that
 * have not started get new positions in the same order, because their old positions may already have been assigned to
 * other jobs. Returns the number of lanes that were moved.
 */
export async function moveIdsForward(
  db: Database,
  highest: readonly { readonly partnerId: PartnerId; readonly seq: number }[],
): Promise<number> {
  return db.transaction().execute(async (tx) => {
    await sql.raw(skipIdsSql).execute(tx);
    // The restored records of the device index are older than its bitmaps.
    await sql`SELECT note_all_index_changes()`.execute(tx);
    let moved = 0;
    for (const { partnerId, seq } of highest) {
      const { rows } = await sql<{ shift: number }>`
        UPDATE partner SET next_seq = next_seq + ${seq} + next_seq
        WHERE id = ${partnerId} AND ${seq} >= coalesce(
          (SELECT min(job.seq) FROM job WHERE partner_id = ${partnerId} AND status = ${jobStatus.pending} AND listed_at IS NULL),
          next_seq
        )
        RETURNING (next_seq - ${seq}) / 2 + ${seq} AS shift
      `.execute(tx);
      const [lane] = rows;
      if (!lane) continue;
      moved += 1;
      // The shift exceeds every position in the lane, so that no two jobs have the same position during the update.
      await sql`
        UPDATE job SET seq = seq + ${lane.shift}
        WHERE partner_id = ${partnerId} AND status = ${jobStatus.pending} AND listed_at IS NULL
      `.execute(tx);
    }
    return moved;
  });
}

/** Records the device counts of an audience, as counted in ClickHouse. */
export async function recordCounts(
  db: Database,
  { audienceId, generation }: Generation,
  { unique, matched }: DeviceCounts,
): Promise<void> {
  await db
    .updateTable('audience')
    .set({
      unique_devices: unique,
      matched_devices: matched,
      matched_at: sql`now()`,
      last_load_id: sql`nextval('load_id')`,
      updated_at: sql`now()`,
    })
    .where('id', '=', audienceId)
    .where('generation', '=', generation)
    .execute();
}
