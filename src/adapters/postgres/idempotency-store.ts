import { sql } from 'kysely';
import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { z } from 'zod';
import { Failure } from '../../domain/failure.ts';
import { type IdempotentRequest, acceptedRequestHours } from '../../domain/idempotency.ts';
import type { AcceptedRequests } from '../../ports/request-store.ts';
import { advisoryLocks } from './db/advisory-locks.ts';
import type { Tx, Database } from './db/tables.ts';

type RequestName = { readonly partnerId: number; readonly keyHash: Buffer };
type KeptRequest = { readonly fingerprint: Uint8Array; readonly result: unknown };

/** What the stores need to carry a request out once: in their own transactions, so that it is kept with what it did. */
export type RequestRecords = AcceptedRequests & {
  readonly take: (tx: Tx, name: RequestName) => Promise<boolean>;
  readonly find: (tx: Tx, name: RequestName) => Promise<KeptRequest | null>;
  readonly keep: (tx: Tx, name: RequestName, request: KeptRequest) => Promise<void>;
};

/** What was accepted before counts no more, whether it was removed yet or not. */
const endOfTime = sql<Date>`now() - make_interval(hours => ${sql.lit(acceptedRequestHours)})`;

/** False when another request with this key is being carried out. Held to the end of the transaction. */
async function takeKey(tx: Tx, { partnerId, keyHash }: RequestName): Promise<boolean> {
  const name = `${partnerId} ${keyHash.toString('hex')}`;
  const { rows } = await sql<{ taken: boolean }>`
    SELECT pg_try_advisory_xact_lock(hashtextextended(${name}, ${advisoryLocks.idempotencyKey})) AS taken`.execute(tx);
  return rows[0]?.taken === true;
}

async function selectRequest(tx: Tx, name: RequestName): Promise<KeptRequest | null> {
  const found = await tx
    .selectFrom('accepted_request')
    .select(['fingerprint', 'result'])
    .where('partner_id', '=', name.partnerId)
    .where('key_hash', '=', name.keyHash)
    .where('accepted_at', '>', endOfTime)
    .executeTakeFirst();
  return found ?? null;
}

/**
 * In the place of one whose time is over. Whoever calls this holds the key, so there is no other; should there be one all
 * the same, nothing of the transaction may stay.
 */
async function insertRequest(
  tx: Tx,
  { partnerId, keyHash }: RequestName,
  { fingerprint, result }: KeptRequest,
): Promise<void> {
  const values = { fingerprint: Buffer.from(fingerprint), result: JSON.stringify(result) };
  const kept = await tx
    .insertInto('accepted_request')
    .values({ partner_id: partnerId, key_hash: keyHash, ...values })
    .onConflict((conflict) =>
      conflict
        .columns(['partner_id', 'key_hash'])
        .doUpdateSet({ ...values, accepted_at: sql<Date>`now()` })
        .where('accepted_request.accepted_at', '<=', endOfTime),
    )
    .returning('partner_id')
    .executeTakeFirst();
  if (!kept) throw new Error('a request with the same key was carried out at the same time');
}

/** A bounded number, the oldest first: what is left comes with the next call. */
async function deleteOld(db: Database, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    DELETE FROM accepted_request WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM accepted_request WHERE accepted_at <= ${endOfTime} ORDER BY accepted_at LIMIT ${limit}
      FOR UPDATE SKIP LOCKED))`.execute(db);
  return Number(numAffectedRows ?? 0);
}

type Deps = { readonly db: Database; readonly requests: RequestRecords };

/** Whose request it is, how it is known again, and of what form its result is. */
type Repeatable<Result> = {
  readonly partnerId: number;
  readonly once: IdempotentRequest | null;
  readonly result: z.ZodType<Result>;
};

/** So long a request waits for another with its key; a job is made in a few milliseconds. */
const longestWaitMilliseconds = 2_000;
const lookEveryMilliseconds = 40;

/**
 * Does the work in a transaction, and once: its result is kept in the same transaction, so that there is never the one
 * without the other. Whoever comes while it is being done holds no connection while waiting.
 */
export async function runIdempotently<Result>(
  deps: Deps,
  request: Repeatable<Result>,
  work: (tx: Tx) => Promise<Result>,
): Promise<Result> {
  const { once } = request;
  if (!once) return deps.db.transaction().execute(work);
  const end = performance.now() + longestWaitMilliseconds;
  while (performance.now() < end) {
    const done = await deps.db.transaction().execute((tx) => attempt(tx, deps.requests, { ...request, once }, work));
    if (done?.isReplayed) once.noteReplay();
    if (done) return done.result;
    await pause(lookEveryMilliseconds * (0.5 + Math.random()));
  }
  throw new Failure('idempotency_key_in_use', 'A request with this Idempotency-Key is still being carried out.');
}

/** Null while another is at it. */
async function attempt<Result>(
  tx: Tx,
  requests: RequestRecords,
  request: Repeatable<Result> & { readonly once: IdempotentRequest },
  work: (tx: Tx) => Promise<Result>,
): Promise<{ readonly result: Result; readonly isReplayed: boolean } | null> {
  const name = nameOf(request);
  const isMine = await requests.take(tx, name);
  // After the key is taken, and in a statement of its own: it sees what the one before has committed.
  const kept = await requests.find(tx, name);
  if (kept) return { result: resultOf(request, kept), isReplayed: true };
  if (!isMine) return null;
  const result = await work(tx);
  await requests.keep(tx, name, { fingerprint: request.once.fingerprints[0], result });
  return { result, isReplayed: false };
}

function resultOf<Result>(
  { once, result }: Repeatable<Result> & { readonly once: IdempotentRequest },
  kept: KeptRequest,
): Result {
  if (!once.fingerprints.some((fingerprint) => Buffer.from(kept.fingerprint).equals(fingerprint))) {
    throw new Failure('idempotency_key_reused', 'This Idempotency-Key belongs to another request.');
  }
  return result.parse(kept.result);
}

function nameOf({ partnerId, once }: { readonly partnerId: number; readonly once: IdempotentRequest }): RequestName {
  return { partnerId, keyHash: createHash('sha256').update(once.key).digest() };
}

export function postgresAcceptedRequests(db: Database): RequestRecords {
  return {
    take: takeKey,
    find: selectRequest,
    keep: insertRequest,
    deleteExpired: (limit) => deleteOld(db, limit),
  };
}
