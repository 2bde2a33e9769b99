import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { areCurrent, writeConfigFiles } from '../files.ts';
import { keepOrPickPort } from '../ports.ts';
import { isPidTakenByAnother, pidOf, stopDaemon, type Daemon } from '../processes.ts';
import { run } from '../run.ts';
import { messageOf } from '../output.ts';
import { portsOf, writeState, type State } from '../state.ts';
import { dataDirectory, postgresConfigFiles, postgresDirectory, postgresUrl } from './config.ts';

const binaries = '/usr/lib/postgresql/15/bin';
const logFile = join(postgresDirectory, 'postgres.log');
const postmaster: Daemon = {
  pidFile: join(dataDirectory, 'postmaster.pid'),
  commandLine: [`${binaries}/postgres `, dataDirectory],
};

// PostgreSQL refuses to run as root, so root uses the user that the Debian package created.
const isRoot = process.getuid?.() === 0;

function runAsOwner(command: string, commandArguments: readonly string[]): Promise<string> {
  return isRoot
    ? run('runuser', ['-u', 'postgres', '--', command, ...commandArguments])
    : run(command, commandArguments);
}

async function initialize(state: State): Promise<void> {
  // After an interrupted initdb, there is no data to keep.
  rmSync(postgresDirectory, { recursive: true, force: true });
  mkdirSync(postgresDirectory, { mode: 0o700 });
  const passwordFile = join(postgresDirectory, 'password');
  writeFileSync(passwordFile, state.secrets.postgres, { mode: 0o600 });
  if (isRoot) await run('chown', ['-R', 'postgres:postgres', postgresDirectory]);
  const unfinished = `${dataDirectory}.new`;
  await runAsOwner(`${binaries}/initdb`, [
    `--pgdata=${unfinished}`,
    '--username=inlet',
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C.UTF-8',
  ]);
  rmSync(passwordFile);
  await run('mv', [unfinished, dataDirectory]);
}

export function postgresPids(): number[] {
  return [pidOf(postmaster) ?? []].flat();
}

export async function isPostgresHealthy(state: State): Promise<boolean> {
  if (postgresPids().length === 0) return false;
  const client = new Client({
    connectionString: postgresUrl(state),
    connectionTimeoutMillis: 3000,
    query_timeout: 3000,
  });
  try {
    await client.connect();
    await client.query('SELECT 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}

export async function stopPostgres(): Promise<void> {
  if (pidOf(postmaster) !== undefined) {
    // "fast" disconnects clients and writes a checkpoint.
    await runAsOwner(`${binaries}/pg_ctl`, [`--pgdata=${dataDirectory}`, 'stop', '-m', 'fast', '-t', '30']).catch(
      () => undefined,
    );
  }
  await stopDaemon(postmaster, 5000);
}

async function start(): Promise<void> {
  const command = [`--pgdata=${dataDirectory}`, `--log=${logFile}`, '-w', '-t', '60', 'start'];
  const deadline = performance.now() + 10_000;
  for (;;) {
    try {
      await runAsOwner(`${binaries}/pg_ctl`, command);
      return;
    } catch (error) {
      // The children of a killed server need a moment to exit.
      if (performance.now() > deadline) throw new Error(`${messageOf(error)} See ${logFile}`, { cause: error });
      await sleep(500);
    }
  }
}

/** Returns whether the server had to be started. */
export async function ensurePostgres(state: State): Promise<boolean> {
  if (areCurrent(postgresConfigFiles(state)) && (await isPostgresHealthy(state))) return false;
  await stopPostgres();
  state.ports.postgres = await keepOrPickPort(state.ports.postgres, portsOf(state));
  writeState(state);
  if (!existsSync(dataDirectory)) await initialize(state);
  writeConfigFiles(postgresConfigFiles(state));
  // Removes the PID file if it names another process, which PostgreSQL would mistake for a running server. Otherwise
  // keeps the file, because PostgreSQL uses it to detect children of a killed server that still use the data.
  if (isPidTakenByAnother(postmaster)) rmSync(postmaster.pidFile, { force: true });
  await start();
  if (!(await isPostgresHealthy(state))) throw new Error(`PostgreSQL does not respond; see ${logFile}`);
  return true;
}
