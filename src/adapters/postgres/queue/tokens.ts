import type { PartnerId } from '../../../domain/ids.ts';
import { type PgBoss, fromKysely } from 'pg-boss';
import type { LaneToken } from '../../../ports/lane-store.ts';
import type { Tx } from '../db/tables.ts';

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
