import type { PartnerId } from '../../domain/ids.ts';
import { sql } from 'kysely';
import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { z } from 'zod';
import { Failure } from '../../domain/failure.ts';
import { type IdempotentRequest, acceptedRequestHours } from '../../domain/idempotency.ts';
import { defaultQuotas, requireQuota } from '../../domain/quota.ts';
import type { AcceptedRequests } from '../../ports/request-store.ts';
import { advisoryLocks } from './db/advisory-locks.ts';
import type { Tx, Database } from './db/tables.ts';

type RequestKey = { readonly partnerId: PartnerId; readonly keyHash: Buffer };
type StoredRequest = { readonly fingerprint: Uint8Array; readonly result: unknown };

/** Stores call these functions in their own transactions, so that a request is stored together with its effect. */
export type RequestRecords = AcceptedRequests & {
  /** Returns false while another request with this key is running. The claim lasts until the transaction ends. */
  readonly claim: (tx: Tx, key: RequestKey) => Promise<boolean>;
  readonly find: (tx: Tx, key: RequestKey) => Promise<StoredRequest | null>;
  /** Fails with `quota_exceeded` if the partner has as many recorded requests as it can have. */
  readonly requireRoom: (tx: Tx, partnerId: PartnerId) => Promise<void>;
  /** Stores the request, replacing any expired one. The caller holds the claim. */
  readonly save: (tx: Tx, key: RequestKey, request: StoredRequest) => Promise<void>;
};

export function postgresAcceptedRequests(db: Database, quotas = defaultQuotas): RequestRecords {
  return {
    claim: claimKey,
    find: selectRequest,
    requireRoom: async (tx, partnerId) => {
      requireQuota('idempotencyKeys', quotas, { used: await countRecorded(tx, partnerId), added: 1 });
    },
    save: saveRequest,
    deleteExpired: (limit) => deleteExpired(db, limit),
  };
}

type Deps = { readonly db: Database; readonly requests: RequestRecords };

type Run<Result> = {
  readonly partnerId: PartnerId;
  /** Null if the request has no idempotency key. */
  readonly idempotency: IdempotentRequest | null;
  readonly result: z.ZodType<Result>;
  /** False for requests such as deletes and clears, which are accepted even above the quota for idempotency keys. */
  readonly hasQuota?: boolean;
  /** False for a step that is committed before the effect. It runs again if the request is repeated before its effect. */
  readonly isStored?: boolean;
};

/** The maximum wait for another request with the same key. Submitting a job takes a few milliseconds. */
const maxWaitMs = 2_000;
const pollEveryMs = 40;

/**
 * Runs `work` in a transaction, at most once per idempotency key. The result is stored in the same transaction, so an
 * effect never exists without its result. A concurrent request with the same key holds no connection while it waits.
 */
export async function runIdempotently<Result>(
  { db, requests }: Deps,
  { partnerId, idempotency, result: schema, hasQuota = true, isStored = true }: Run<Result>,
  work: (tx: Tx) => Promise<Result>,
): Promise<Result> {
  if (!idempotency) return db.transaction().execute(work);
  const { fingerprints } = idempotency;
  const key = { partnerId, keyHash: createHash('sha256').update(idempotency.key).digest() };
  const end = performance.now() + maxWaitMs;
  while (performance.now() < end) {
    const done = await db.transaction().execute(async (tx) => {
      const isClaimed = await requests.claim(tx, key);
      // Runs after the claim and in a separate statement, so that it reads the result that the previous holder
      // committed.
      const stored = await requests.find(tx, key);
      if (stored) return { result: replay(stored, fingerprints, schema), isReplayed: true };
      if (!isClaimed) return null;
      // Runs before the work, because a rollback does not undo what the work does outside the database.
      if (hasQuota) await requests.requireRoom(tx, partnerId);
      const result = await work(tx);
      if (isStored) await requests.save(tx, key, { fingerprint: fingerprints[0], result });
      return { result, isReplayed: false };
    });
    if (done?.isReplayed) idempotency.onReplay();
    if (done) return done.result;
    await pause(pollEveryMs * (0.5 + Math.random()));
  }
  throw new Failure('idempotency_key_in_use', 'Another request with this Idempotency-Key is still running.');
}

function replay<Result>(
  stored: StoredRequest,
  fingerprints: IdempotentRequest['fingerprints'],
  schema: z.ZodType<Result>,
): Result {
  if (!fingerprints.some((fingerprint) => Buffer.from(stored.fingerprint).equals(fingerprint))) {
    throw new Failure('idempotency_key_reused', 'This Idempotency-Key was used for a different request.');
  }
  return schema.parse(stored.result);
}

async function claimKey(tx: Tx, { partnerId, keyHash }: RequestKey): Promise<boolean> {
  const name = `${partnerId} ${keyHash.toString('hex')}`;
  const { rows } = await sql<{ claimed: boolean }>`
    SELECT pg_try_advisory_xact_lock(hashtextextended(${name}, ${advisoryLocks.idempotencyKey})) AS claimed`.execute(
    tx,
  );
  return rows[0]?.claimed === true;
}

/** A request accepted before this time has expired, even if it has not been deleted yet. */
const expiredBefore = sql<Date>`now() - make_interval(hours => ${sql.lit(acceptedRequestHours)})`;

async function selectRequest(tx: Tx, key: RequestKey): Promise<StoredRequest | null> {
  const found = await tx
    .selectFrom('accepted_request')
    .select(['fingerprint', 'result'])
    .where('partner_id', '=', key.partnerId)
    .where('key_hash', '=', key.keyHash)
    .where('accepted_at', '>', expiredBefore)
    .executeTakeFirst();
  return found ?? null;
}

/**
 * Returns the number of recorded requests as of the last measurement. If older requests were deleted early, or if a
 * request were not recorded, a request could run twice. A request above the quota is therefore rejected, and the caller
 * can send it without a key.
 */
async function countRecorded(tx: Tx, partnerId: PartnerId): Promise<number> {
  // A subquery fails if it also returns the row of another partner.
  const { rows } = await sql<{ recorded: number | null }>`
    SELECT (SELECT idempotency_keys FROM partner_usage WHERE partner_id = ${partnerId}) AS recorded`.execute(tx);
  return rows[0]?.recorded ?? 0;
}

async function saveRequest(
  tx: Tx,
  { partnerId, keyHash }: RequestKey,
  { fingerprint, result }: StoredRequest,
): Promise<void> {
  const values = { fingerprint: Buffer.from(fingerprint), result: JSON.stringify(result) };
  const saved = await tx
    .insertInto('accepted_request')
    .values({ partner_id: partnerId, key_hash: keyHash, ...values })
    .onConflict((conflict) =>
      conflict
        .columns(['partner_id', 'key_hash'])
        .doUpdateSet({ ...values, accepted_at: sql<Date>`now()` })
        .where('accepted_request.accepted_at', '<=', expiredBefore),
    )
    .returning('partner_id')
    .executeTakeFirst();
  // The claim prevents this case. If it occurs anyway, the error rolls the transaction back.
  if (!saved) throw new Error('a request with the same idempotency key ran concurrently');
}

/** Deletes up to `limit` expired requests, oldest first. Later calls delete the rest. */
async function deleteExpired(db: Database, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    DELETE FROM accepted_request WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM accepted_request WHERE accepted_at <= ${expiredBefore} ORDER BY accepted_at LIMIT ${limit}
      FOR UPDATE SKIP LOCKED))`.execute(db);
  return Number(numAffectedRows ?? 0);
}
