import type { BatchId } from '../../../domain/ids.ts';
import type { Job, PgBoss, WorkOptions } from 'pg-boss';
import type { LaneToken } from '../../../ports/lane-store.ts';
import type { Log } from '../../../ports/observability.ts';
import { transientErrorKind } from '../../transient-errors.ts';
import type { Database } from '../db/tables.ts';
import {
  type FilePayload,
  type HeldToken,
  type LanePayload,
  type RecordRetry,
  type RetryCounters,
  fileQueue,
  laneQueue,
  lostFileQueue,
  resendToken,
  tokenName,
} from './tokens.ts';
import type { WorkerLiveness } from './worker-liveness.ts';

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
  await Promise.all([
    ...slotsOf<LanePayload>(context, slots.lanes, {
      queue: laneQueue,
      keyOf: ({ partnerId }) => String(partnerId),
      handle: ({ id, retryCount, data }, signal) =>
        handlers.runLane({ partnerId: data.partnerId, id, retryCount }, signal),
    }),
    ...slotsOf<FilePayload>(context, slots.files, {
      queue: fileQueue,
      keyOf: ({ fileId }) => String(fileId),
      handle: ({ data: { fileId, lost = 0 } }, signal) =>
        lost > maxLost ? handlers.abandonBatch(fileId) : handlers.loadBatch(fileId, signal),
    }),
    ...slotsOf<FilePayload>(context, 1, {
      queue: lostFileQueue,
      keyOf: () => null,
      handle: ({ data }) => handlers.abandonBatch(data.fileId),
    }),
  ]);
}

type Work<Payload> = {
  readonly queue: string;
  readonly keyOf: (data: Payload) => string | null;
  readonly handle: (job: Job<Payload>, signal: AbortSignal) => Promise<void>;
};

/**
 * How long the lock on a token is kept after its handler returns. pg-boss completes the token a moment after the
 * handler returns.
 */
const settleMs = 2_000;

/**
 * Starts one pg-boss worker per slot. After each token, the slot polls immediately and does not wait for the interval.
 */
function slotsOf<Payload extends RetryCounters>(
  context: WorkerContext,
  count: number,
  work: Work<Payload>,
): Promise<void>[] {
  const { boss, db, liveness, handBack, log, recordRetry } = context;
  return Array.from({ length: count }, async () => {
    let slot = '';
    slot = await boss.work<Payload>(work.queue, options, async ([job]) => {
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
        if (!(await passOn(context, holding, error))) throw error;
      } finally {
        handBack.removeEventListener('abort', giveBack);
        setTimeout(() => liveness.release(name), settleMs).unref();
        boss.notifyWorker(slot);
      }
    });
  });
}

/** A batch that has lost more workers than this is abandoned. */
const maxLost = 20;

/** Retry budget while a dependency is down. It lasts about a day. */
const maxWaits = 8_640;
/** Maximum number of lost connections. After that, the request itself may be the cause. */
const maxBreaks = 20;
const longestWaitSeconds = 10;

/**
 * Handles failures that do not use up an attempt. Returns false for all others, which pg-boss counts and retries. A
 * worker that is shutting down has already returned its token. While a dependency is down, the token waits with a
 * growing delay.
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
  const data = { ...holding.data, waits: waits + 1, ...(how === 'broke' ? { breaks: breaks + 1 } : {}) };
  return resendToken(db, boss, { ...holding, data }, seconds);
}
