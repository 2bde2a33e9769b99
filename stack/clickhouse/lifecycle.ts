import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { clickhouseEnvironment } from '../environment.ts';
import { areCurrent, writeConfigFiles } from '../files.ts';
import { keepOrPickPort } from '../ports.ts';
import { pidOf, stopDaemon, waitUntil, type Daemon } from '../processes.ts';
import { portsOf, writeState, type State } from '../state.ts';
import { clickhouseUser, shardConfigFiles, shardDirectory, type Shard } from './config.ts';

const entryPoint = join(import.meta.dirname, 'server.ts');

function daemonOf(shard: Shard): Daemon {
  const directory = shardDirectory(shard);
  return { pidFile: join(directory, 'server.pid'), commandLine: ['clickhouse/server.ts', directory] };
}

export function shardPid(shard: Shard): number | undefined {
  return pidOf(daemonOf(shard));
}

export function shardPorts({ ports }: State, shard: Shard): { http: number; tcp: number } {
  return shard === 1 ? ports.clickhouse[0] : ports.clickhouse[1];
}

export function shardNumbers(state: State): Shard[] {
  return state.shardCount === 2 ? [1, 2] : [1];
}

export async function isShardHealthy(state: State, shard: Shard): Promise<boolean> {
  if (shardPid(shard) === undefined) return false;
  try {
    const response = await fetch(`http://127.0.0.1:${String(shardPorts(state, shard).http)}/?query=SELECT%201`, {
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

export async function stopShard(shard: Shard): Promise<void> {
  await stopDaemon(daemonOf(shard), 20_000);
}

async function startShard(state: State, shard: Shard): Promise<void> {
  const directory = shardDirectory(shard);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  rmSync(daemonOf(shard).pidFile, { force: true });
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
  const isHealthyOrExited = async (): Promise<boolean> => hasExited() || isShardHealthy(state, shard);
  if (!(await waitUntil(isHealthyOrExited, 60_000)) || hasExited()) {
    throw new Error(`ClickHouse shard ${String(shard)} did not start; see ${log}`);
  }
}

/** Returns the shards that had to be started. */
export async function ensureClickhouse(state: State): Promise<Shard[]> {
  const shards = shardNumbers(state);
  if (state.shardCount === 1) await stopShard(2);
  const healthy = new Set<Shard>();
  for (const shard of shards) {
    if (await isShardHealthy(state, shard)) {
      healthy.add(shard);
      continue;
    }
    await stopShard(shard);
    const ports = shardPorts(state, shard);
    ports.http = await keepOrPickPort(ports.http, portsOf(state));
    ports.tcp = await keepOrPickPort(ports.tcp, portsOf(state));
  }
  writeState(state);
  // Each server's configuration contains the ports of all shards, so a new port restarts the other shard too.
  const toStart = shards.filter((shard) => !healthy.has(shard) || !areCurrent(shardConfigFiles(state, shard)));
  await Promise.all(
    toStart.map(async (shard) => {
      await stopShard(shard);
      writeConfigFiles(shardConfigFiles(state, shard));
      await startShard(state, shard);
    }),
  );
  return toStart;
}
