import { sql } from 'kysely';
import type { PgBoss } from 'pg-boss';
import type { Log } from '../../../ports/observability.ts';
import type { Database } from '../db/tables.ts';
import { type HeldToken, type RecordRetry, fileQueue, laneQueue, resendToken, tokenName } from './tokens.ts';
import { type WorkerLiveness, lockOfToken, shownLock } from './worker-liveness.ts';

/**
 * The time within which a worker must lock a new token. Locking usually takes a few milliseconds. Each loss counts
 * against the file, so a slow PostgreSQL server must not be mistaken for a dead worker.
 */
const lockedWithinSeconds = 1;
/**
 * The time without a heartbeat after which a token is considered lost. pg-boss itself waits ten seconds and then needs
 * a few more.
 */
const silentSeconds = 8;

type Lost = HeldToken & { readonly isSilent: boolean };

/** Selects active tokens that no session has locked, or whose worker sends no heartbeats. */
async function findLost(db: Database): Promise<Lost[]> {
  // `state <= 'active'` matches the predicate of the index on exclusive queues.
  const { rows } = await sql<Lost>`
    WITH held AS (
      SELECT ${sql.raw(shownLock)} AS lock FROM pg_locks
      WHERE locktype = 'advisory' AND objsubid = 1 AND mode = 'ShareLock'
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    ), active AS (
      SELECT name AS queue, id, retry_count AS "retryCount", singleton_key AS "singletonKey", data, started_on,
        heartbeat_on < now() - make_interval(secs => ${silentSeconds}) AS "isSilent"
      FROM pgboss.job
      WHERE name IN (${laneQueue}, ${fileQueue}) AND policy = 'exclusive' AND state <= 'active' AND state = 'active'
    )
    SELECT queue, id, "retryCount", "singletonKey", data, "isSilent" FROM active
    WHERE "isSilent" OR (started_on < now() - make_interval(secs => ${lockedWithinSeconds})
      AND ${sql.raw(lockOfToken(`id::text || ':' || "retryCount"`))} NOT IN (SELECT lock FROM held))
  `.execute(db);
  return rows;
}

/** A token that has lost more workers than this is delayed. The delay grows with each further loss. */
const freeLosses = 2;
const longestDelaySeconds = 30;

/** Requeues the tokens of dead workers. */
export async function requeueLostTokens(
  { db, boss, log, recordRetry }: { db: Database; boss: PgBoss; log: Log; recordRetry: RecordRetry },
  liveness: WorkerLiveness,
): Promise<void> {
  if (!liveness.isSettled()) return;
  for (const { isSilent, ...holding } of await findLost(db)) {
    if (liveness.holds(tokenName(holding))) continue;
    const lost = (holding.data.lost ?? 0) + 1;
    const seconds = lost > freeLosses ? Math.min(longestDelaySeconds, 2 ** (lost - freeLosses)) : 0;
    const isSent = await resendToken(db, boss, { ...holding, data: { ...holding.data, lost } }, seconds);
    if (!isSent) continue;
    recordRetry(holding.queue, 'lost');
    log.warn({ queue: holding.queue, data: holding.data, lost, seconds, isSilent }, 'worker lost: token resent');
  }
}
