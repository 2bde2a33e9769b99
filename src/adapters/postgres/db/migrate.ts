import { setTimeout as pause } from 'node:timers/promises';
import { Client, DatabaseError } from 'pg';
import type { Secret } from '../../../domain/secret.ts';
import type { Log } from '../../../ports/observability.ts';
import { type MigrationFile, pendingMigrations, readMigrationFiles } from '../../migration-files.ts';
import { createQueues, startBoss } from '../queue/queues.ts';
import { advisoryLocks } from './advisory-locks.ts';
import { prepareApiRole, roleRemedy } from './api-role.ts';

/**
 * Runs `run` while holding the migration lock for both databases, so that concurrent deployments wait for each other.
 * The lock is released when the session ends, even if the process dies.
 */
export async function underMigrationLock<T>(url: Secret, run: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url.reveal(), application_name: 'inlet-migrate' });
  await client.connect();
  try {
    await client.query('SELECT pg_advisory_lock($1)', [advisoryLocks.migration]);
    return await run(client);
  } finally {
    await client.end();
  }
}

/**
 * Runs each migration and records it in the same transaction. Then updates the queues and the privileges of the API
 * role.
 */
export async function migratePostgres(
  client: Client,
  options: { url: Secret; folder: string; apiRole: string; log: Log },
): Promise<string[]> {
  await client.query(`CREATE TABLE IF NOT EXISTS schema_migration (
    name text PRIMARY KEY, checksum text NOT NULL, ran_at timestamptz NOT NULL DEFAULT now())`);
  const done = await client.query<{ name: string; checksum: string }>('SELECT name, checksum FROM schema_migration');
  const files = await readMigrationFiles(options.folder);
  const pending = pendingMigrations(files, new Map(done.rows.map(({ name, checksum }) => [name, checksum])));
  for (const file of pending) await runFile(client, file);
  const boss = await startBoss({ url: options.url, role: 'migrate', name: 'inlet-migrate', log: options.log });
  try {
    await createQueues(boss);
  } finally {
    await boss.stop();
  }
  if (!(await prepareApiRole(client, options.apiRole))) {
    // The migration is complete except for the role, which workers and commands do not need.
    options.log.warn({ role: options.apiRole }, `The API cannot start yet. ${roleRemedy(options.apiRole)}`);
  }
  return pending.map(({ name }) => name);
}

/**
 * A statement that waits for a lock also blocks every later statement on the table. It therefore gives up after a short
 * time, so that running processes can continue, and the file is tried again. A file that changes several tables can also
 * deadlock with a running transaction, and PostgreSQL may end either of them.
 */
const lockTimeoutMs = 3_000;
const lockAttempts = 20;
const lockErrors: ReadonlySet<string | undefined> = new Set(['55P03', '40P01']);

async function runFile(client: Client, file: MigrationFile, attempt = 1): Promise<void> {
  try {
    await runFileOnce(client, file);
  } catch (error) {
    const isLockError =
      error instanceof Error && error.cause instanceof DatabaseError && lockErrors.has(error.cause.code);
    if (!isLockError || attempt >= lockAttempts) throw error;
    await pause(lockTimeoutMs);
    await runFile(client, file, attempt + 1);
  }
}

async function runFileOnce(client: Client, file: MigrationFile): Promise<void> {
  await client.query('BEGIN');
  try {
    await client.query(`SET LOCAL lock_timeout = ${lockTimeoutMs}`);
    await client.query(file.text);
    await client.query('INSERT INTO schema_migration (name, checksum) VALUES ($1, $2)', [file.name, file.checksum]);
    await client.query('COMMIT');
  } catch (error) {
    await client.query('ROLLBACK');
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`migration ${file.name} failed and was rolled back: ${reason}`, { cause: error });
  }
}
