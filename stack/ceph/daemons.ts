import { join } from 'node:path';
import { pidOf, stopDaemon, type Daemon } from '../processes.ts';
import { run } from '../run.ts';
import { cephDirectory, configFile } from './config.ts';

type DaemonName = 'ceph-mon' | 'ceph-osd' | 'radosgw';

// The gateway uses the administrator's name. With its own name, it finds no key and hangs.
const identities: Record<DaemonName, readonly string[]> = {
  'ceph-mon': ['-i', 'a'],
  'ceph-osd': ['-i', '0'],
  radosgw: ['-n', 'client.admin'],
};

// The OSD writes all its data to disk before it exits. The gateway stores no data, and its shutdown hangs without an
// OSD.
const timeoutMs: Record<DaemonName, number> = { 'ceph-mon': 10_000, 'ceph-osd': 60_000, radosgw: 4000 };

function daemonOf(name: DaemonName): Daemon {
  return { pidFile: join(cephDirectory, `${name}.pid`), commandLine: [name, configFile] };
}

export function cephPid(name: DaemonName): number | undefined {
  return pidOf(daemonOf(name));
}

async function stopCephDaemon(name: DaemonName): Promise<void> {
  await stopDaemon(daemonOf(name), timeoutMs[name]);
}

export function runCeph(command: string, commandArguments: readonly string[]): Promise<string> {
  return run(command, ['--conf', configFile, ...commandArguments]);
}

/** The daemon moves itself to the background after it has read its configuration and data. */
export async function startCephDaemon(name: DaemonName): Promise<void> {
  if (cephPid(name) !== undefined) return;
  await runCeph(name, [...identities[name], '--pid-file', daemonOf(name).pidFile]);
}

export async function stopCeph(): Promise<void> {
  await stopCephDaemon('radosgw');
  await stopCephDaemon('ceph-osd');
  await stopCephDaemon('ceph-mon');
}
