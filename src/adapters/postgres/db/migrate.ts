import { setTimeout as pause } from 'node:timers/promises';
import { Client, DatabaseError } from 'pg';
import type { Secret } from '../../../domain/secret.ts';
import type { Log } from '../../../ports/observability.ts';
import { type MigrationFile, pendingMigrations, readMigrationFiles } from '../../migration-files.ts';
import { createQueues, startBoss } from '../queue/queues.ts';
import { prepareApiRole, roleRemedy } from './api-role.ts';
import { SchemaError } from './schema-error.ts';

/**
 * Runs each migration and, if possible, records it in the same transaction. Then updates the queues and the privileges
 * of the API role.
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
 * Throws if a migration of this release has not run. Without this check, statements would fail one by one, and some of
 * them would be retried. A newer schema is allowed, because migrations only add to the schema. Ignores an unreachable
 * server, because the caller's own connections report it.
 */
export async function requireMigrated(url: Secret, folder: string): Promise<void> {
  const client = new Client({
    connectionString: url.reveal(),
    application_name: 'inlet-schema',
    connectionTimeoutMillis: 4_000,
    query_timeout: 4_000,
  });
  client.on('error', () => undefined); // the failing call also rejects
  try {
    await client.connect();
    const files = await readMigrationFiles(folder);
    const done = new Set(await namesOfMigrations(client));
    const pending = files.filter(({ name }) => !done.has(name)).map(({ name }) => name);
    if (pending.length === 0) return;
    throw new SchemaError(
      done.size === 0
        ? 'The databases are not set up yet. Run `inlet migrate`.'
        : `The PostgreSQL schema lacks ${pending.join(', ')}. Run \`inlet migrate\`.`,
    );
  } catch (error) {
    if (error instanceof SchemaError) throw error;
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function namesOfMigrations(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ table: string | null }>(`SELECT to_regclass('schema_migration') AS table`);
  if (rows[0]?.table === null) return [];
  return (await client.query<{ name: string }>('SELECT name FROM schema_migration')).rows.map(({ name }) => name);
}

/**
 * A statement that waits for a lock also blocks every later statement on the table. It therefore gives up after a short
 * time, so that running processes can continue, and the file is tried again. A file that changes several tables can
 * also deadlock with a running transaction, and PostgreSQL may abort either one.
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

/**
 * A file with this comment contains statements that cannot run in a transaction, such as CREATE INDEX
 * CONCURRENTLY. Each statement ends with a semicolon at the end of a line.
 */
const outsideTransaction = /^-- outside a transaction$/m;

/** These statements do not block other statements while they wait for a lock, so they wait as long as necessary. */
async function runStatements(client: Client, file: MigrationFile): Promise<void> {
  try {
    // An interrupted CREATE INDEX CONCURRENTLY leaves an invalid index, which IF NOT EXISTS would keep.
    const { rows } = await client.query<{ name: string }>(
      `SELECT indexrelid::regclass::text AS name FROM pg_index JOIN pg_class c ON c.oid = indexrelid
       WHERE NOT indisvalid AND c.relnamespace = 'public'::regnamespace`,
    );
    for (const { name } of rows) await client.query(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`);
    const statements = file.text.split(/;\s*$/m).filter((text) => text.trim() !== '');
    for (const statement of statements) await client.query(statement);
    await client.query('INSERT INTO schema_migration (name, checksum) VALUES ($1, $2)', [file.name, file.checksum]);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`migration ${file.name} failed: ${reason}`, { cause: error });
  }
}

async function runFileOnce(client: Client, file: MigrationFile): Promise<void> {
  if (outsideTransaction.test(file.text)) return runStatements(client, file);
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
