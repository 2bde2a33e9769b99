import { type RawBuilder, sql } from 'kysely';
import type { Database } from './tables.ts';

/**
 * The keys of all advisory locks in Inlet. Advisory locks share one key space per database, so all keys are defined
 * here. Do not change a key after it is released, because old and new processes must use the same key during a rolling
 * deployment.
 */
export const advisoryLocks = {
  /** Session lock of `inlet migrate`. A backup holds it too, so that the schema cannot change during the backup. */
  migration: 7_340_021,
  /** Shared session lock of processes that hold the migration lock or wait for it. Background work gives way to them. */
  migrationRequest: 7_340_043,
  /** Hash seed. Transaction lock on a partner name while the partner is created in both stores. */
  partnerName: 7_340_022,
  /** Reserved. Processes of earlier releases lock it while they claim dead generations for purging. */
  purge: 7_340_023,
  /**
   * Hash seed. Shared session lock on each queue token that a worker holds. It shows other workers that this worker is
   * alive.
   */
  workerToken: 7_340_024,
  /**
   * Exclusive session lock of a backup while it captures its cut. Work that the backup must not miss holds the lock in
   * shared mode.
   */
  backupCut: 7_340_025,
  /** Hash seed. Session lock on an audience and a counting method while the composition is computed. */
  composition: 7_340_026,
  /** Hash seed. Transaction lock on an idempotency key while its first request runs. */
  idempotencyKey: 7_340_027,
  /** Session lock of the worker that updates the device index. */
  deviceIndex: 7_340_028,
  /** Hash seed. Transaction lock on a partner while part of its privacy budget is claimed. */
  reportBudget: 7_340_029,
  /** Hash seed. Transaction lock on a partner while its storage keys are rotated or revoked. */
  storageKeys: 7_340_037,
  /** Transaction lock while a worker claims an export of rejected rows. */
  rejectExport: 7_340_035,
  /** Transaction lock while a worker claims a batch of erasures. */
  erasure: 7_340_041,
  /** Hash seed. Session lock on a partner name while the partner is removed. */
  partnerRemoval: 7_340_042,
  /** Session lock of the worker that removes devices that have not been seen for some time. */
  deviceRetention: 7_340_044,
} as const;

/**
 * Runs the function, or returns null if another process holds the lock. The function can take minutes, which exceeds
 * the timeout for idle transactions, so this is a session lock. It occupies one connection and is released if the
 * process dies.
 */
export async function withSessionLock<T>(
  db: Database,
  key: RawBuilder<unknown>,
  run: () => Promise<T>,
): Promise<T | null> {
  return db.connection().execute(async (connection) => {
    const { rows } = await sql<{ taken: boolean }>`SELECT pg_try_advisory_lock(${key}) AS taken`.execute(connection);
    if (!rows[0]?.taken) return null;
    try {
      return await run();
    } finally {
      await sql`SELECT pg_advisory_unlock(${key})`.execute(connection);
    }
  });
}
