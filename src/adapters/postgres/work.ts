import type { Job, PgBoss, WorkOptions } from 'pg-boss';
import type { LaneToken } from '../../ports/lane-store.ts';
import type { Log } from '../../ports/log.ts';
import { fileQueue, laneQueue, lostFileQueue, type FilePayload, type LanePayload } from './dispatch.ts';

export type WorkHandlers = {
  readonly runLane: (token: LaneToken, signal: AbortSignal) => Promise<void>;
  readonly loadBatch: (batchId: number, signal: AbortSignal) => Promise<void>;
  readonly giveUpBatch: (batchId: number) => Promise<void>;
};

/** NOTIFY wakes a slot at once; looking every two seconds finds what became due by itself (a retry). */
const options = {
  batchSize: 1,
  pollingIntervalSeconds: 2,
  notifyPollingIntervalSeconds: 2,
  heartbeatRefreshSeconds: 3,
} as const satisfies WorkOptions;

export async function startWork(
  boss: PgBoss,
  handlers: WorkHandlers,
  slots: { lanes: number; files: number },
  log: Log,
): Promise<void> {
  await Promise.all([
    ...slotsOf<LanePayload>(boss, laneQueue, slots.lanes, log, ({ id, retryCount, data, signal }) =>
      handlers.runLane({ partnerId: data.partnerId, id, retryCount }, signal),
    ),
    ...slotsOf<FilePayload>(boss, fileQueue, slots.files, log, ({ data, signal }) =>
      handlers.loadBatch(data.fileId, signal),
    ),
    ...slotsOf<FilePayload>(boss, lostFileQueue, 1, log, ({ data }) => handlers.giveUpBatch(data.fileId)),
  ]);
}

/** One pg-boss worker per slot. After each token a slot looks again at once instead of waiting for its next poll. */
function slotsOf<Payload>(
  boss: PgBoss,
  queue: string,
  count: number,
  log: Log,
  handle: (job: Job<Payload>) => Promise<void>,
): Promise<void>[] {
  return Array.from({ length: count }, async () => {
    let slot = '';
    slot = await boss.work<Payload>(queue, options, async ([job]) => {
      if (!job) return;
      try {
        await handle(job);
      } catch (error) {
        log.warn({ queue, data: job.data, retryCount: job.retryCount, err: error }, 'attempt failed');
        throw error;
      } finally {
        boss.notifyWorker(slot);
      }
    });
  });
}
