import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Config } from '../../src/entry/config.ts';

const run = promisify(execFile);
const pgDump = '/usr/lib/postgresql/15/bin/pg_dump';

/** Lines that do not describe the schema: comments, session settings, pg_dump's own commands, and CREATE SCHEMA. */
const noise =
  /^(--|SET |SELECT pg_catalog\.set_config|\\(un)?restrict |CREATE SCHEMA public;|(GRANT|REVOKE) .* ON SCHEMA public )/;

/** Returns the control plane's schema without the `pgboss` schema, which pg-boss owns. */
export async function dumpPostgres(config: Config): Promise<string> {
  const url = new URL(config.INLET_POSTGRES_URL.reveal());
  const parameters = ['--schema-only', '--no-owner', '--no-comments', '--schema=public'];
  const connection = ['-h', url.hostname, '-p', url.port, '-U', url.username, url.pathname.slice(1)];
  // The password is passed in the environment, because every user of the machine can see command-line arguments.
  const env = { PGPASSWORD: decodeURIComponent(url.password), PGTZ: 'UTC', LC_ALL: 'C' };
  const { stdout } = await run(pgDump, [...parameters, ...connection], { env, maxBuffer: 16 * 1024 * 1024 });
  const lines = stdout.split('\n').filter((line) => !noise.test(line));
  return `${lines
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()}\n`;
}
