import type { PartnerId } from '../../../domain/ids.ts';
import { type PgBoss, fromKysely } from 'pg-boss';
import type { LaneToken } from '../../../ports/lane-store.ts';
import type { Database, Tx } from '../db/tables.ts';

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

/** How often a token has waited for an unavailable dependency, lost a connection, or lost its worker. */
export type RetryCounters = { readonly waits?: number; readonly breaks?: number; readonly lost?: number };
export type LanePayload = RetryCounters & { readonly partnerId: PartnerId };
export type FilePayload = RetryCounters & { readonly fileId: number };

/**
 * Sends the lane's token in the transaction that changes Inlet's own rows. The queues are `exclusive`. At most one
 * token per lane and per batch is queued or active, and sending another token has no effect. Sending is therefore
 * always safe.
 */
export async function sendLaneToken(boss: PgBoss, tx: Tx, partnerId: PartnerId): Promise<void> {
  await boss.insert(laneQueue, [laneToken(partnerId)], { db: fromKysely(tx) });
}

export function laneToken(partnerId: PartnerId): { data: LanePayload; singletonKey: string } {
  return { data: { partnerId }, singletonKey: String(partnerId) };
}

export async function sendFileTokens(boss: PgBoss, tx: Tx, fileIds: readonly number[]): Promise<void> {
  if (fileIds.length === 0) return;
  const tokens = fileIds.map((fileId) => ({ data: { fileId } satisfies FilePayload, singletonKey: String(fileId) }));
  await boss.insert(fileQueue, tokens, { db: fromKysely(tx) });
}

/**
 * Completes the token in the caller's transaction. Matches the retry count too, so that a holder that was replaced
 * completes nothing.
 */
export async function completeLaneToken(boss: PgBoss, tx: Tx, token: LaneToken): Promise<void> {
  await boss.complete(laneQueue, { id: token.id, retryCount: token.retryCount }, null, { db: fromKysely(tx) });
}

/** One claim on a token. When a token is assigned again, its retry count is higher. */
export type HeldToken = {
  readonly queue: string;
  readonly id: string;
  readonly retryCount: number;
  readonly singletonKey: string | null;
  readonly data: RetryCounters;
};

export function tokenName({ id, retryCount }: Pick<HeldToken, 'id' | 'retryCount'>): string {
  return `${id}:${retryCount}`;
}

/**
 * Replaces a held token with a new token of higher priority, without using up a retry. Another worker can claim the new
 * token immediately or after the delay. Does nothing if the claim has already ended.
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
    await boss.insert(queue, [{ data, ...key, startAfter: afterSeconds, priority: 1 }], transaction);
    return true;
  });
}
