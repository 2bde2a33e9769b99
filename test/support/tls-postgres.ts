import { randomBytes } from 'node:crypto';
import { chmodSync, copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readAddresses } from '../../stack/addresses.ts';
import { pickPort } from '../../stack/ports.ts';
import { run } from '../../stack/run.ts';
import type { KeyPair } from './certificate-authority.ts';
import { rememberSecrets } from './known-secrets.ts';

const binaries = '/usr/lib/postgresql/15/bin';

export type TlsPostgres = {
  readonly url: (host: string) => string;
  readonly stop: () => Promise<void>;
};

/** Starts a separate PostgreSQL server that accepts only TLS connections. */
export async function startTlsPostgres({ cert, key }: KeyPair): Promise<TlsPostgres> {
  const isRoot = process.getuid?.() === 0;
  const asOwner = (command: string, ...parameters: string[]): Promise<string> =>
    isRoot
      ? run('runuser', ['-u', 'postgres', '--', `${binaries}/${command}`, ...parameters])
      : run(`${binaries}/${command}`, parameters);
  const folder = mkdtempSync(join(readAddresses().directory, 'tls-postgres-'));
  const data = join(folder, 'data');
  const password = randomBytes(16).toString('hex');
  rememberSecrets(password);
  writeFileSync(join(folder, 'password'), password);
  if (isRoot) await run('chown', ['-R', 'postgres:postgres', folder]);
  await asOwner(
    'initdb',
    `--pgdata=${data}`,
    '--username=inlet',
    `--pwfile=${join(folder, 'password')}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C.UTF-8',
    '--no-sync',
  );
  copyFileSync(cert, join(data, 'server.crt'));
  copyFileSync(key, join(data, 'server.key'));
  chmodSync(join(data, 'server.key'), 0o600);
  if (isRoot) await run('chown', ['postgres:postgres', join(data, 'server.crt'), join(data, 'server.key')]);
  const port = await pickPort([]);
  writeFileSync(
    join(data, 'postgresql.conf'),
    `listen_addresses = '127.0.0.1'\nport = ${port}\nunix_socket_directories = '${folder}'\nssl = on\nfsync = off\n`,
  );
  writeFileSync(join(data, 'pg_hba.conf'), 'hostssl all all 127.0.0.1/32 scram-sha-256\n');
  await asOwner('pg_ctl', `--pgdata=${data}`, `--log=${join(folder, 'log')}`, '-w', 'start');
  return {
    url: (host) => `postgres://inlet:${password}@${host}:${port}/postgres`,
    stop: async () => {
      await asOwner('pg_ctl', `--pgdata=${data}`, '-m', 'immediate', '-w', 'stop');
      rmSync(folder, { recursive: true });
    },
  };
}
