import type { JobId, PartnerId } from '../../domain/ids.ts';
import { sql } from 'kysely';
import type { PgBoss } from 'pg-boss';
import { z } from 'zod';
import {
  type Audience,
  type AudienceReach,
  type AudienceScope,
  type StatusesPresent,
  audienceStatus,
} from '../../domain/audience.ts';
import { isFailureCode } from '../../domain/failure-catalog.ts';
import { Failure } from '../../domain/failure.ts';
import type { IdempotentRequest } from '../../domain/idempotency.ts';
import { type Quotas, defaultQuotas, requireQuota } from '../../domain/quota.ts';
import type { AudienceFilter, ErrorFilter } from '../../domain/list-filters.ts';
import type { AudiencePath } from '../../domain/source-file.ts';
import { jobKind, jobStatus, openStatuses } from '../../domain/job.ts';
import type { AppendRetry, AudienceStore, FailedLoad, NewAudienceLoad } from '../../ports/audience-store.ts';
import { dismissFile, inScope, selectAudienceFiles } from './audience-files.ts';
import { matching, withAudiencesNotDone } from './audience-filter.ts';
import { findAppend, isAppendOf, selectHistory } from './audience-history.ts';
import { hasEntryOf } from './audience-status.ts';
import { selectAudienceSummary } from './audience-summary.ts';
import { selectAudienceMarks } from './change-feed.ts';
import { appendEvent } from './event-log.ts';
import { readSnapshot } from './db/read-snapshot.ts';
import type { Database, Tx } from './db/tables.ts';
import { cancelJob } from './lane/cancel-job.ts';
import { appendReadyEvent, selectReadiness } from './lane/job-events.ts';
import { supersedeSamePath } from './lane/jobs.ts';
import {
  claimDueGenerations,
  endPurge,
  postponePurges,
  recordPurges,
  renewPurgeClaim,
  selectDead,
} from './dead-generations.ts';
import { endExportsOfAudience } from './reject-exports.ts';
import { type RequestRecords, postgresAcceptedRequests, runIdempotently } from './idempotency-store.ts';
import { lockLane, submitJob } from './lane/lane-store.ts';
import { selectLoadedFiles } from './loaded-files.ts';
import { sendLaneToken } from './queue/tokens.ts';

export function postgresAudienceStore(
  db: Database,
  boss: PgBoss,
  requests = postgresAcceptedRequests(db),
  quotas = defaultQuotas,
): AudienceStore {
  const deps = { db, boss, requests, quotas };
  return {
    create: (scope, audience, idempotency = null) => createAudience(deps, scope, audience, idempotency),
    append: (scope, audienceId, load, idempotency = null) =>
      appendToAudience(deps, scope, audienceId, load, idempotency),
    retryAppend: (scope, audienceId, appendId, retry, idempotency = null) =>
      retryAppend(deps, { scope, audienceId, appendId }, retry, idempotency),
    cancelAppend: async (scope, audienceId, appendId, accept, idempotency = null) => {
      const { partnerId } = scope;
      await runIdempotently(
        deps,
        { partnerId, idempotency, result: z.literal('canceled'), hasQuota: false },
        async (tx) => {
          const which = { jobId: appendId, partnerId, requester: 'partner' as const, kinds: [jobKind.audience] };
          const isFound = await isAppendOf(tx, scope, audienceId, appendId);
          accept(isFound ? await cancelJob(tx, boss, which) : null);
          return 'canceled' as const;
        },
      );
    },
    clear: (scope, audienceId, idempotency = null, requestedBy) =>
      emptyAudience(deps, { scope, audienceId, requestedBy }, idempotency),
    remove: (scope, audienceId, idempotency = null, requestedBy) =>
      emptyAudience(deps, { scope, audienceId, requestedBy }, idempotency, removeEmptied),
    rename: (scope, audienceId, name, idempotency = null) =>
      renameAudience(deps, { scope, audienceId }, name, idempotency),
    listHistory: (scope, audienceId, page) =>
      readSnapshot(db, async (tx) =>
        (await findAudience(tx, scope, audienceId)) ? selectHistory(tx, { scope, audienceId }, page) : null,
      ),
    find: async (scope, audienceId) => (await selectAudiences(db, scope, { audienceId }))[0] ?? null,
    list: (reach, page) =>
      page.filter ? readSnapshot(db, (tx) => selectAudiences(tx, reach, page)) : selectAudiences(db, reach, page),
    // Reads from one snapshot, so that the files match the counts.
    findWithFiles: (scope, audienceId, page) =>
      readSnapshot(db, async (tx) => {
        const [audience] = await selectAudiences(tx, scope, { audienceId });
        return audience ? { audience, ...(await selectAudienceFiles(tx, scope, audienceId, page)) } : null;
      }),
    findDetails: (scope, audienceId, page) =>
      readSnapshot(db, async (tx) => {
        const [audience] = await selectAudiences(tx, scope, { audienceId });
        if (!audience) return null;
        const summary = await selectAudienceSummary(tx, scope, audienceId);
        return { audience, summary, ...(page ? await selectAudienceFiles(tx, scope, audienceId, page) : noFiles) };
      }),
    dismissFile: async (scope, audienceId, entry, idempotency = null) => {
      if (!(await findAudience(db, scope, audienceId))) return 'not found';
      const refusal: { is: 'not found' | 'not failed' | null } = { is: null };
      const run = { partnerId: scope.partnerId, idempotency, result: z.literal('dismissed'), hasQuota: false };
      try {
        return await runIdempotently(deps, run, async (tx) => {
          // Locks the lane before the audience. No job of the audience can end, and report a status, at the same time.
          await lockLane(tx, scope.partnerId);
          const { generation } = await lockAudience(tx, scope, audienceId);
          const before = await selectReadiness(tx, audienceId);
          const result = await dismissFile(tx, { audienceId, generation }, entry);
          if (result === 'dismissed') {
            if (before.hasFailed) await appendReadyEvent(tx, scope, audienceId);
            return result;
          }
          // Aborts the transaction, so that the refusal is not stored under the Idempotency-Key.
          refusal.is = result;
          throw new Error(`the entry is ${result}`);
        });
      } catch (error) {
        if (refusal.is === null) throw error;
        return refusal.is;
      }
    },
    marksOf: (audienceIds) => selectAudienceMarks(db, audienceIds),
    listLoadedFiles: async (scope, audienceId, page) => {
      const audience = await findAudience(db, scope, audienceId);
      if (!audience) return [];
      const { partnerId } = scope;
      return selectLoadedFiles(db, { partnerId, audienceId, generation: audience.generation }, page);
    },
    listFailedLoads: async (scope, audienceId, page) => {
      const audience = await findAudience(db, scope, audienceId);
      return audience ? selectFailedLoads(db, { audienceId, generation: audience.generation }, page) : [];
    },
    claimDueGenerations: (limit) => claimDueGenerations(db, limit),
    listDead: (limit) => selectDead(db, limit),
    renewPurgeClaim: () => renewPurgeClaim(db),
    endPurge: (seconds) => endPurge(db, seconds),
    recordPurges: (purged) => recordPurges(db, purged),
    postponePurges: (generations, seconds) => postponePurges(db, generations, seconds),
  };
}

const noFiles = { files: [], next: null };

/** Finds an audience that the caller can access. */
async function findAudience(
  db: Database | Tx,
  scope: AudienceScope,
  audienceId: number,
): Promise<{ generation: number } | undefined> {
  return one(db, scope, audienceId).executeTakeFirst();
}

/** Reads the audience and prevents a clear until the transaction ends. Throws if it was deleted in the meantime. */
async function lockAudience(
  tx: Tx,
  scope: AudienceScope,
  audienceId: number,
): Promise<{ generation: number; warehouse_segment_id: number }> {
  const audience = await one(tx, scope, audienceId).forNoKeyUpdate().executeTakeFirst();
  if (audience) return audience;
  throw new Failure('not_found', `Audience ${audienceId} does not exist.`);
}

function one(db: Database | Tx, scope: AudienceScope, audienceId: number) {
  return db
    .selectFrom('audience')
    .select(['generation', 'warehouse_segment_id'])
    .where('id', '=', audienceId)
    .where(inScope(scope));
}

type Deps = {
  readonly db: Database;
  readonly boss: PgBoss;
  readonly requests: RequestRecords;
  readonly quotas: Quotas;
};

const madeSchema = z.object({ audienceId: z.int(), warehouseSegmentId: z.int() });

async function createAudience(
  deps: Deps,
  { partnerId, customerId }: AudienceScope,
  { name, path, maxOpenJobs, requestedBy }: NewAudienceLoad & { readonly name: string },
  idempotency: IdempotentRequest | null,
): Promise<{ audienceId: number; warehouseSegmentId: number }> {
  const { boss, quotas } = deps;
  return runIdempotently(deps, { partnerId, idempotency, result: madeSchema }, (tx) =>
    submitJob(boss, tx, partnerId, { kind: jobKind.audience, maxOpenJobs, quotas }, async (jobId) => {
      await requireAudienceQuota(tx, partnerId, quotas);
      const made = await tx
        .insertInto('audience')
        .values({ partner_id: partnerId, customer_id: customerId, name })
        .returning(['id', 'warehouse_segment_id', 'generation'])
        .executeTakeFirstOrThrow();
      const { id: audienceId, generation } = made;
      await insertLoad(tx, { jobId, partnerId, audienceId, generation, path, requestedBy });
      return { audienceId: made.id, warehouseSegmentId: made.warehouse_segment_id };
    }),
  );
}

/** The caller has locked the partner's row, so no other transaction creates an audience at the same time. */
async function requireAudienceQuota(tx: Tx, partnerId: PartnerId, quotas: Quotas): Promise<void> {
  const { rows } = await sql<{ used: number }>`SELECT used FROM audiences_of(${partnerId}) AS used`.execute(tx);
  requireQuota('audiences', quotas, { used: rows[0]?.used ?? 0, added: 1 });
}

/** Adds a load to the generation that is live at submission. A later clear cancels the load. */
async function appendToAudience(
  deps: Deps,
  scope: AudienceScope,
  audienceId: number,
  { path, maxOpenJobs, requestedBy }: NewAudienceLoad,
  idempotency: IdempotentRequest | null,
): Promise<number | null> {
  const { partnerId } = scope;
  if (!(await findAudience(deps.db, scope, audienceId))) return null;
  return runIdempotently(deps, { partnerId, idempotency, result: z.int() }, (tx) =>
    // Locks the lane before the audience. Every transaction that locks both uses this order.
    submitJob(deps.boss, tx, partnerId, { kind: jobKind.audience, maxOpenJobs, quotas: deps.quotas }, async (jobId) => {
      const { generation } = await lockAudience(tx, scope, audienceId);
      await addLoad(tx, { jobId, partnerId, audienceId, generation, path, requestedBy });
      return jobId;
    }),
  );
}

/** Like an append, but with the path of an earlier one. A retry keeps its result, even if the append changes later. */
async function retryAppend(
  deps: Deps,
  { scope, audienceId, appendId }: { scope: AudienceScope; audienceId: number; appendId: JobId },
  { accept, maxOpenJobs, requestedBy }: AppendRetry,
  idempotency: IdempotentRequest | null,
): Promise<JobId> {
  const { partnerId } = scope;
  return runIdempotently(deps, { partnerId, idempotency, result: z.int() }, async (tx) => {
    // Rejects the retry before a job is counted. The append is read again below, under the lock.
    accept(await findAppend(tx, scope, audienceId, appendId));
    const about = { kind: jobKind.audience, maxOpenJobs, quotas: deps.quotas };
    return submitJob(deps.boss, tx, partnerId, about, async (jobId) => {
      const { generation } = await lockAudience(tx, scope, audienceId);
      const found = await findAppend(tx, scope, audienceId, appendId);
      const { onlyFailed } = accept(found);
      if (!found) throw new Error(`append ${appendId} is gone`);
      const retryOf = { appendId, onlyFailed };
      await addLoad(tx, { jobId, partnerId, audienceId, generation, path: found.path, requestedBy, retryOf });
      return jobId;
    });
  });
}

/** The caller has locked the audience. */
async function addLoad(tx: Tx, load: NewLoad): Promise<void> {
  const { jobId: id, audienceId, generation, path } = load;
  await supersedeSamePath(tx, { id, audienceId, generation }, path);
  await insertLoad(tx, load);
  await tx
    .updateTable('audience')
    .set({ updated_at: sql`now()` })
    .where('id', '=', audienceId)
    .execute();
}

type NewLoad = {
  readonly jobId: JobId;
  readonly partnerId: PartnerId;
  readonly audienceId: number;
  readonly generation: number;
  readonly path: AudiencePath;
  readonly requestedBy: string | undefined;
  readonly retryOf?: { readonly appendId: JobId; readonly onlyFailed: boolean };
};

async function insertLoad(tx: Tx, load: NewLoad): Promise<void> {
  await tx
    .insertInto('audience_load')
    .values({
      job_id: load.jobId,
      partner_id: load.partnerId,
      audience_id: load.audienceId,
      generation: load.generation,
      file_path: load.path.relative,
      literal_path: load.path.literal,
      requested_by: load.requestedBy ?? null,
      retry_of: load.retryOf?.appendId ?? null,
      only_failed: load.retryOf?.onlyFailed ?? false,
    })
    .execute();
}

/**
 * Clears an audience. Starts an empty generation, records the old generation for purging, and ends the audience's open
 * jobs. Only a few rows change, regardless of the audience's size. The jobs end in this transaction, so a worker that
 * is loading one of them cannot commit. One event reports all of this, and the files in progress get no separate
 * events.
 */
async function emptyAudience(
  deps: Deps,
  { scope, audienceId, requestedBy }: { scope: AudienceScope; audienceId: number; requestedBy: string | undefined },
  idempotency: IdempotentRequest | null,
  alsoDo: ((tx: Tx, partnerId: PartnerId, audienceId: number) => Promise<void>) | null = null,
): Promise<boolean> {
  // A repeated delete is answered from its Idempotency-Key, although the audience no longer exists.
  if (!alsoDo && !(await findAudience(deps.db, scope, audienceId))) return false;
  return runIdempotently(
    deps,
    { partnerId: scope.partnerId, idempotency, result: z.literal(true), hasQuota: false },
    async (tx) => {
      // Locks the lane before the audience, as an append does. The lane sees either the canceled jobs or the new token.
      await lockLane(tx, scope.partnerId);
      const { generation, warehouse_segment_id: warehouseSegmentId } = await lockAudience(tx, scope, audienceId);
      await tx
        .updateTable('audience')
        .set({
          generation: generation + 1,
          uploaded_devices: 0,
          unique_devices: 0,
          matched_devices: 0,
          matched_at: null,
          last_load_id: null,
          updated_at: sql`now()`,
        })
        .where('id', '=', audienceId)
        .execute();
      await tx
        .insertInto('dead_generation')
        .values({ audience_id: audienceId, generation, partner_id: scope.partnerId, requested_by: requestedBy ?? null })
        .execute();
      await cancelJobs(tx, scope.partnerId, audienceId);
      if (alsoDo) await alsoDo(tx, scope.partnerId, audienceId);
      const type = alsoDo ? 'audience.deleted' : 'audience.cleared';
      await appendEvent(tx, { ...scope, type, data: { audienceId, warehouseSegmentId } });
      await sendLaneToken(deps.boss, tx, scope.partnerId);
      return true;
    },
  );
}

/**
 * Deletes an audience that was just emptied. Its row stays without its name until the purge has removed the devices and
 * the jobs are past their retention.
 */
async function removeEmptied(tx: Tx, partnerId: PartnerId, audienceId: number): Promise<void> {
  await tx
    .updateTable('audience')
    .set({ name: '', deleted_at: sql`now()` })
    .where('id', '=', audienceId)
    .execute();
  await sql`SELECT remove_records_of_deleted(${partnerId}, ${audienceId})`.execute(tx);
  await endExportsOfAudience(tx, partnerId, audienceId);
}

async function renameAudience(
  deps: Deps,
  { scope, audienceId }: { scope: AudienceScope; audienceId: number },
  name: string,
  idempotency: IdempotentRequest | null,
): Promise<boolean> {
  if (!(await findAudience(deps.db, scope, audienceId))) return false;
  const run = { partnerId: scope.partnerId, idempotency, result: z.literal(true) };
  return runIdempotently(deps, run, async (tx) => {
    await lockAudience(tx, scope, audienceId);
    await tx
      .updateTable('audience')
      .set({ name, updated_at: sql`now()` })
      .where('id', '=', audienceId)
      .execute();
    return true;
  });
}

/**
 * Cancels the audience's open jobs. Only the partner's open jobs are searched, and their number is limited. A job that
 * has not started has nothing to clean up.
 */
async function cancelJobs(tx: Tx, partnerId: PartnerId, audienceId: number): Promise<void> {
  await tx
    .updateTable('job')
    .set({
      status: jobStatus.failed,
      cancelled: true,
      finished_at: sql`now()`,
      updated_at: sql`now()`,
      cleaned_at: sql`CASE WHEN listed_at IS NULL THEN now() END`,
    })
    .where('partner_id', '=', partnerId)
    .where('status', 'in', openStatuses)
    .where('id', 'in', (eb) => eb.selectFrom('audience_load').select('job_id').where('audience_id', '=', audienceId))
    .execute();
}

type Row = {
  id: number;
  name: string;
  customer: string | null;
  warehouse_segment_id: number;
  uploaded_devices: number;
  unique_devices: number;
  matched_devices: number;
  matched_at: Date | null;
  created_at: Date;
  updated_at: Date;
  files: StatusesPresent;
};

/**
 * The latest update time of the audience itself and of its entries. When a file fails, only that file's time is
 * updated.
 */
const updatedAt = sql`greatest(
  audience.updated_at,
  (SELECT max(f.updated_at) FROM job_file f
   WHERE f.audience_id = audience.id AND f.generation = audience.generation AND NOT f.superseded),
  (SELECT max(j.updated_at) FROM audience_load l JOIN job j ON j.id = l.job_id
   WHERE l.audience_id = audience.id AND l.generation = audience.generation AND NOT l.superseded AND j.listed_at IS NULL)
)`;

/** Selects audiences that the caller can access, newest first. The status is derived from the files on each read. */
async function selectAudiences(
  db: Database | Tx,
  reach: AudienceReach,
  of:
    | { readonly audienceId: number }
    | { readonly beforeId: number; readonly limit: number; readonly filter?: AudienceFilter },
): Promise<Audience[]> {
  const filter = 'audienceId' in of ? {} : (of.filter ?? {});
  const which =
    'audienceId' in of
      ? sql`audience.id = ${of.audienceId}`
      : sql`audience.id < ${of.beforeId} ${matching(filter)} ORDER BY audience.id DESC LIMIT ${of.limit}`;
  const { rows } = await sql<Row>`
    ${filter.statuses ? withAudiencesNotDone(reach.partnerId) : sql``}
    SELECT audience.id, audience.name, (SELECT customer.name FROM customer WHERE customer.id = audience.customer_id) AS customer,
           audience.warehouse_segment_id, audience.uploaded_devices,
           audience.unique_devices, audience.matched_devices, audience.matched_at, audience.created_at, ${updatedAt} AS updated_at,
           json_build_object(${sql.join(Object.values(jobStatus).map((status) => sql`${sql.lit(status)}, ${hasEntryOf(status)}`))}) AS files
    FROM (SELECT * FROM audience WHERE ${inScope(reach)} AND ${which}) AS audience
    ORDER BY audience.id DESC
  `.execute(db);
  return rows.map((row) => ({
    id: row.id,
    name: row.name,
    customer: row.customer,
    warehouseSegmentId: row.warehouse_segment_id,
    status: audienceStatus(row.files),
    uploadedDevices: row.uploaded_devices,
    uniqueDevices: row.unique_devices,
    matchedDevices: row.matched_devices,
    matchedAt: row.matched_at,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  }));
}

/** Selects a generation's loads that failed before their files were listed, in submission order. */
async function selectFailedLoads(
  db: Database,
  of: { readonly audienceId: number; readonly generation: number },
  page: { readonly afterId: number; readonly limit: number; readonly error?: ErrorFilter },
): Promise<FailedLoad[]> {
  const { code: withCode, file } = page.error ?? {};
  let query = db
    .selectFrom('audience_load as load')
    .innerJoin('job', 'job.id', 'load.job_id')
    .innerJoin('partner', 'partner.id', 'load.partner_id')
    .select(['job.id', 'partner.prefix', 'load.file_path', 'job.failure_code', 'job.failure_detail'])
    .where('load.audience_id', '=', of.audienceId)
    .where('load.generation', '=', of.generation)
    .where('load.superseded', '=', false)
    .where('job.status', '=', jobStatus.failed)
    .where('job.listed_at', 'is', null)
    .where('job.id', '>', page.afterId)
    .orderBy('job.id')
    .limit(page.limit);
  if (withCode !== undefined) query = query.where('job.failure_code', '=', withCode);
  if (file !== undefined) query = query.where(sql`partner.prefix || load.file_path`, '=', file);
  return (await query.execute()).flatMap(({ id, prefix, file_path, failure_code: code, failure_detail: detail }) =>
    code !== null && isFailureCode(code)
      ? [{ jobId: id, path: prefix + file_path, failure: { code, detail: detail ?? '' } }]
      : [],
  );
}
