import { type RawBuilder, sql } from 'kysely';
import { type Job, type PgBoss, type WorkOptions, fromKysely } from 'pg-boss';
import { type AttemptFailure, dependencies } from '../../../domain/attempt-failure.ts';
import { isFailureCode } from '../../../domain/failure-catalog.ts';
import type { BatchId, PartnerId } from '../../../domain/ids.ts';
import { isSmallLoad } from '../../../domain/job.ts';
import type { LaneToken } from '../../../ports/lane-store.ts';
import type { Log } from '../../../ports/observability.ts';
import { attemptFailureOf } from '../../failed-dependency.ts';
import { transientErrorKind } from '../../transient-errors.ts';
import type { Database, Tx } from '../db/tables.ts';
import type { WorkerLiveness } from './worker-liveness.ts';

export const laneQueue = 'lane';
export const fileQueue = 'file';
/** The queue to which pg-boss moves a file token that has used up its retries. */
export const lostFileQueue = 'file-lost';

/**
 * The reasons for a retry: see docs/decisions/failure-recovery.md. `handed_back` means that the worker is shutting
 * down.
 */
export const retryCauses = ['away', 'broke', 'lost', 'failed', 'handed_back'] as const;
export type RecordRetry = (queue: string, cause: (typeof retryCauses)[number]) => void;

/** How many times a token has waited for an unavailable dependency, lost a connection, or lost its worker. */
type RetryCounters = { readonly waits?: number; readonly breaks?: number; readonly lost?: number };
/** The failure of the last attempt. Tokens from the previous release have none. */
type RetryState = RetryCounters & { readonly failure?: AttemptFailure };
export type LanePayload = RetryState & { readonly partnerId: PartnerId };
type FilePayload = RetryState & { readonly fileId: number; readonly isSmall?: boolean };

/**
 * Sends the lane's token in the transaction that changes Inlet's own rows. The queues are `exclusive`. At most one
 * token per lane and per batch is queued or active, and sending another token has no effect. Sending is therefore
 * always safe.
 */
export async function sendLaneToken(boss: PgBoss, tx: Tx, partnerId: PartnerId, afterSeconds = 0): Promise<void> {
  await boss.insert(laneQueue, [{ ...laneToken(partnerId), startAfter: afterSeconds }], { db: fromKysely(tx) });
}

export function laneToken(partnerId: PartnerId): { data: LanePayload; singletonKey: string } {
  return { data: { partnerId }, singletonKey: String(partnerId) };
}

/**
 * Sends a token for each of the first open batches of a job. Only the first batch can use the slots for small loads.
 * Because a partner has only one job in progress, it uses at most one of these slots, even if its storage does not
 * respond.
 */
export async function sendFileTokens(boss: PgBoss, tx: Tx, fileIds: readonly number[]): Promise<void> {
  const [first] = fileIds;
  if (first === undefined) return;
  const isFirstSmall = isSmallLoad(await bytesToLoad(tx, first));
  const tokens = fileIds.map((fileId) => {
    const data = { fileId, isSmall: fileId === first && isFirstSmall } satisfies FilePayload;
    return { data, singletonKey: String(fileId), priority: priorityOf(fileQueue, data) };
  });
  await boss.insert(fileQueue, tokens, { db: fromKysely(tx) });
}

async function bytesToLoad(tx: Tx, batchId: BatchId): Promise<number> {
  const { bytes } = await tx
    .selectFrom('job_file')
    .select(sql<number>`coalesce(sum(size), 0)::bigint`.as('bytes'))
    .where('batch_id', '=', batchId)
    .where('staged', '=', false)
    .executeTakeFirstOrThrow();
  return bytes;
}

/** The priority of small loads. Some slots of each worker take only tokens of this priority. */
const smallPriority = 1;

/**
 * An interrupted lane goes first. For loads, the priority identifies small loads. After a lost connection or a timeout,
 * a small load counts as large. Otherwise, storage that does not respond could repeatedly occupy the slots for small
 * loads.
 */
export function priorityOf(
  queue: string,
  data: RetryCounters & { readonly isSmall?: boolean },
  afterSeconds = 0,
): number {
  if (queue === fileQueue) return data.isSmall === true && (data.breaks ?? 0) === 0 ? smallPriority : 0;
  return afterSeconds > 0 ? 0 : 1;
}

/**
 * Completes the token in the caller's transaction. Matches the retry count too, so that a holder that was replaced
 * completes nothing.
 */
export async function completeLaneToken(boss: PgBoss, tx: Tx, token: LaneToken): Promise<void> {
  await boss.complete(laneQueue, { id: token.id, retryCount: token.retryCount }, null, { db: fromKysely(tx) });
}

/**
 * Returns whether the lane has another active claim because this holder was presumed dead. The caller has locked the
 * lane. `state <= 'active'` matches the predicate of the index on exclusive queues.
 */
export async function isLaneTokenReplaced(tx: Tx, { partnerId, id, retryCount }: LaneToken): Promise<boolean> {
  const { rows } = await sql<{ isReplaced: boolean }>`
    SELECT EXISTS (
      SELECT FROM pgboss.job
      WHERE name = ${laneQueue} AND singleton_key = ${String(partnerId)} AND policy = 'exclusive' AND state <= 'active'
        AND state = 'active' AND (id <> ${id} OR retry_count <> ${retryCount})
    ) AS "isReplaced"`.execute(tx);
  return rows[0]?.isReplaced === true;
}

/** One claim on a token. When a token is assigned again, its retry count is higher. */
export type HeldToken = {
  readonly queue: string;
  readonly id: string;
  readonly retryCount: number;
  readonly singletonKey: string | null;
  readonly data: RetryState & { readonly isSmall?: boolean };
};

export function tokenName({ id, retryCount }: Pick<HeldToken, 'id' | 'retryCount'>): string {
  return `${id}:${retryCount}`;
}

/**
 * Replaces a held token with a new token, without using up a retry. Another worker can claim the new token immediately
 * or after the delay. An interrupted lane goes first. Work that waits for a dependency has no priority, so that it
 * cannot starve other partners. Does nothing if the claim has already ended.
 */
export async function resendToken(
  db: Database,
  boss: PgBoss,
  { queue, id, retryCount, singletonKey, data }: HeldToken,
  afterSeconds = 0,
): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    const transaction = { db: fromKysely(tx) };
    const deleted: object = await boss.deleteJob(queue, { id, retryCount }, transaction);
    if (!('affected' in deleted) || deleted.affected === 0) return false;
    const key = singletonKey === null ? {} : { singletonKey };
    await boss.insert(
      queue,
      [{ data, ...key, startAfter: afterSeconds, priority: priorityOf(queue, data, afterSeconds) }],
      transaction,
    );
    return true;
  });
}

export type WorkHandlers = {
  readonly runLane: (token: LaneToken, signal: AbortSignal) => Promise<void>;
  readonly loadBatch: (batchId: BatchId, signal: AbortSignal) => Promise<void>;
  readonly abandonBatch: (batchId: BatchId) => Promise<void>;
};

type WorkerContext = {
  readonly boss: PgBoss;
  readonly db: Database;
  readonly liveness: WorkerLiveness;
  readonly log: Log;
  readonly recordRetry: RecordRetry;
  /** When this signal is aborted, running work stops and its tokens are returned to the queue. */
  readonly handBack: AbortSignal;
};

/**
 * NOTIFY wakes an idle slot immediately. Polling every two seconds finds tokens whose delay has ended, such as retries.
 */
const options = {
  batchSize: 1,
  pollingIntervalSeconds: 2,
  notifyPollingIntervalSeconds: 2,
  heartbeatRefreshSeconds: 3,
} as const satisfies WorkOptions;

export async function startWork(
  context: WorkerContext,
  handlers: WorkHandlers,
  slots: { lanes: number; files: number },
): Promise<void> {
  const shares = shareSlots(slots.files);
  const files: Work<FilePayload> = {
    queue: fileQueue,
    keyOf: ({ fileId }) => String(fileId),
    handle: ({ data: { fileId, lost = 0 } }, signal) =>
      lost > maxLost ? handlers.abandonBatch(fileId) : handlers.loadBatch(fileId, signal),
  };
  await Promise.all([
    ...slotsOf<LanePayload>(context, slots.lanes, {
      queue: laneQueue,
      keyOf: ({ partnerId }) => String(partnerId),
      handle: ({ id, retryCount, data }, signal) =>
        handlers.runLane({ partnerId: data.partnerId, id, retryCount }, signal),
    }),
    ...slotsOf<FilePayload>(context, shares.small, files, { minPriority: smallPriority }),
    ...slotsOf<FilePayload>(context, shares.large, files, { maxPriority: smallPriority - 1 }),
    ...slotsOf<FilePayload>(context, shares.any, files),
    ...slotsOf<FilePayload>(context, 1, {
      queue: lostFileQueue,
      keyOf: () => null,
      handle: ({ data }) => handlers.abandonBatch(data.fileId),
    }),
  ]);
}

/**
 * Reserves half of the slots for small loads and a quarter (at least one) for large loads. For the remaining slots,
 * pg-boss prefers small loads. Therefore, neither kind can starve the other, unless the worker has only one slot.
 */
export function shareSlots(slots: number): { readonly small: number; readonly large: number; readonly any: number } {
  if (slots < 2) return { small: 0, large: 0, any: slots };
  const small = Math.floor(slots / 2);
  const large = Math.max(1, Math.floor(slots / 4));
  return { small, large, any: slots - small - large };
}

/** Stops claiming tokens in this process. Running handlers continue. */
export async function stopWork(boss: PgBoss): Promise<void> {
  await Promise.all([laneQueue, fileQueue, lostFileQueue].map((queue) => boss.offWork(queue, { wait: false })));
}

type Work<Payload> = {
  readonly queue: string;
  readonly keyOf: (data: Payload) => string | null;
  readonly handle: (job: Job<Payload>, signal: AbortSignal) => Promise<void>;
};

/** How long the lock on a token is kept after its handler returns. pg-boss completes the token a moment later. */
const settleMs = 2_000;

/**
 * Starts one pg-boss worker per slot. After each token, the slot polls immediately instead of waiting for the interval.
 */
function slotsOf<Payload extends RetryState>(
  context: WorkerContext,
  count: number,
  work: Work<Payload>,
  which: Pick<WorkOptions, 'minPriority' | 'maxPriority'> = {},
): Promise<void>[] {
  const { boss, db, liveness, handBack, log, recordRetry } = context;
  return Array.from({ length: count }, async () => {
    let slot = '';
    slot = await boss.work<Payload>(work.queue, { ...options, ...which }, async ([job]) => {
      if (!job) return;
      const { id, retryCount, data } = job;
      const holding: HeldToken = { queue: work.queue, id, retryCount, singletonKey: work.keyOf(data), data };
      const name = tokenName(job);
      // Runs when the signal is aborted, before the handler returns. This is safe because the claim of the next holder
      // prevents this worker from committing.
      const giveBack = (): void => {
        recordRetry(work.queue, 'handed_back');
        resendToken(db, boss, holding).then(
          () => log.info({ queue: work.queue, data }, 'token handed back: worker is shutting down'),
          (error: unknown) => log.warn({ err: error }, 'token could not be handed back'),
        );
      };
      liveness.hold(name);
      handBack.addEventListener('abort', giveBack, { once: true });
      try {
        await work.handle(job, AbortSignal.any([job.signal, handBack]));
      } catch (error) {
        if (!(await passOn(context, holding, error))) throw new FailedAttempt(error);
      } finally {
        handBack.removeEventListener('abort', giveBack);
        setTimeout(() => liveness.release(name), settleMs).unref();
        boss.notifyWorker(slot);
      }
    });
  });
}

/** An attempt that counts. pg-boss stores the error with the token, whose payload it does not change. */
class FailedAttempt extends Error {
  readonly failure: AttemptFailure;

  constructor(cause: unknown) {
    super('The attempt failed.', { cause });
    this.name = 'FailedAttempt';
    this.failure = attemptFailureOf(cause);
  }
}

/** The failure of the last attempt, as JSON, for a token with this alias in a statement. */
export function storedFailure(token: string): RawBuilder<unknown> {
  return sql`coalesce(${sql.ref(`${token}.output`)}->'failure', ${sql.ref(`${token}.data`)}->'failure')`;
}

/** Null if there is no failure. A newer release may have stored a code that this release does not know. */
export function toAttemptFailure(stored: unknown): AttemptFailure | null {
  if (typeof stored !== 'object' || stored === null || !('code' in stored)) return null;
  const { code } = stored;
  if (typeof code !== 'string' || !isFailureCode(code)) return null;
  const dependency = 'dependency' in stored ? dependencies.find((one) => one === stored.dependency) : undefined;
  return { code, dependency: dependency ?? null };
}

/** A batch that has lost more workers than this is abandoned. */
const maxLost = 20;

/** Retry budget while a dependency is down. It lasts about a day. */
const maxWaits = 8_640;
/** Maximum number of lost connections. Above this number, the request itself is probably the cause. */
const maxBreaks = 20;
const longestWaitSeconds = 10;

/**
 * Handles failures that do not use up an attempt. Returns false for all other failures, which pg-boss counts and
 * retries. A worker that is shutting down has already returned its token. While a dependency is down, the token waits
 * with a growing delay.
 */
async function passOn(context: WorkerContext, holding: HeldToken, error: unknown): Promise<boolean> {
  const { db, boss, log, handBack, recordRetry } = context;
  if (handBack.aborted) return true;
  const { waits = 0, breaks = 0 } = holding.data;
  const how = transientErrorKind(error);
  const about = { queue: holding.queue, data: holding.data, retryCount: holding.retryCount, err: error };
  if (how === null || waits >= maxWaits || breaks >= maxBreaks) {
    log.warn(about, 'attempt failed');
    recordRetry(holding.queue, 'failed');
    return false;
  }
  const seconds = Math.ceil(Math.min(longestWaitSeconds, 2 ** waits) * (0.5 + Math.random() / 2));
  log.warn({ ...about, seconds }, how === 'away' ? 'dependency unavailable: waiting' : 'connection lost: waiting');
  recordRetry(holding.queue, how);
  const failure = attemptFailureOf(error);
  const data = { ...holding.data, failure, waits: waits + 1, ...(how === 'broke' ? { breaks: breaks + 1 } : {}) };
  return resendToken(db, boss, { ...holding, data }, seconds);
}
