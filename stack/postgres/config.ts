import { join } from 'node:path';
import { isFastButNotDurable } from '../environment.ts';
import type { ConfigFiles } from '../files.ts';
import { stackDirectory } from '../paths.ts';
import type { State } from '../state.ts';

export const postgresDirectory = join(stackDirectory, 'postgres');
export const dataDirectory = join(postgresDirectory, 'data');

export function postgresUrl(state: State): string {
  return `postgres://inlet:${state.secrets.postgres}@127.0.0.1:${String(state.ports.postgres)}/postgres`;
}

/** A commit still waits until its data is in the operating system's cache, so that it survives a kill of the server. */
const notDurable = `fsync = off
full_page_writes = off
`;

export function postgresConfigFiles(state: State): ConfigFiles {
  const settings = `listen_addresses = '127.0.0.1'
port = ${String(state.ports.postgres)}
unix_socket_directories = '${postgresDirectory}'
max_connections = 400
shared_buffers = 256MB
password_encryption = scram-sha-256
timezone = 'UTC'
log_timezone = 'UTC'
log_line_prefix = '%m [%p] %u@%d '
${isFastButNotDurable ? notDurable : ''}`;
  // Other local users can reach the port too, so every connection needs a password.
  const access = `local all all scram-sha-256
host all all 127.0.0.1/32 scram-sha-256
`;
  return new Map([
    [join(dataDirectory, 'postgresql.conf'), settings],
    [join(dataDirectory, 'pg_hba.conf'), access],
  ]);
}
