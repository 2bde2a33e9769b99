import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { jobStatus } from '../../domain/job.ts';
import type { Secret } from '../../domain/secret.ts';
import type { ControlBackup } from '../../ports/backup.ts';
import { advisoryLocks } from './db/advisory-locks.ts';
import { withParameters } from './libpq-url.ts';
import { takeMigrationLock } from './db/migration-lock.ts';
import { laneQueue } from './queue/tokens.ts';

const pollMs = 50;

/** Background work that holds the migration lock gives way within this time. */
const giveWayMs = 15_000;

/** Starts a PostgreSQL backup. One session holds the locks and the transaction whose snapshot is dumped. */
export async function openControlBackup(url: Secret, toolFolder: string): Promise<ControlBackup> {
  const session = new Client({ connectionString: url.reveal(), application_name: 'inlet-backup', keepAlive: true });
  await session.connect();
  // If the session breaks, the next statement throws, so this event needs no handling.
  session.on('error', () => undefined);
  const ask = async <Row extends object>(query: string, values: readonly unknown[] = []): Promise<Row[]> =>
    (await session.query<Row>(query, [...values])).rows;
  if (!(await takeMigrationLock(session, giveWayMs))) {
    await session.end();
    throw new Error('Another backup or a migration is running.');
  }
  let snapshot: string | undefined;
  let openJobs: readonly string[] = [];
  let unpublished: readonly string[] = [];
  const textOf = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id);

  return {
    pause: async (timeoutSeconds) => {
      await ask('SELECT pg_advisory_lock($1)', [advisoryLocks.backupCut]);
      const [since] = await ask<{ now: Date }>('SELECT clock_timestamp() AS now');
      const end = Date.now() + timeoutSeconds * 1000;
      // A lane that is claimed later detects the pause and does nothing.
      const moving = `SELECT id FROM pgboss.job WHERE name = $1 AND state = 'active' AND started_on <= $2 LIMIT 1`;
      while ((await ask(moving, [laneQueue, since?.now])).length > 0) {
        if (Date.now() > end) throw new Error(`A lane did not pause within ${timeoutSeconds} s; no backup was taken.`);
        await sleep(pollMs);
      }
      await ask('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      // The dump may take longer than the server's timeout for idle transactions.
      await ask('SET LOCAL idle_in_transaction_session_timeout = 0');
      const [cut] = await ask<{ snapshot: string; at: Date }>('SELECT pg_export_snapshot() AS snapshot, now() AS at');
      if (!cut) throw new Error('PostgreSQL returned no snapshot.');
      snapshot = cut.snapshot;
      openJobs = textOf(await ask(`SELECT id FROM job WHERE status = ${jobStatus.running}`));
      const staged = await ask<{ id: string; published: boolean }>(
        `SELECT DISTINCT f.load_id AS id, a.published_at IS NOT NULL AS published
         FROM job_file f LEFT JOIN load_account a ON a.load_id = f.load_id
         WHERE f.staged AND f.status = ${jobStatus.running} AND f.job_id = ANY($1)`,
        [openJobs],
      );
      unpublished = textOf(staged.filter(({ published }) => !published));
      return { takenAt: cut.at, stagedLoadIds: textOf(staged).map(Number) };
    },
    resume: async () => {
      const ended = await changedSince(url, openJobs, unpublished);
      const [unlocked] = await ask<{ is: boolean }>('SELECT pg_advisory_unlock($1) AS is', [advisoryLocks.backupCut]);
      if (ended.length > 0 || !unlocked?.is) {
        // This case is rare. A worker that was presumed dead has continued, and its staging tables are already dropped.
        throw new Error(`A lane continued during the pause (jobs ${ended.join(', ')}). Run the backup again.`);
      }
    },
    dump: async (file) => {
      if (snapshot === undefined) throw new Error('No snapshot to dump: call pause first.');
      await runTool(toolFolder, 'pg_dump', url, ['--format=custom', `--snapshot=${snapshot}`, `--file=${file}`]);
    },
    close: () => session.end(),
  };
}

/**
 * Returns the jobs that ended or published a load during the pause. Uses another session, because the backup's session
 * sees only its snapshot.
 */
async function changedSince(url: Secret, jobIds: readonly string[], loadIds: readonly string[]): Promise<string[]> {
  const client = new Client({ connectionString: url.reveal(), application_name: 'inlet-backup' });
  await client.connect();
  try {
    const { rows } = await client.query<{ id: string }>(
      `SELECT id FROM job WHERE id = ANY($1) AND status NOT IN (${jobStatus.pending}, ${jobStatus.running}) AND NOT cancelled
       UNION SELECT job_id FROM load_account WHERE load_id = ANY($2) AND published_at IS NOT NULL`,
      [jobIds, loadIds],
    );
    return rows.map(({ id }) => id);
  } finally {
    await client.end();
  }
}

/** Throws unless the database is empty. A backup can be restored only into an empty database. */
export async function requireEmptyControl(url: Secret): Promise<void> {
  const tables = await countRows(
    url,
    `SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname NOT LIKE 'pg\\_%' AND n.nspname != 'information_schema' LIMIT 1`,
  );
  if (tables > 0) throw new Error('The PostgreSQL database is not empty. Restore into a new one.');
}

/**
 * The number of IDs to skip after a restore. It exceeds the number of IDs that could have been issued since any useful
 * backup.
 */
const idsToSkip = 10_000_000;

/**
 * Partners may have stored IDs of requests that were accepted after the restored state was captured. Those IDs must not
 * be reused.
 */
export const skipIdsSql = `
  SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, coalesce(last_value, start_value) + ${idsToSkip})
  FROM pg_sequences WHERE schemaname = 'public'`;

/** Restores the dump in a single transaction. */
export async function restoreControl(url: Secret, toolFolder: string, file: string): Promise<void> {
  const parameters = ['--single-transaction', '--exit-on-error', '--no-owner', '--no-privileges', file];
  await runTool(toolFolder, 'pg_restore', url, parameters);
  await countRows(url, skipIdsSql);
  // The backup does not contain the device index, so workers rebuild it.
  await countRows(url, 'SELECT note_all_index_changes()');
}

/** Runs a query and returns the number of rows. */
async function countRows(url: Secret, query: string): Promise<number> {
  const client = new Client({ connectionString: url.reveal(), application_name: 'inlet-restore' });
  await client.connect();
  try {
    return (await client.query(query)).rows.length;
  } finally {
    await client.end();
  }
}

/**
 * Runs a PostgreSQL tool. The password is passed in the environment, because command-line arguments are visible to
 * every user.
 */
function runTool(
  folder: string,
  tool: 'pg_dump' | 'pg_restore',
  url: Secret,
  parameters: readonly string[],
): Promise<void> {
  // A parameter of the driver, which libpq rejects.
  const address = withParameters(url.reveal(), (ofUrl) => ofUrl.delete('uselibpqcompat'));
  const password = decodeURIComponent(address.password);
  address.password = '';
  return new Promise((resolve, reject) => {
    const env = { PATH: '/usr/bin:/bin', ...(password === '' ? {} : { PGPASSWORD: password }) };
    execFile(join(folder, tool), [`--dbname=${address.href}`, ...parameters], { env }, (error, _stdout, stderr) => {
      if (error === null) resolve();
      else reject(new Error(`${tool} failed: ${stderr.trim() || error.message}`));
    });
  });
}
