import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import type { Config } from '../../src/entry/config.ts';

const run = promisify(execFile);
const pgDump = '/usr/lib/postgresql/15/bin/pg_dump';

/** Lines that say how it was dumped, not what: comments, settings of the session, pg_dump's own commands, the schema itself. */
const noise =
  /^(--|SET |SELECT pg_catalog\.set_config|\\(un)?restrict |CREATE SCHEMA public;|(GRANT|REVOKE) .* ON SCHEMA public )/;

/** The control plane as PostgreSQL has it. The queues in schema `pgboss` belong to pg-boss and are left out. */
export async function dumpPostgres(config: Config): Promise<string> {
  const url = new URL(config.INLET_POSTGRES_URL.reveal());
  const parameters = ['--schema-only', '--no-owner', '--no-comments', '--schema=public'];
  const connection = ['-h', url.hostname, '-p', url.port, '-U', url.username, url.pathname.slice(1)];
  // The password goes by the environment, because parameters can be seen by everybody on the machine.
  const env = { PGPASSWORD: decodeURIComponent(url.password), PGTZ: 'UTC', LC_ALL: 'C' };
  const { stdout } = await run(pgDump, [...parameters, ...connection], { env, maxBuffer: 16 * 1024 * 1024 });
  const lines = stdout.split('\n').filter((line) => !noise.test(line));
  return `${lines
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()}\n`;
}
