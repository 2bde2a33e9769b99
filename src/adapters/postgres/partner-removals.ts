import { type RawBuilder, sql } from 'kysely';
import type { PartnerId } from '../../domain/ids.ts';
import { jobStatus, openStatuses } from '../../domain/job.ts';
import type { OpenWork, PlaceCount, Removal, SignedRemovalProof } from '../../domain/partner-removal.ts';
import { toRemovalStep } from '../../domain/partner-removal.ts';
import type { Partner } from '../../domain/partner.ts';
import type { PartnerRemovals, RemovalChange } from '../../ports/partner-removal.ts';
import { advisoryLocks, withSessionLock } from './db/advisory-locks.ts';
import type { Database, Tx } from './db/tables.ts';
import { oldestRepair, repairLifetime } from './db/repairs.ts';
import { lockLane } from './lane/lane-store.ts';
import { laneQueue } from './queue/tokens.ts';

export function postgresPartnerRemovals(db: Database): PartnerRemovals {
  return {
    withLock: (name, run) => withSessionLock(db, sql`hashtextextended(${name}, ${advisoryLocks.partnerRemoval})`, run),
    find: async (name) => {
      const row = await db
        .selectFrom('partner_removal')
        .selectAll()
        .where('name', '=', name)
        .orderBy(sql`step = 'done'`)
        .orderBy('requested_at', 'desc')
        .limit(1)
        .executeTakeFirst();
      return row ? toRemoval(row) : null;
    },
    findOf: async (partnerId, name) => {
      const row = await db
        .selectFrom('partner_removal')
        .selectAll()
        .where('partner_id', '=', partnerId)
        .where('name', '=', name)
        .executeTakeFirst();
      return row ? toRemoval(row) : null;
    },
    begin: (partner, from) => db.transaction().execute((tx) => begin(tx, partner, from)),
    endAccess: (partnerId) => db.transaction().execute((tx) => endAccess(tx, partnerId)),
    advance: (partnerId, change) => update(db, partnerId, change),
    listOpenJobs: async (partnerId) => {
      const jobs = await db
        .selectFrom('job')
        .select('id')
        .where('partner_id', '=', partnerId)
        .where('status', 'in', openStatuses)
        .orderBy('seq')
        .execute();
      return jobs.map(({ id }) => id);
    },
    countOpenWork: (partnerId) => countOpenWork(db, partnerId),
    countRecords: async (partnerId) => {
      const counts: PlaceCount[] = [];
      for (const [table, condition] of recordTables) {
        const { rows } = await sql<{ count: number }>`
          SELECT count(*) AS count FROM ${sql.table(table)} WHERE ${condition(partnerId)}`.execute(db);
        counts.push({ store: 'postgresql', place: table, shard: null, replica: null, count: rows[0]?.count ?? 0 });
      }
      return counts;
    },
    removeRecords: (partnerId) => db.transaction().execute((tx) => removeRecords(tx, partnerId)),
    ownersOfFiles: (fileIds) =>
      selectOwners(db, sql`SELECT id, partner_id FROM job_file WHERE id = ANY (${fileIds}::bigint[])`),
    ownersOfLoads: (loadIds) =>
      selectOwners(
        db,
        sql`SELECT load_id AS id, partner_id FROM load_account WHERE load_id = ANY (${loadIds}::bigint[])`,
      ),
    ownersOfStagedLoads: (loadIds) =>
      selectOwners(
        db,
        sql`
          SELECT load_id AS id, partner_id FROM job_file WHERE load_id = ANY (${loadIds}::bigint[])
          UNION ALL SELECT load_id, partner_id FROM repair_load WHERE load_id = ANY (${loadIds}::bigint[])`,
      ),
    ownersOfJobs: (jobIds) =>
      selectOwners(db, sql`SELECT id, partner_id FROM job WHERE id = ANY (${jobIds}::bigint[])`),
    ownersOfExports: (exportIds) =>
      selectOwners(db, sql`SELECT id, partner_id FROM reject_export WHERE id = ANY (${exportIds}::bigint[])`),
    finish: async (partnerId, finishedAt, proof) => {
      const row = await db
        .updateTable('partner_removal')
        .set({ step: 'done', finished_at: finishedAt, proof: JSON.stringify(proof) })
        .where('partner_id', '=', partnerId)
        .returningAll()
        .executeTakeFirstOrThrow();
      return toRemoval(row);
    },
  };
}

async function countOpenWork(db: Database, partnerId: PartnerId): Promise<OpenWork> {
  const isOwn = ofPartner(partnerId);
  const repairs = sql`FROM repair_load WHERE ${isOwn} AND started_at > ${oldestRepair}`;
  const { rows } = await sql<OpenWork>`
    SELECT (SELECT count(*) FROM job WHERE ${isOwn} AND status IN (${sql.join(openStatuses)})) AS jobs,
      (SELECT count(*) FROM job WHERE ${isOwn} AND status NOT IN (${sql.join(openStatuses)})
         AND cancelled AND cleaned_at IS NULL) AS "canceledJobs",
      (SELECT count(*) FROM reject_export WHERE ${isOwn} AND claimed_until >= now()) AS exports,
      (SELECT count(*) FROM erasure WHERE ${isOwn} AND status IN (${sql.join(openStatuses)})) AS erasures,
      (SELECT count(*) ${repairs}) AS repairs,
      (SELECT max(started_at) + ${repairLifetime} ${repairs}) AS "repairsEndAt"`.execute(db);
  const [work] = rows;
  if (!work) throw new Error('the open work was not counted');
  return work;
}

async function selectOwners(db: Database, query: RawBuilder<unknown>): Promise<ReadonlyMap<number, PartnerId>> {
  const { rows } = await sql<{ id: number; partner_id: PartnerId }>`${query}`.execute(db);
  return new Map(rows.map(({ id, partner_id }) => [id, partner_id]));
}

const ofPartner = (partnerId: PartnerId) => sql`partner_id = ${partnerId}`;
const ofAudiences = (partnerId: PartnerId) =>
  sql`audience_id IN (SELECT id FROM audience WHERE partner_id = ${partnerId})`;

/**
 * Every table with records of a partner, in an order that keeps the foreign keys valid. A test compares this list with
 * the schema. The audit log and the record of the removal itself are kept.
 */
export const recordTables = [
  ['webhook_delivery', ofPartner],
  ['webhook_secret', ofPartner],
  ['webhook_state', ofPartner],
  ['webhook', ofPartner],
  ['subscription_object', ofPartner],
  ['subscription_state', ofPartner],
  ['subscription', ofPartner],
  ['event', ofPartner],
  ['event_counter', ofPartner],
  ['reject_file', ofPartner],
  ['reject_export', ofPartner],
  ['repair_load', ofPartner],
  ['load_account', ofPartner],
  ['job_credential', (id) => sql`job_id IN (SELECT id FROM job WHERE partner_id = ${id})`],
  ['job_file_reject', (id) => sql`job_file_id IN (SELECT id FROM job_file WHERE partner_id = ${id})`],
  ['dead_generation', ofPartner],
  ['composition', ofAudiences],
  ['report_request', ofPartner],
  ['report_draw', ofPartner],
  ['report_budget', ofPartner],
  ['overlap', ofPartner],
  ['index_audience', ofPartner],
  ['index_change', ofPartner],
  ['index_fold', ofPartner],
  ['job_file', ofPartner],
  ['audience_load', ofPartner],
  ['import_log', ofPartner],
  ['job', ofPartner],
  ['audience', ofPartner],
  ['console_link', ofPartner],
  ['console_session', ofPartner],
  ['user_token', ofPartner],
  ['upload', ofPartner],
  ['customer', ofPartner],
  ['request_window', ofPartner],
  ['api_key', ofPartner],
  ['attribute_foreign_key', ofPartner],
  ['attribute', ofPartner],
  ['accepted_request', ofPartner],
  ['storage_key', ofPartner],
  ['partner_usage', ofPartner],
  ['device_retention', ofPartner],
  ['erased_partner', ofPartner],
  ['erasure', ofPartner],
  ['partner', (id) => sql`id = ${id}`],
] as const satisfies readonly (readonly [
  table: string,
  condition: (partnerId: PartnerId) => ReturnType<typeof ofPartner>,
])[];

/** The lock on the partner comes first, as in every transaction that changes a lane. */
async function endAccess(tx: Tx, partnerId: PartnerId): Promise<void> {
  const isOwn = ofPartner(partnerId);
  await lockLane(tx, partnerId);
  await sql`UPDATE partner SET suspended_at = now() WHERE id = ${partnerId} AND suspended_at IS NULL`.execute(tx);
  for (const table of ['api_key', 'user_token'])
    await sql`UPDATE ${sql.table(table)} SET revoked_at = now() WHERE ${isOwn} AND revoked_at IS NULL`.execute(tx);
  for (const table of ['console_session', 'console_link', 'webhook', 'subscription'])
    await sql`DELETE FROM ${sql.table(table)} WHERE ${isOwn}`.execute(tx);
  // A worker then ends a running export, and none claims it again. The record names the staging tables.
  await sql`
    UPDATE reject_export SET status = ${jobStatus.failed}, finished_at = coalesce(finished_at, now()), expires_at = NULL
    WHERE ${isOwn} AND (status <> ${jobStatus.failed} OR expires_at IS NOT NULL)`.execute(tx);
}

async function begin(
  tx: Tx,
  partner: Partner,
  { requestedBy, hasStorageUser }: Parameters<PartnerRemovals['begin']>[1],
): Promise<Removal> {
  const { id } = partner;
  await endAccess(tx, id);
  const row = await tx
    .insertInto('partner_removal')
    .values({
      partner_id: id,
      name: partner.name,
      prefix: partner.prefix,
      has_storage_user: hasStorageUser,
      requested_by: requestedBy,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return toRemoval(row);
}

async function removeRecords(tx: Tx, partnerId: PartnerId): Promise<void> {
  // A partner can have millions of files.
  await sql`SET LOCAL statement_timeout = 0`.execute(tx);
  for (const [table, condition] of recordTables)
    await sql`DELETE FROM ${sql.table(table)} WHERE ${condition(partnerId)}`.execute(tx);
  await sql`DELETE FROM pgboss.job WHERE name = ${laneQueue} AND singleton_key = ${String(partnerId)}`.execute(tx);
}

async function update(
  db: Database,
  partnerId: PartnerId,
  { step, removed, remaining, isRemoved = false }: RemovalChange,
): Promise<Removal> {
  const row = await db
    .updateTable('partner_removal')
    .set({
      step,
      ...(removed ? { removed: JSON.stringify(removed) } : {}),
      ...(remaining ? { remaining: JSON.stringify(remaining) } : {}),
      ...(isRemoved ? { removed_at: sql<Date>`now()` } : {}),
    })
    .where('partner_id', '=', partnerId)
    .returningAll()
    .executeTakeFirstOrThrow();
  return toRemoval(row);
}

type Row = {
  partner_id: PartnerId;
  name: string;
  prefix: string;
  has_storage_user: boolean;
  step: string;
  requested_by: string;
  requested_at: Date;
  removed: readonly PlaceCount[];
  remaining: readonly PlaceCount[];
  removed_at: Date | null;
  finished_at: Date | null;
  proof: SignedRemovalProof | null;
};

function toRemoval(row: Row): Removal {
  return {
    partnerId: row.partner_id,
    name: row.name,
    prefix: row.prefix,
    hasStorageUser: row.has_storage_user,
    step: toRemovalStep(row.step),
    requestedBy: row.requested_by,
    requestedAt: row.requested_at,
    removed: row.removed,
    remaining: row.remaining,
    removedAt: row.removed_at,
    finishedAt: row.finished_at,
    proof: row.proof,
  };
}
