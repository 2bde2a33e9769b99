import { sql } from 'kysely';
import { type PgBoss, fromKysely } from 'pg-boss';
import { Failure } from '../../../domain/failure.ts';
import type { BatchId, JobId, PartnerId } from '../../../domain/ids.ts';
import { type Quotas, requireQuota } from '../../../domain/quota.ts';
import { openJobsWithCanceled } from '../../../domain/limits.ts';
import { errorOfJob } from '../../../domain/import-log.ts';
import { type JobKind, cancelledBeforeStart, jobKind, jobStatus, openStatuses } from '../../../domain/job.ts';
import type { CountsBefore, LaneJob, LaneStep, LaneStore, LaneToken, StagedLoad } from '../../../ports/lane-store.ts';
import {
  type FileProgress,
  type LaneHead,
  type LaneSnapshot,
  decideNextStep,
} from '../../../usecases/lane/decide-next-step.ts';
import { advisoryLocks } from '../db/advisory-locks.ts';
import type { Database, Tx } from '../db/tables.ts';
import { countsAsOpen } from '../open-jobs.ts';
import {
  completeLaneToken,
  isLaneTokenReplaced,
  laneQueue,
  laneToken,
  sendFileTokens,
  sendLaneToken,
} from '../queue/tokens.ts';
import {
  type LoadRow,
  cancelFiles,
  endJob,
  endJobIn,
  isOfAudience,
  loadColumns,
  onlyFailedOf,
  selectFailedFiles,
  startAudienceLoad,
  startDelete,
  startImport,
  summarizeJob,
  toImportMode,
  toJobKind,
  toKeyType,
  toLoad,
  toSource,
} from './jobs.ts';
import { appendFileEvents } from './job-events.ts';
import { recordLostObjects, selectGivenObjects } from './given-objects.ts';
import {
  commitAudienceLoads,
  commitImportLoads,
  findPublished,
  recordOnlyFile,
  recordPublished,
  recordUploadedDevices,
  reloadFiles,
  restageFiles,
  selectRunningJob,
  toAccount,
} from './publishing.ts';

export function postgresLaneStore(db: Database, boss: PgBoss): LaneStore {
  return {
    nextStep: (token, maxBatches) => nextStep(db, boss, token, maxBatches),
    yieldLane: (token, afterSeconds) =>
      db.transaction().execute(async (tx) => {
        await completeLaneToken(boss, tx, token);
        await sendLaneToken(boss, tx, token.partnerId, afterSeconds);
      }),
    listFailedFiles: (jobId) => selectFailedFiles(db, jobId),
    listGivenObjects: (jobId) => selectGivenObjects(db, jobId),
    recordLostObjects: (jobId, lost) => recordLostObjects(db, jobId, lost),
    startImport: (jobId, batches) => startImport(db, jobId, batches),
    startAudienceLoad: (job, batches) => startAudienceLoad(db, job, batches),
    startDelete: (jobId, found) => startDelete(db, jobId, found),
    commitImportLoads: (jobId, loads) => commitImportLoads(db, jobId, loads),
    recordUploadedDevices: (loadId, devices) => recordUploadedDevices(db, loadId, devices),
    recordOnlyFile: (jobId, staged, file) => recordOnlyFile(db, jobId, staged, file),
    recordPublished: (loadIds) => recordPublished(db, loadIds),
    findPublished: (loadIds) => findPublished(db, loadIds),
    reloadFiles: (jobId, loads, maxReloads) => reloadFiles(db, jobId, loads, maxReloads),
    restageFiles: (jobId, loadIds) => restageFiles(db, jobId, loadIds),
    commitAudienceLoads: (job, loads, counts) => commitAudienceLoads(db, job, loads, counts),
    isRunning: async (jobId) => (await selectRunningJob(db, jobId).executeTakeFirst()) !== undefined,
    markCleaned: async (jobId) => {
      await db
        .updateTable('job')
        .set({ cleaned_at: sql`now()` })
        .where('id', '=', jobId)
        .execute();
    },
    summarizeJob: (jobId) => summarizeJob(db, jobId),
    finishImport: (jobId, result) => endJob(db, jobId, { ...result, hasStarted: true }),
    finishAudienceLoad: (jobId, failure) =>
      endJob(db, jobId, { hasStarted: true, failure, errors: [], uniqueDevices: null }),
    finishDelete: (jobId) => endJob(db, jobId, { hasStarted: true, failure: null, errors: [], uniqueDevices: null }),
    failJob: (jobId, failure) =>
      endJob(db, jobId, { hasStarted: false, failure, errors: [errorOfJob(failure)], uniqueDevices: 0 }),
    claimTurn: (task, everySeconds) => claimTurn(db, task, everySeconds),
    requeueIdleLanes: () => requeueIdleLanes(db, boss),
  };
}

/** Returns true only for the first worker that claims the task in each period. */
async function claimTurn(db: Database, task: string, everySeconds: number): Promise<boolean> {
  const taken = await db
    .insertInto('sweep')
    .values({ name: task, ran_at: sql<Date>`now()` })
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet({ ran_at: sql<Date>`now()` })
        .where('sweep.ran_at', '<', sql<Date>`now() - make_interval(secs => ${everySeconds - 1})`),
    )
    .returning('name')
    .executeTakeFirst();
  return taken !== undefined;
}

/** Sends all missing lane tokens in one statement. Existing tokens are unaffected. */
async function requeueIdleLanes(db: Database, boss: PgBoss): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const lanes = await tx
      .selectFrom('job')
      .select('partner_id')
      .distinct()
      .where((eb) =>
        eb.or([eb('status', 'in', openStatuses), eb.and([eb('cancelled', '=', true), eb('cleaned_at', 'is', null)])]),
      )
      .execute();
    const tokens = lanes.map(({ partner_id }) => laneToken(partner_id));
    if (tokens.length > 0) await boss.insert(laneQueue, tokens, { db: fromKysely(tx) });
  });
}

/**
 * Reads the lane under its locks, decides the next step, and writes the decision. Every sender of a lane token (a new
 * job, a staged file, a cancellation) takes one of these locks first. Either this transaction sees the sender's change,
 * or the sender's token is sent after this token is completed. No wake-up is lost.
 */
async function nextStep(db: Database, boss: PgBoss, token: LaneToken, batchLimit: number): Promise<LaneStep> {
  for (;;) {
    const step = await nextStepOrNone(db, boss, token, batchLimit);
    if (step) return step;
  }
}

/** Returns null if it has ended canceled jobs. The lane may have more of them. */
async function nextStepOrNone(
  db: Database,
  boss: PgBoss,
  token: LaneToken,
  batchLimit: number,
): Promise<LaneStep | null> {
  const { partnerId } = token;
  return db.transaction().execute(async (tx): Promise<LaneStep | null> => {
    const { prefix, suspended_at: suspendedAt } = await lockLane(tx, partnerId);
    if (await isLaneTokenReplaced(tx, token)) return { do: 'rest' };
    const isPaused = !(await tryStartWork(tx));
    const canceled = await selectCanceledJob(tx, partnerId);
    const head = await lockHead(tx, { id: partnerId, prefix }, batchLimit);
    const snapshot: LaneSnapshot = { isPaused, isSuspended: suspendedAt !== null, canceled, head };
    const decision = decideNextStep(snapshot);
    switch (decision.do) {
      case 'end canceled':
        await endCanceledJobs(tx, partnerId);
        return null;
      case 'rest':
        await sendFileTokens(boss, tx, decision.dispatch);
        await completeLaneToken(boss, tx, token);
        return { do: 'rest' };
      case 'publish': {
        const { dispatch, ...step } = decision;
        await sendFileTokens(boss, tx, dispatch);
        return { ...step, loads: await claimStagedLoads(tx, step.job.id) };
      }
      case 'clean':
      case 'prepare':
      case 'finish':
        return decision;
    }
  });
}

/**
 * Locks the lane. Take this lock before any other lock. Until the transaction ends, no other transaction can decide the
 * lane's next step or append a job.
 */
export async function lockLane(tx: Tx, partnerId: PartnerId): Promise<{ prefix: string; suspended_at: Date | null }> {
  return tx
    .selectFrom('partner')
    .select(['prefix', 'suspended_at'])
    .where('id', '=', partnerId)
    .forNoKeyUpdate() // conflicts with the UPDATE of a new job, but not with foreign keys that refer to the partner
    .executeTakeFirstOrThrow();
}

async function lockHead(
  tx: Tx,
  partner: { readonly id: number; readonly prefix: string },
  batchLimit: number,
): Promise<LaneHead | null> {
  const row = await tx
    .selectFrom('job')
    .leftJoin('import_log as log', 'log.job_id', 'job.id')
    .leftJoin('audience_load as load', 'load.job_id', 'job.id')
    .select(['job.id', 'job.kind', 'job.seq', 'job.listed_at', 'job.cancelled'])
    .select([
      'log.file_path as import_path',
      'log.path_type',
      'log.key_type',
      'log.compressed',
      'log.mode',
      'log.subscription_id',
    ])
    .select([onlyFailedOf.as('only_failed_of')])
    .select([
      'log.attribute_ids',
      'load.audience_id',
      'load.generation',
      'load.file_path as audience_path',
      'load.literal_path',
    ])
    .where('job.partner_id', '=', partner.id)
    .where('job.status', 'in', openStatuses)
    .orderBy('job.seq')
    .limit(1)
    .forUpdate('job')
    .executeTakeFirst();
  if (!row) return null;
  const job = toLaneJob(row, partner);
  const isCanceled = row.cancelled;
  if (row.listed_at === null) return { isCanceled, isStarted: false, job };
  if (job.kind === jobKind.delete) return { isCanceled, isStarted: true, job };
  const files = await selectFileProgress(tx, job.id, batchLimit);
  if (job.kind === jobKind.import) return { isCanceled, isStarted: true, job, files };
  return { isCanceled, isStarted: true, job, files, before: await selectCountsBefore(tx, job.audienceId) };
}

type JobRow = {
  id: number;
  kind: string;
  seq: number;
  import_path: string | null;
  path_type: number | null;
  key_type: number | null;
  compressed: boolean | null;
  mode: string | null;
  subscription_id: number | null;
  attribute_ids: readonly number[] | null;
  audience_id: number | null;
  generation: number | null;
  audience_path: string | null;
  literal_path: string | null;
  only_failed_of: JobId | null;
};

function toLaneJob(row: JobRow, partner: { readonly id: number; readonly prefix: string }): LaneJob {
  const kind = toJobKind(row.kind);
  const base = { id: row.id, partnerId: partner.id, seq: row.seq };
  if (kind === jobKind.delete) return { ...base, kind, attributeIds: row.attribute_ids ?? [] };
  const filePath = row.import_path ?? row.audience_path ?? '';
  const source = toSource({ ...row, job_id: row.id, partner_id: partner.id, file_path: filePath });
  const loading = { ...base, source, prefix: partner.prefix, onlyFailedOf: row.only_failed_of };
  if (kind === jobKind.audience) {
    if (!isOfAudience(row)) throw new Error(`job ${row.id} has no audience`);
    const { audience_id: audienceId, generation, literal_path: literalPath } = row;
    return { ...loading, kind, audienceId, generation, literalPath };
  }
  const mode = toImportMode(row.mode ?? '');
  const isOfSubscription = row.subscription_id !== null;
  return {
    ...loading,
    kind,
    keyType: toKeyType(row.key_type ?? -1),
    compressed: row.compressed,
    mode,
    isOfSubscription,
  };
}

async function selectFileProgress(tx: Tx, jobId: JobId, batchLimit: number): Promise<FileProgress> {
  const { rows } = await sql<FileProgress>`
    SELECT
      (SELECT coalesce(json_agg(batch_id ORDER BY batch_id), '[]') FROM (${openBatches(jobId, batchLimit)}) AS open)
        AS "batchIds",
      count(*) AS "stagedFiles",
      coalesce(sum(accepted_rows), 0)::bigint AS "stagedRows",
      coalesce(extract(epoch FROM now() - min(updated_at)), 0)::float8 AS "stagedSeconds"
    FROM job_file WHERE job_id = ${jobId} AND staged AND status = ${jobStatus.running}
  `.execute(tx);
  const [progress] = rows;
  if (!progress) throw new Error('an aggregate without GROUP BY returns one row');
  return progress;
}

/** Selects the job's batches with at least one open, unstaged file, in listing order. */
function openBatches(jobId: JobId, limit: number) {
  return sql<{ batch_id: BatchId }>`
    SELECT batch_id FROM job_file
    WHERE job_id = ${jobId} AND status IN (${jobStatus.pending}, ${jobStatus.running}) AND NOT staged
    GROUP BY batch_id ORDER BY batch_id LIMIT ${limit}`;
}

/**
 * Sends a token for each of the first open batches. A batch that already has a token keeps it, and a batch that lost
 * its token gets a new one. The caller has locked the job's row.
 */
export async function dispatchBatches(boss: PgBoss, tx: Tx, jobId: JobId, limit: number): Promise<void> {
  const { rows } = await openBatches(jobId, limit).execute(tx);
  await sendFileTokens(
    boss,
    tx,
    rows.map(({ batch_id }) => batch_id),
  );
}

/** Selects the oldest canceled job that may have left staged rows behind. */
async function selectCanceledJob(tx: Tx, partnerId: PartnerId): Promise<LaneSnapshot['canceled']> {
  const job = await tx
    .selectFrom('job')
    .select('id')
    .where('partner_id', '=', partnerId)
    .where('cancelled', '=', true)
    .where('cleaned_at', 'is', null)
    .orderBy('id')
    .executeTakeFirst();
  if (!job) return null;
  const loads = await tx
    .selectFrom('job_file')
    .select('load_id')
    .distinct()
    .where('job_id', '=', job.id)
    .where('status', 'in', openStatuses)
    .where('load_id', 'is not', null)
    .execute();
  return { jobId: job.id, loadIds: loads.flatMap(({ load_id }) => load_id ?? []) };
}

/**
 * Selects the audience's counts and the version of the known devices before any device is counted. This version is
 * stored with the new counts, which are therefore stale if an import adds devices during the count.
 */
async function selectCountsBefore(tx: Tx, audienceId: number): Promise<CountsBefore> {
  const { rows } = await sql<{ unique_devices: number; matched_devices: number; version: number; known: number }>`
    SELECT unique_devices, matched_devices, matched_version AS version,
      (SELECT last_value FROM known_devices_version) AS known
    FROM audience WHERE id = ${audienceId}
  `.execute(tx);
  const [row] = rows;
  if (!row) throw new Error(`audience ${audienceId} does not exist`);
  return {
    unique: row.unique_devices,
    matched: row.matched_devices,
    knownVersion: row.known,
    isMatchedCurrent: row.version === row.known,
  };
}

type StagedRow = LoadRow & {
  file_id: number;
  publish_attempts: number;
  accepted_rows: number;
  uploaded_devices: number;
  size: number;
  staged_rows: readonly number[] | null;
  published_at: Date | null;
  suppression_version: number;
};

/** Claims every staged load of the job. The attempt number prevents earlier holders of the lane from committing. */
async function claimStagedLoads(tx: Tx, jobId: JobId): Promise<StagedLoad[]> {
  const { rows } = await sql<StagedRow>`
    UPDATE job_file f SET publish_attempts = f.publish_attempts + 1
    FROM job j LEFT JOIN import_log l ON l.job_id = j.id LEFT JOIN audience_load a ON a.job_id = j.id,
      job_file own LEFT JOIN load_account account ON account.load_id = own.load_id
    WHERE f.job_id = ${jobId} AND j.id = f.job_id AND f.staged AND f.status = ${jobStatus.running} AND own.id = f.id
    RETURNING f.id AS file_id, f.load_id, f.publish_attempts, f.accepted_rows, f.uploaded_devices, f.size,
      account.staged_rows, account.published_at, account.suppression_version, ${loadColumns}
  `.execute(tx);
  return [...Map.groupBy(rows, ({ load_id }) => load_id).values()].flatMap((files) => {
    const [first] = files;
    if (!first) return [];
    return {
      load: toLoad(
        first,
        files.reduce((sum, { size }) => sum + size, 0),
      ),
      fileIds: files.map(({ file_id }) => file_id),
      rows: files.reduce((sum, { accepted_rows }) => sum + accepted_rows, 0),
      // Zero devices means that the file is not counted yet or contains only opt-outs, which are cheap to count.
      isCounted: files.every(({ uploaded_devices }) => uploaded_devices > 0),
      publishAttempt: first.publish_attempts,
      account: first.staged_rows && toAccount(first.staged_rows, first.published_at, first.suppression_version),
    };
  });
}

/** A partner can have a thousand canceled jobs. While they end, its lane is locked, so they do not all end at once. */
export const canceledJobsAtOnce = 50;

/**
 * Ends the first canceled, unstarted jobs at the head of the lane. A canceled job ends only at the head, so that a
 * partner's jobs end in submission order. The caller has locked the lane. If a canceled job has files, a worker of the
 * previous release started it. Its open files fail, so that no worker can claim them.
 */
export async function endCanceledJobs(tx: Tx, partnerId: PartnerId): Promise<void> {
  const failure = cancelledBeforeStart();
  for (let ended = 0; ended < canceledJobsAtOnce; ended++) {
    const head = await tx
      .selectFrom('job')
      .select(['id', 'listed_at', 'cancelled'])
      .where('partner_id', '=', partnerId)
      .where('status', 'in', openStatuses)
      .orderBy('seq')
      .limit(1)
      .forUpdate()
      .executeTakeFirst();
    if (!head?.cancelled) return;
    if (head.listed_at !== null) {
      await appendFileEvents(tx, await cancelFiles(tx, head.id));
      return;
    }
    await endJobIn(tx, head.id, { failure, errors: [errorOfJob(failure)], hasStarted: false, uniqueDevices: 0 });
  }
}

function requireFewOpenJobs(open: { readonly all: number; readonly counted: number }, max: number): void {
  const maxWithCanceled = max * openJobsWithCanceled;
  if (open.counted > max)
    throw new Failure('too_many_open_jobs', `The partner has ${max} open jobs, which is the limit.`);
  if (open.all > maxWithCanceled)
    throw new Failure(
      'too_many_open_jobs',
      `The partner has ${maxWithCanceled} open jobs, including canceled ones, which is the limit.`,
    );
}

/**
 * Appends a job to the partner's lane, writes its record, and sends the lane's token, all in the caller's transaction.
 * The caller must pass `quotas` for a job that adds data. Such a job is rejected if a quota was reached at the last
 * measurement. The partner's row stays locked until the commit, so jobs become visible in submission order. The token
 * is sent last. A concurrent sender of the same token waits until this transaction ends, so this transaction must not
 * wait for other locks after it has sent the token.
 */
export async function submitJob<T>(
  boss: PgBoss,
  tx: Tx,
  partnerId: PartnerId,
  { kind, maxOpenJobs, quotas }: { readonly kind: JobKind; readonly maxOpenJobs: number; readonly quotas?: Quotas },
  writeRecord: (jobId: JobId) => Promise<T>,
): Promise<T> {
  const { seq } = await tx
    .updateTable('partner')
    .set({ next_seq: sql`next_seq + 1` })
    .where('id', '=', partnerId)
    .returning(sql<number>`next_seq - 1`.as('seq'))
    .executeTakeFirstOrThrow();
  // This is a separate statement, so its snapshot is taken after the wait for the lock. The count therefore includes
  // this job and every other open job.
  const job = await tx
    .insertInto('job')
    .values({ partner_id: partnerId, seq, kind })
    .returning([
      'id',
      sql<{ all: number; counted: number }>`(
        SELECT json_build_object('all', count(*) + 1, 'counted', count(*) FILTER (WHERE ${countsAsOpen('job')}) + 1)
        FROM job WHERE partner_id = ${partnerId} AND status IN (0, 1))`.as('openJobs'),
      sql<number | null>`(SELECT stored_rows FROM partner_usage WHERE partner_id = ${partnerId})`.as('storedRows'),
      sql<number | null>`(SELECT stored_bytes FROM partner_usage WHERE partner_id = ${partnerId})`.as('storedBytes'),
    ])
    .executeTakeFirstOrThrow();
  requireFewOpenJobs(job.openJobs, maxOpenJobs);
  if (quotas) {
    requireQuota('storedRows', quotas, { used: job.storedRows ?? 0, added: 1 });
    requireQuota('storedBytes', quotas, { used: job.storedBytes ?? 0, added: 1 });
  }
  const written = await writeRecord(job.id);
  await sendLaneToken(boss, tx, partnerId);
  return written;
}

/**
 * Returns whether work that permanently changes ClickHouse may start. If it returns true, no backup can choose its
 * cut until this transaction ends. Uses a lock, not a row, because a lock is released if the backup dies.
 */
export async function tryStartWork(tx: Tx): Promise<boolean> {
  const { rows } = await sql<{ may: boolean }>`
    SELECT pg_try_advisory_xact_lock_shared(${advisoryLocks.backupCut}) AS may`.execute(tx);
  return rows[0]?.may === true;
}
