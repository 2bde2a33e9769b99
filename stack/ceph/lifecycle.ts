import { existsSync } from 'node:fs';
import { areCurrent } from '../files.ts';
import { keepOrPickPort } from '../ports.ts';
import { waitUntil } from '../processes.ts';
import { messageOf, printLine } from '../output.ts';
import { portsOf, writeState, type State } from '../state.ts';
import { canRestart, createCluster, restartCluster } from './cluster.ts';
import { cephConfigFiles, cephDirectory, s3Endpoint } from './config.ts';
import { cephPid, stopCeph } from './daemons.ts';
import { canUsersList, ensureUsers } from './users.ts';

export function cephPids(): number[] {
  return [cephPid('ceph-mon') ?? [], cephPid('ceph-osd') ?? [], cephPid('radosgw') ?? []].flat();
}

export async function isCephHealthy(state: State): Promise<boolean> {
  return cephPids().length === 3 && (await canUsersList(state));
}

async function isGatewayUp(state: State): Promise<boolean> {
  try {
    return (await fetch(s3Endpoint(state), { signal: AbortSignal.timeout(2000) })).ok;
  } catch {
    return false;
  }
}

async function waitForService(state: State): Promise<void> {
  if (!(await waitUntil(() => isGatewayUp(state), 45_000))) {
    throw new Error(`The S3 gateway does not respond; see the logs in ${cephDirectory}`);
  }
  await ensureUsers(state);
  if (!(await canUsersList(state))) throw new Error(`S3 rejects its users; see the logs in ${cephDirectory}`);
}

async function tryRestart(state: State): Promise<boolean> {
  try {
    await restartCluster(state);
    await waitForService(state);
    return true;
  } catch (error) {
    printLine(`S3: cannot restart with the existing data (${messageOf(error).split('\n')[0] ?? ''})`);
    return false;
  }
}

/** Returns whether the server had to be started. */
export async function ensureCeph(state: State): Promise<boolean> {
  if (areCurrent(cephConfigFiles(state)) && (await isCephHealthy(state))) return false;
  const isNew = !existsSync(cephDirectory);
  // Stops the running daemons in order, so that the OSD can save its data.
  await stopCeph();
  state.ports.cephMonitor = await keepOrPickPort(state.ports.cephMonitor, portsOf(state));
  state.ports.s3 = await keepOrPickPort(state.ports.s3, portsOf(state));
  writeState(state);
  if (!isNew && canRestart() && (await tryRestart(state))) return true;
  if (!isNew) {
    printLine('S3: Ceph was not shut down cleanly, so its in-memory data is lost. Starting with an empty cluster.');
    await stopCeph();
  }
  await createCluster(state);
  await waitForService(state);
  return true;
}
