import { existsSync } from 'node:fs';
import { areCurrent } from '../files.ts';
import { keepOrPickPort } from '../ports.ts';
import { waitUntil } from '../processes.ts';
import { messageOf, say } from '../say.ts';
import { portsOf, writeState, type State } from '../state.ts';
import { canComeBack, makeCluster, restartCluster } from './cluster.ts';
import { cephConfigFiles, cephDirectory, s3Endpoint } from './config.ts';
import { cephPid, stopCeph } from './daemons.ts';
import { doUsersGetAnswers, ensureUsers } from './users.ts';

export function cephPids(): number[] {
  return [cephPid('ceph-mon') ?? [], cephPid('ceph-osd') ?? [], cephPid('radosgw') ?? []].flat();
}

export async function isCephHealthy(state: State): Promise<boolean> {
  return cephPids().length === 3 && (await doUsersGetAnswers(state));
}

async function doesGatewayAnswer(state: State): Promise<boolean> {
  try {
    return (await fetch(s3Endpoint(state), { signal: AbortSignal.timeout(2000) })).ok;
  } catch {
    return false;
  }
}

async function waitForService(state: State): Promise<void> {
  if (!(await waitUntil(() => doesGatewayAnswer(state), 45_000))) {
    throw new Error(`the S3 gateway does not answer; see the logs in ${cephDirectory}`);
  }
  await ensureUsers(state);
  if (!(await doUsersGetAnswers(state))) throw new Error(`S3 refuses its users; see the logs in ${cephDirectory}`);
}

async function comeBack(state: State): Promise<boolean> {
  try {
    await restartCluster(state);
    await waitForService(state);
    return true;
  } catch (error) {
    say(`S3: the old data does not come back (${messageOf(error).split('\n')[0] ?? ''})`);
    return false;
  }
}

/** Says whether it had to be started. */
export async function ensureCeph(state: State): Promise<boolean> {
  if (areCurrent(cephConfigFiles(state)) && (await isCephHealthy(state))) return false;
  const isNew = !existsSync(cephDirectory);
  // What still runs ends in the right order, so that the object store can save what it holds.
  await stopCeph();
  state.ports.cephMonitor = await keepOrPickPort(state.ports.cephMonitor, portsOf(state));
  state.ports.s3 = await keepOrPickPort(state.ports.s3, portsOf(state));
  writeState(state);
  if (!isNew && canComeBack() && (await comeBack(state))) return true;
  if (!isNew) {
    say('S3: Ceph was not shut down cleanly and its memory is lost: starting with an empty one');
    await stopCeph();
  }
  await makeCluster(state);
  await waitForService(state);
  return true;
}
