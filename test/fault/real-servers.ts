import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { cephPid, startCephDaemon } from '../../stack/ceph/daemons.ts';
import { shardPid } from '../../stack/clickhouse/lifecycle.ts';
import { postgresPids } from '../../stack/postgres/lifecycle.ts';

// The real servers of the stack, to be killed and to stand still. Whoever does that must have them for itself.

const run = promisify(execFile);

export type ServerName = 'PostgreSQL' | 'shard 1' | 'shard 2' | 'S3 gateway';

function pidsOf(name: ServerName): number[] {
  if (name === 'PostgreSQL') return postgresPids();
  const pid = name === 'S3 gateway' ? cephPid('radosgw') : shardPid(name === 'shard 1' ? 1 : 2);
  return [pid ?? []].flat();
}

/** Says whether there was one to get it. */
export function signalServer(name: ServerName, signal: NodeJS.Signals): boolean {
  const pids = pidsOf(name);
  for (const pid of pids) process.kill(pid, signal);
  return pids.length > 0;
}

/** Starts what does not run, with the same data and at the same ports. */
export async function startServers(): Promise<void> {
  // By itself: what the gateway stands on has not been touched.
  await startCephDaemon('radosgw');
  await run(process.execPath, ['stack/cli/up.ts']);
}
