import { setTimeout as pause } from 'node:timers/promises';
import { Client, type ClientBase } from 'pg';
import type { Secret } from '../../../domain/secret.ts';
import { advisoryLocks } from './advisory-locks.ts';

/**
 * Runs `run` while holding the migration lock for both databases, so that concurrent deployments wait for each other.
 * The lock is released when the session ends, even if the process dies.
 */
export async function underMigrationLock<T>(url: Secret, run: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url.reveal(), application_name: 'inlet-migrate' });
  await client.connect();
  try {
    await takeMigrationLock(client, Number.POSITIVE_INFINITY);
    return await run(client);
  } finally {
    await client.end();
  }
}

const lockPollMs = 200;

/** Background work that holds the lock gives way. Returns false if the lock is still held after `timeoutMs`. */
export async function takeMigrationLock(client: ClientBase, timeoutMs: number): Promise<boolean> {
  // Only shared locks have this key, so this does not wait. It is released with the session.
  await client.query('SELECT pg_advisory_lock_shared($1)', [advisoryLocks.migrationRequest]);
  const end = performance.now() + timeoutMs;
  while (!(await tryLock(client))) {
    if (performance.now() > end) return false;
    await pause(lockPollMs);
  }
  return true;
}

/**
 * Does not wait for the lock. A waiting statement would hold a snapshot, and CREATE INDEX CONCURRENTLY waits for all
 * snapshots.
 */
async function tryLock(client: ClientBase): Promise<boolean> {
  const { rows } = await client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1) AS taken', [
    advisoryLocks.migration,
  ]);
  return rows[0]?.taken === true;
}

const watchMs = 1_000;

/**
 * Runs background work under the migration lock. Returns false if another process holds the lock or waits for it. The
 * signal of `run` is aborted when another process waits for the lock, and when the lock is lost.
 */
export async function betweenMigrations(
  url: Secret,
  run: (signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<boolean> {
  const client = new Client({
    connectionString: url.reveal(),
    application_name: 'inlet-between-migrations',
    keepAlive: true,
    query_timeout: 10_000,
  });
  const stop = new AbortController();
  client.on('error', () => stop.abort());
  await client.connect();
  const isRequested = async (): Promise<boolean> => {
    const { rows } = await client.query(
      `SELECT FROM pg_locks WHERE locktype = 'advisory' AND classid = 0 AND objid = $1 AND objsubid = 1
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      [advisoryLocks.migrationRequest],
    );
    return rows.length > 0;
  };
  let watch: NodeJS.Timeout | undefined;
  try {
    if ((await isRequested()) || !(await tryLock(client))) return false;
    watch = setInterval(() => {
      isRequested().then(
        (is) => is && stop.abort(),
        () => stop.abort(),
      );
    }, watchMs);
    await run(AbortSignal.any([signal, stop.signal]));
    return true;
  } catch (error) {
    if (stop.signal.aborted && !signal.aborted) return false;
    throw error;
  } finally {
    clearInterval(watch);
    await client.end().catch(() => undefined);
  }
}
