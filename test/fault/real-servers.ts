import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { cephPid, startCephDaemon } from '../../stack/ceph/daemons.ts';
import { serverDirectory } from '../../stack/clickhouse/config.ts';
import { serverPid } from '../../stack/clickhouse/lifecycle.ts';
import { postgresPids } from '../../stack/postgres/lifecycle.ts';
import { zookeeperPid } from '../../stack/zookeeper/lifecycle.ts';

// Kills and suspends the stack's servers. No other test can use the servers at the same time.

const run = promisify(execFile);

/** A name such as "shard 1" refers to the first replica of the shard. */
export type ServerName =
  | 'PostgreSQL'
  | 'shard 1'
  | 'shard 2'
  | 'shard 1, replica 2'
  | 'shard 2, replica 2'
  | 'ZooKeeper'
  | 'S3 gateway';

const engineServers = { 'shard 1': 1, 'shard 2': 2, 'shard 1, replica 2': 3, 'shard 2, replica 2': 4 } as const;

export type EngineServerName = keyof typeof engineServers;

function pidsOf(name: ServerName): number[] {
  if (name === 'PostgreSQL') return postgresPids();
  if (name === 'S3 gateway') return [cephPid('radosgw') ?? []].flat();
  return [(name === 'ZooKeeper' ? zookeeperPid(1) : serverPid(engineServers[name])) ?? []].flat();
}

/** Returns whether the server was running. */
export function signalServer(name: ServerName, signal: NodeJS.Signals): boolean {
  const pids = pidsOf(name);
  for (const pid of pids) process.kill(pid, signal);
  return pids.length > 0;
}

/** Kills a server and removes its directory, as if its disk were lost. */
export async function removeServerData(name: EngineServerName): Promise<void> {
  signalServer(name, 'SIGKILL');
  while (pidsOf(name).length > 0) await pause(50);
  await rm(serverDirectory(engineServers[name]), { recursive: true, force: true });
}

/** Starts the servers that are not running, with the same data and ports. */
export async function startServers(): Promise<void> {
  // Starts only the gateway, because the other Ceph daemons are still running.
  await startCephDaemon('radosgw');
  await run(process.execPath, ['stack/cli/up.ts']);
}
