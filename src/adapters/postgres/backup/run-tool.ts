import { execFile } from 'node:child_process';
import { join } from 'node:path';
import type { Secret } from '../../../domain/secret.ts';

/** Runs a tool of PostgreSQL against a database. The password goes through the environment: everybody sees arguments. */
export function runTool(
  folder: string,
  tool: 'pg_dump' | 'pg_restore',
  url: Secret,
  parameters: readonly string[],
): Promise<void> {
  const address = new URL(url.reveal());
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
