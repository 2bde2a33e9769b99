import type { BatchId } from '../../../domain/ids.ts';
import type { Job, PgBoss, WorkOptions } from 'pg-boss';
import type { LaneToken } from '../../../ports/lane-store.ts';
import type { Log } from '../../../ports/observability.ts';
import { transientErrorKind } from '../../transient-errors.ts';
import type { Database } from '../db/tables.ts';
import { type HeldToken, tokenName, resendToken } from './token-recovery.ts';
import {
  type RetryCounters,
  type FilePayload,
  type LanePayload,
  type NoteRetry,
  fileQueue,
  laneQueue,
  lostFileQueue,
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
  readonly presence: WorkerLiveness;
  readonly log: Log;
  readonly noteRetry: NoteRetry;
  /** When it is aborted, what runs is stopped and given to other workers. */
  readonly handBack: AbortSignal;
};

/** NOTIFY wakes a slot at once; looking every two seconds finds what became due by itself (a retry). */
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
        lost > mostLost ? handlers.abandonBatch(fileId) : handlers.loadBatch(fileId, signal),
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

/** pg-boss says that a token is done a moment after its handler has ended. */
const settleMs = 2_000;

/** One pg-boss worker per slot. After each token a slot looks again at once instead of waiting for its next poll. */
function slotsOf<Payload extends RetryCounters>(
  context: WorkerContext,
  count: number,
  work: Work<Payload>,
): Promise<void>[] {
  const { boss, db, presence, handBack, log, noteRetry } = context;
  return Array.from({ length: count }, async () => {
    let slot = '';
    slot = await boss.work<Payload>(work.queue, options, async ([job]) => {
      if (!job) return;
      const { id, retryCount, data } = job;
      const holding: HeldToken = { queue: work.queue, id, retryCount, singletonKey: work.keyOf(data), data };
      const name = tokenName(job);
      // At once, not when the handler has ended: whoever takes it over makes this one powerless.
      const giveBack = (): void => {
        noteRetry(work.queue, 'handed_back');
        resendToken(db, boss, holding).then(
          () => log.info({ queue: work.queue, data }, 'handed back: this worker is being stopped'),
          (error: unknown) => log.warn({ err: error }, 'could not be handed back'),
        );
      };
      presence.hold(name);
      handBack.addEventListener('abort', giveBack, { once: true });
      try {
        await work.handle(job, AbortSignal.any([job.signal, handBack]));
      } catch (error) {
        if (!(await passOn(context, holding, error))) throw error;
      } finally {
        handBack.removeEventListener('abort', giveBack);
        setTimeout(() => presence.release(name), settleMs).unref();
        boss.notifyWorker(slot);
      }
    });
  });
}

/** A file that takes its worker down with it must not do so for ever. */
const mostLost = 20;

/** So long a server may be away: about a day. */
const mostWaits = 8_640;
/** A connection that breaks each time may be broken by what is asked. */
const mostBreaks = 20;
const longestWaitSeconds = 10;

/**
 * What no attempt is to blame for uses up none: a worker that is being stopped has handed its token over; while a server
 * is away the token waits, each time longer. Everything else is pg-boss's: counted, and tried again.
 */
async function passOn(context: WorkerContext, holding: HeldToken, error: unknown): Promise<boolean> {
  const { db, boss, log, handBack, noteRetry } = context;
  if (handBack.aborted) return true;
  const { waits = 0, breaks = 0 } = holding.data;
  const how = transientErrorKind(error);
  const about = { queue: holding.queue, data: holding.data, retryCount: holding.retryCount, err: error };
  if (how === null || waits >= mostWaits || breaks >= mostBreaks) {
    log.warn(about, 'attempt failed');
    noteRetry(holding.queue, 'failed');
    return false;
  }
  const seconds = Math.ceil(Math.min(longestWaitSeconds, 2 ** waits) * (0.5 + Math.random() / 2));
  log.warn({ ...about, seconds }, how === 'away' ? 'a server is away: waiting' : 'a connection broke: waiting');
  noteRetry(holding.queue, how);
  const data = { ...holding.data, waits: waits + 1, ...(how === 'broke' ? { breaks: breaks + 1 } : {}) };
  return resendToken(db, boss, { ...holding, data }, seconds);
}
