import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { z } from 'zod';
import { Failure } from '../../../domain/failure.ts';
import type { Once } from '../../../domain/once.ts';
import type { KeptRequest, RequestName, RequestRecords } from './request-records.ts';
import type { Database, Tx } from '../connect.ts';

type Deps = { readonly db: Database; readonly requests: RequestRecords };

/** Whose request it is, how it is known again, and of what form its result is. */
type Repeatable<Result> = {
  readonly partnerId: number;
  readonly once: Once | null;
  readonly result: z.ZodType<Result>;
};

/** So long a request waits for another with its key; a job is made in a few milliseconds. */
const longestWaitMilliseconds = 2_000;
const lookEveryMilliseconds = 40;

/**
 * Does the work in a transaction, and once: its result is kept in the same transaction, so that there is never the one
 * without the other. Whoever comes while it is being done holds no connection while waiting.
 */
export async function carryOutOnce<Result>(
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
  request: Repeatable<Result> & { readonly once: Once },
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

function resultOf<Result>({ once, result }: Repeatable<Result> & { readonly once: Once }, kept: KeptRequest): Result {
  if (!once.fingerprints.some((fingerprint) => Buffer.from(kept.fingerprint).equals(fingerprint))) {
    throw new Failure('idempotency_key_reused', 'This Idempotency-Key belongs to another request.');
  }
  return result.parse(kept.result);
}

function nameOf({ partnerId, once }: { readonly partnerId: number; readonly once: Once }): RequestName {
  return { partnerId, keyHash: createHash('sha256').update(once.key).digest() };
}
