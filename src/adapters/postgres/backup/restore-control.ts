import { Client } from 'pg';
import type { Secret } from '../../../domain/secret.ts';
import { runTool } from './run-tool.ts';

/** A backup is never mixed with what is there. */
export async function requireEmptyControl(url: Secret): Promise<void> {
  const tables = await ask(
    url,
    `SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE n.nspname NOT LIKE 'pg\\_%' AND n.nspname != 'information_schema' LIMIT 1`,
  );
  if (tables > 0) throw new Error('The PostgreSQL database is not empty. Restore into a new one.');
}

/** More than was asked for since any backup that is worth restoring. */
const idsToSkip = 10_000_000;

/** All of it or nothing. */
export async function restoreControl(url: Secret, toolFolder: string, file: string): Promise<void> {
  const parameters = ['--single-transaction', '--exit-on-error', '--no-owner', '--no-privileges', file];
  await runTool(toolFolder, 'pg_restore', url, parameters);
  // The ids of what was accepted after the backup are in partners' hands: nothing else may ever be found under them.
  await ask(
    url,
    `SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, coalesce(last_value, start_value) + ${idsToSkip})
     FROM pg_sequences WHERE schemaname = 'public'`,
  );
}

/** Gives the number of rows. */
async function ask(url: Secret, query: string): Promise<number> {
  const client = new Client({ connectionString: url.reveal(), application_name: 'inlet-restore' });
  await client.connect();
  try {
    return (await client.query(query)).rows.length;
  } finally {
    await client.end();
  }
}
