import type { PartnerId } from '../../../domain/ids.ts';
import { type PgBoss, fromKysely } from 'pg-boss';
import type { LaneToken } from '../../../ports/lane-store.ts';
import type { Database, Tx } from '../db/tables.ts';

export const laneQueue = 'lane';
export const fileQueue = 'file';
/** Where pg-boss puts a file token that used up its retries. */
export const lostFileQueue = 'file-lost';

/** Why a token is retried: see docs/decisions/failure-recovery.md. `handed_back`: its worker is shutting down. */
export const retryCauses = ['away', 'broke', 'lost', 'failed', 'handed_back'] as const;
export type RecordRetry = (queue: string, cause: (typeof retryCauses)[number]) => void;

/** How often a token waited for an unavailable dependency, lost a connection, or lost its worker. */
export type RetryCounters = { readonly waits?: number; readonly breaks?: number; readonly lost?: number };
export type LanePayload = RetryCounters & { readonly partnerId: PartnerId };
export type FilePayload = RetryCounters & { readonly fileId: number };

/**
 * Tokens are sent and completed in the transaction that changes our own rows. The queues are `exclusive`: at most one
 * token per lane and per batch, queued or active. Sending another is a no-op, so sending is always safe.
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

/** Also matches the retry count, so that a holder that was replaced completes nothing. */
export async function completeLaneToken(boss: PgBoss, tx: Tx, token: LaneToken): Promise<void> {
  await boss.complete(laneQueue, { id: token.id, retryCount: token.retryCount }, null, { db: fromKysely(tx) });
}

/** One claim on a token. A token that is handed out again has a higher retry count. */
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
 * Replaces a held token with a new one of higher priority, without using up a retry. Another worker can claim it
 * immediately or after the delay. Does nothing if the claim has already ended.
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
