/**
 * Every advisory lock key that Inlet uses. Advisory locks share one key space per database, so the keys live in one
 * place. Do not change a key once it is released, because old and new processes must agree on it during a rolling
 * deploy.
 */
export const advisoryLocks = {
  /** Session lock of `inlet migrate`. A backup holds it too, so that the schema cannot change under it. */
  migration: 7_340_021,
  /** Hash seed. Transaction lock on a partner name while the partner is created in both stores. */
  partnerName: 7_340_022,
  /** Transaction lock: one process at a time claims dead generations to purge. */
  purge: 7_340_023,
  /**
   * Hash seed. Shared session lock on each queue token that a worker holds; shows other workers that this worker is
   * alive.
   */
  workerToken: 7_340_024,
  /** Exclusive session lock of a backup while it takes its cut. Work that a backup must not miss holds it shared. */
  backupCut: 7_340_025,
  /** Hash seed. Session lock on an audience and a counting method while the composition is computed. */
  composition: 7_340_026,
  /** Hash seed. Transaction lock on an idempotency key while its first request runs. */
  idempotencyKey: 7_340_027,
} as const;
