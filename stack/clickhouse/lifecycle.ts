import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { clickhouseEnvironment } from '../environment.ts';
import { areCurrent, writeConfigFiles } from '../files.ts';
import { keepOrPickPort } from '../ports.ts';
import { pidOf, stopDaemon, waitUntil, type Daemon } from '../processes.ts';
import { portsOf, writeState, type State } from '../state.ts';
import { clickhouseUser, replicaOf, serverConfigFiles, serverDirectory, type ServerNumber, shardOf } from './config.ts';

const entryPoint = join(import.meta.dirname, 'server.ts');

function daemonOf(server: ServerNumber): Daemon {
  const directory = serverDirectory(server);
  return { pidFile: join(directory, 'server.pid'), commandLine: ['clickhouse/server.ts', directory] };
}

export function serverPid(server: ServerNumber): number | undefined {
  return pidOf(daemonOf(server));
}

export function serverPorts({ ports }: State, server: ServerNumber): { http: number; tcp: number } {
  const ofServer = ports.clickhouse[server - 1];
  if (ofServer === undefined) throw new Error(`The stack has no ports for ClickHouse server ${String(server)}.`);
  return ofServer;
}

const allServers = [1, 2, 3, 4] as const;

export function serverNumbers({ shardCount, replicaCount }: State): ServerNumber[] {
  return allServers.filter((server) => shardOf(server) <= shardCount && replicaOf(server) <= replicaCount);
}

export async function stopClickhouse(): Promise<void> {
  await Promise.all(allServers.map(stopServer));
}

export async function isServerHealthy(state: State, server: ServerNumber): Promise<boolean> {
  if (serverPid(server) === undefined) return false;
  try {
    const response = await fetch(`http://127.0.0.1:${String(serverPorts(state, server).http)}/?query=SELECT%201`, {
      // An idle keep-alive connection would delay a shutdown.
      headers: {
        connection: 'close',
        'x-clickhouse-user': clickhouseUser,
        'x-clickhouse-key': state.secrets.clickhouse,
      },
      signal: AbortSignal.timeout(3000),
    });
    return response.ok && (await response.text()).trim() === '1';
  } catch {
    return false;
  }
}

async function stopServer(server: ServerNumber): Promise<void> {
  await stopDaemon(daemonOf(server), 20_000);
}

async function startServer(state: State, server: ServerNumber): Promise<void> {
  const directory = serverDirectory(server);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  rmSync(daemonOf(server).pidFile, { force: true });
  const log = join(directory, 'process.log');
  const output = openSync(log, 'a', 0o600);
  const child = spawn(process.execPath, [entryPoint, directory], {
    cwd: directory,
    detached: true,
    env: clickhouseEnvironment,
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  child.unref();
  const hasExited = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const isHealthyOrExited = async (): Promise<boolean> => hasExited() || isServerHealthy(state, server);
  if (!(await waitUntil(isHealthyOrExited, 60_000)) || hasExited()) {
    throw new Error(`ClickHouse server ${String(server)} did not start; see ${log}`);
  }
}

/** Returns the servers that had to be started. */
export async function ensureClickhouse(state: State): Promise<ServerNumber[]> {
  const servers = serverNumbers(state);
  await Promise.all(allServers.filter((server) => !servers.includes(server)).map(stopServer));
  const healthy = new Set<ServerNumber>();
  for (const server of servers) {
    if (await isServerHealthy(state, server)) {
      healthy.add(server);
      continue;
    }
    await stopServer(server);
    const ports = serverPorts(state, server);
    ports.http = await keepOrPickPort(ports.http, portsOf(state));
    ports.tcp = await keepOrPickPort(ports.tcp, portsOf(state));
  }
  writeState(state);
  // Each server's configuration contains the ports of all servers, so a new port restarts the others too.
  const toStart = servers.filter((server) => !healthy.has(server) || !areCurrent(serverConfigFiles(state, server)));
  await Promise.all(
    toStart.map(async (server) => {
      await stopServer(server);
      writeConfigFiles(serverConfigFiles(state, server));
      await startServer(state, server);
    }),
  );
  return toStart;
}
