import { sql } from 'kysely';
import type { PgBoss } from 'pg-boss';
import { errorOfJob } from '../../../domain/import-log.ts';
import { cancelledBeforeStart } from '../../../domain/job-outcome.ts';
import { jobKind, jobStatus, openStatuses } from '../../../domain/job.ts';
import type {
  LaneJob,
  AudienceJob,
  ImportJob,
  LaneStep,
  LaneToken,
  CountsBefore,
  StagedLoad,
} from '../../../ports/lane-store.ts';
import { mayBegin } from '../control-backup.ts';
import type { Tx, Database } from '../db/tables.ts';
import { toImportMode, toJobKind, toKeyType } from '../db/tables.ts';
import { type LoadRow, isOfAudience, loadColumns, toLoad, toSource } from '../loaded-files.ts';
import { completeLaneToken, sendFileTokens } from '../queue/tokens.ts';
import { cancelFiles, endJobIn } from './end-job.ts';

/** Before any other lock: nobody else looks at the lane or adds to it until the transaction ends. */
export async function lockLane(tx: Tx, partnerId: number): Promise<{ prefix: string }> {
  return tx
    .selectFrom('partner')
    .select('prefix')
    .where('id', '=', partnerId)
    .forNoKeyUpdate() // as strong as a new job's UPDATE, but not in the way of rows that refer to the partner
    .executeTakeFirstOrThrow();
}

async function lockOldestOpenJob(
  tx: Tx,
  partnerId: number,
  prefix: string,
): Promise<{ job: LaneJob; isStarted: boolean; isCancelled: boolean } | null> {
  const row = await tx
    .selectFrom('job')
    .leftJoin('import_log as log', 'log.job_id', 'job.id')
    .leftJoin('audience_load as load', 'load.job_id', 'job.id')
    .select(['job.id', 'job.kind', 'job.seq', 'job.listed_at', 'job.cancelled'])
    .select(['log.file_path as import_path', 'log.path_type', 'log.key_type', 'log.compressed', 'log.mode'])
    .select(['log.attribute_ids', 'load.audience_id', 'load.generation', 'load.file_path as audience_path'])
    .where('job.partner_id', '=', partnerId)
    .where('job.status', 'in', openStatuses)
    .orderBy('job.seq')
    .limit(1)
    .forUpdate('job')
    .executeTakeFirst();
  if (!row) return null;
  const state = { isStarted: row.listed_at !== null, isCancelled: row.cancelled };
  const kind = toJobKind(row.kind);
  const base = { id: row.id, partnerId, seq: row.seq };
  if (kind === jobKind.delete) return { ...state, job: { ...base, kind, attributeIds: row.attribute_ids ?? [] } };
  const filePath = row.import_path ?? row.audience_path ?? '';
  const source = toSource({ ...row, job_id: row.id, partner_id: partnerId, file_path: filePath });
  if (kind === jobKind.audience) {
    if (!isOfAudience(row)) throw new Error(`job ${row.id} has no audience`);
    const { audience_id: audienceId, generation } = row;
    return { ...state, job: { ...base, kind, source, prefix, audienceId, generation } };
  }
  return {
    ...state,
    job: {
      ...base,
      kind,
      source,
      prefix,
      keyType: toKeyType(row.key_type ?? -1),
      compressed: row.compressed,
      mode: toImportMode(row.mode ?? ''),
    },
  };
}

/**
 * One look at the lane under its locks. Whoever could wake the lane (a new job, a file that ended) takes one of the
 * same locks before it sends a token, so either we see what it did, or it sends after our token is given back:
 * no wake-up is lost.
 */
export async function nextStep(db: Database, boss: PgBoss, token: LaneToken, filesOut: number): Promise<LaneStep> {
  return db.transaction().execute(async (tx): Promise<LaneStep> => {
    const { prefix } = await lockLane(tx, token.partnerId);
    if (!(await mayBegin(tx))) {
      // The backup wakes all lanes when it lets them go on, and should it die, the sweeper does.
      await completeLaneToken(boss, tx, token);
      return { do: 'rest' };
    }
    const cancelled = await findCancelledJob(tx, token.partnerId);
    if (cancelled) return { do: 'clean', ...cancelled };
    const found = await lockNextJob(tx, token.partnerId, prefix);
    if (found && !found.isStarted) return { do: 'prepare', job: found.job };
    if (found) {
      const { job } = found;
      if (job.kind === 'delete') return { do: 'finish', job };
      const batchesOut = await sendBatchesOut(boss, tx, job.id, filesOut);
      const settle = job.kind === 'audience' ? settleMembers(tx, job, batchesOut) : settleAttributes(tx, job);
      const step = (await settle) ?? (batchesOut === 0 ? ({ do: 'finish', job } as const) : null);
      if (step) return step;
    }
    await completeLaneToken(boss, tx, token);
    return { do: 'rest' };
  });
}

async function lockNextJob(tx: Tx, partnerId: number, prefix: string): ReturnType<typeof lockOldestOpenJob> {
  const found = await lockOldestOpenJob(tx, partnerId, prefix);
  if (!found?.isCancelled) return found;
  await endCancelledJobs(tx, partnerId);
  return lockOldestOpenJob(tx, partnerId, prefix);
}

async function settleAttributes(tx: Tx, job: ImportJob): Promise<LaneStep | null> {
  const loads = await takeStagedLoads(tx, job.id);
  return loads.length === 0 ? null : { do: 'settle', job, loads };
}

/** An audience of fewer is counted in no time: nothing waits. */
const cheapRows = 250_000;

/** So many devices are counted in some seconds: fewer can wait for others, while these are on their way. */
const fewRows = 20_000_000;

/** But not for long: one of the others may have to be tried again and again. */
const longestWaitSeconds = 60;

/**
 * Every settling may count the whole audience. So that many files do not count it over and over, they wait until there
 * is nothing else to wait for, or until they bring as much as there is, or for a minute.
 */
async function settleMembers(tx: Tx, job: AudienceJob, batchesOut: number): Promise<LaneStep | null> {
  const before = await countsBefore(tx, job.audienceId);
  const waiting = await whatWaits(tx, job.id, longestWaitSeconds);
  const isCheap = before.unique + waiting.rows < cheapRows;
  const mayWait = batchesOut > 0 && !isCheap && !waiting.isLong && waiting.rows < Math.max(fewRows, before.unique);
  const loads = mayWait ? [] : await takeStagedLoads(tx, job.id);
  return loads.length === 0 ? null : { do: 'settle', job, loads, before };
}

/** A job that a clear has cancelled may have left something in the engine. */
async function findCancelledJob(tx: Tx, partnerId: number): Promise<{ jobId: number; loadIds: number[] } | null> {
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
 * Read before anything is counted: the version is noted with the counts, and whatever an import brings while they are
 * counted makes them old.
 */
async function countsBefore(tx: Tx, audienceId: number): Promise<CountsBefore> {
  const { rows } = await sql<{ unique_devices: number; matched_devices: number; version: number; known: number }>`
    SELECT unique_devices, matched_devices, matched_version AS version,
      (SELECT last_value FROM known_devices_version) AS known
    FROM audience WHERE id = ${audienceId}
  `.execute(tx);
  const [row] = rows;
  if (!row) throw new Error(`audience ${audienceId} is not there`);
  return {
    unique: row.unique_devices,
    matched: row.matched_devices,
    knownVersion: row.known,
    isMatchedCurrent: row.version === row.known,
  };
}

/**
 * Sends the first batches of a job that are not staged yet; gives how many that are. Also those that are out already: it
 * changes nothing, and mends one whose token was lost. The caller holds the job's row.
 */
export async function sendBatchesOut(boss: PgBoss, tx: Tx, jobId: number, limit: number): Promise<number> {
  const batches = await tx
    .selectFrom('job_file')
    .select('batch_id')
    .where('job_id', '=', jobId)
    .where('status', 'in', openStatuses)
    .where('staged', '=', false)
    .groupBy('batch_id')
    .orderBy('batch_id')
    .limit(limit)
    .execute();
  await sendFileTokens(
    boss,
    tx,
    batches.map(({ batch_id }) => batch_id),
  );
  return batches.length;
}

type StagedRow = LoadRow & {
  file_id: number;
  publish_attempts: number;
  accepted_rows: number;
  uploaded_devices: number;
  size: number;
};

/** Every load of the job that waits to be published, and how often it has been taken now. */
async function takeStagedLoads(tx: Tx, jobId: number): Promise<StagedLoad[]> {
  const { rows } = await sql<StagedRow>`
    UPDATE job_file f SET publish_attempts = f.publish_attempts + 1
    FROM job j LEFT JOIN import_log l ON l.job_id = j.id LEFT JOIN audience_load a ON a.job_id = j.id
    WHERE f.job_id = ${jobId} AND j.id = f.job_id AND f.staged AND f.status = ${jobStatus.running}
    RETURNING f.id AS file_id, f.load_id, f.publish_attempts, f.accepted_rows, f.uploaded_devices, f.size, ${loadColumns}
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
      // A good file has a good row, and so a device.
      isCounted: files.every(({ uploaded_devices }) => uploaded_devices > 0),
      publishAttempt: first.publish_attempts,
    };
  });
}

/** The good rows of the files that wait to be published, and whether one has waited for longer than so many seconds. */
async function whatWaits(
  tx: Tx,
  jobId: number,
  seconds: number,
): Promise<{ readonly rows: number; readonly isLong: boolean }> {
  const { rows, is_long } = await tx
    .selectFrom('job_file')
    .select([
      sql<number>`coalesce(sum(accepted_rows), 0)::bigint`.as('rows'),
      sql<boolean>`coalesce(min(updated_at) < now() - make_interval(secs => ${seconds}), false)`.as('is_long'),
    ])
    .where('job_id', '=', jobId)
    .where('staged', '=', true)
    .where('status', '=', jobStatus.running)
    .executeTakeFirstOrThrow();
  return { rows, isLong: is_long };
}

/**
 * Ends the jobs at the head of the lane that were cancelled before they started: when their turn has come, so that the
 * jobs of a partner end in the order asked. The caller holds the lane. One that has files after all was started by a
 * worker of the version before, which did not know: nobody can claim them.
 */
export async function endCancelledJobs(tx: Tx, partnerId: number): Promise<void> {
  const failure = cancelledBeforeStart();
  for (;;) {
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
    if (head.listed_at !== null) return cancelFiles(tx, head.id);
    await endJobIn(tx, head.id, { failure, errors: [errorOfJob(failure)], hasStarted: false, uniqueDevices: 0 });
  }
}
