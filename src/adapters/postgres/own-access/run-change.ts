import { sql } from 'kysely';
import type { z } from 'zod';
import { type Caller, InvalidApiKey, InvalidCredentials } from '../../../domain/caller.ts';
import { Failure } from '../../../domain/failure.ts';
import type { PartnerId } from '../../../domain/ids.ts';
import { actorOfCaller } from '../../../domain/own-access.ts';
import type { OwnChange } from '../../../ports/own-access.ts';
import type { KeyCreator } from '../api-key-store.ts';
import type { Database, Tx } from '../db/tables.ts';
import { type RequestRecords, runIdempotently } from '../idempotency-store.ts';
import { lockLane } from '../lane/lane-store.ts';

export type OwnChangeDeps = { readonly db: Database; readonly requests: RequestRecords };

type Options<Result> = {
  /** The schema of the result, which is stored for the idempotency key. */
  readonly result: z.ZodType<Result>;
  /** False for changes that revoke access, which are accepted even above the quota for idempotency keys. */
  readonly hasQuota?: boolean;
  /** False for a step that is committed before the change itself. */
  readonly isStored?: boolean;
  /** Makes other changes wait. By default, locks the partner, which also delays its jobs. */
  readonly lock?: (tx: Tx, partnerId: PartnerId) => Promise<unknown>;
};

/**
 * Runs a change that a partner makes. The changes of one partner run one at a time, so that counts and the check for
 * the last key are exact. The triggers of the audit log name the caller.
 */
export async function runOwnChange<Result>(
  deps: OwnChangeDeps,
  { caller, idempotency }: OwnChange,
  { result, hasQuota = true, isStored = true, lock = lockLane }: Options<Result>,
  work: (tx: Tx, creator: KeyCreator) => Promise<Result>,
): Promise<Result> {
  const partnerId = caller.partner.id;
  return runIdempotently(deps, { partnerId, idempotency, result, hasQuota, isStored }, async (tx) => {
    const createdBy = actorOfCaller(caller);
    // Some functions need the partner, which is not set on the connections if the installation does not use the API
    // role.
    await sql`SELECT set_config('inlet.actor', ${createdBy}, true), set_config('inlet.partner', ${String(partnerId)}, true)`.execute(
      tx,
    );
    await lock(tx, partnerId);
    return work(tx, { createdBy, expiresBy: await lockKeyOf(tx, caller) });
  });
}

/**
 * Returns when the caller's key expires. Null if it never expires, or if the caller signed in without a key. The lock
 * makes a concurrent revocation wait, so that a revoked key changes nothing after the revocation has returned.
 */
async function lockKeyOf(tx: Tx, { partner, keyId, session }: Caller): Promise<Date | null> {
  const usedKeyId = session ? await keyOfSession(tx, session.id) : keyId;
  if (usedKeyId === null) return null;
  const { rows } = await sql<{ expires_at: Date | null }>`
    SELECT expires_at FROM api_key
    WHERE partner_id = ${partner.id} AND id = ${usedKeyId} AND revoked_at IS NULL AND coalesce(expires_at > now(), true)
    FOR SHARE`.execute(tx);
  const [key] = rows;
  if (!key) throw new InvalidApiKey(session ? null : { partner, keyId: usedKeyId });
  return key.expires_at;
}

/** Throws if the session ended during the request, because its key, and the limits of the key, are then unknown. */
async function keyOfSession(tx: Tx, sessionId: number): Promise<number | null> {
  const { rows } = await sql<{ id: number | null }>`SELECT id FROM key_of_session(${sessionId}) AS id`.execute(tx);
  const [found] = rows;
  if (!found) throw new InvalidCredentials('The session has ended. Sign in again.');
  return found.id;
}

export function notFound(kind: string, id: number | string): Failure {
  return new Failure('not_found', `${kind} ${id} does not exist.`);
}
