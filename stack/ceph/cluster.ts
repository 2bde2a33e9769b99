import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeConfigFiles } from '../files.ts';
import { run } from '../run.ts';
import type { State } from '../state.ts';
import {
  cephConfigFiles,
  cephDirectory,
  keyringFile,
  monitorAddress,
  monitorDirectory,
  osdDirectory,
} from './config.ts';
import { cephPid, runCeph, startCephDaemon } from './daemons.ts';

const completeMark = join(cephDirectory, 'complete');
const startedMark = join(cephDirectory, 'osd-started');
const monitorMap = join(cephDirectory, 'monmap');

/** Returns whether the cluster on disk can restart with its data. */
export function canRestart(): boolean {
  if (!existsSync(completeMark)) return false;
  if (cephPid('ceph-osd') !== undefined) return true;
  // The memory store writes this file at the end of a clean shutdown. If the file is older than the last start, the
  // data is lost.
  const saved = statSync(join(osdDirectory, 'collections'), { throwIfNoEntry: false });
  const started = statSync(startedMark, { throwIfNoEntry: false });
  return saved !== undefined && started !== undefined && saved.mtimeMs > started.mtimeMs;
}

async function startOsd(): Promise<void> {
  if (cephPid('ceph-osd') !== undefined) return;
  writeFileSync(startedMark, '');
  await startCephDaemon('ceph-osd');
}

async function createKeyring(): Promise<void> {
  const everything = ['mon', 'osd', 'mgr'].flatMap((daemon) => ['--cap', daemon, 'allow *']);
  const keys = [
    ['mon.', '--cap', 'mon', 'allow *'],
    ['client.admin', ...everything],
    ['osd.0', '--cap', 'mon', 'allow profile osd', '--cap', 'osd', 'allow *'],
  ];
  await run('ceph-authtool', ['--create-keyring', keyringFile]);
  for (const key of keys) await run('ceph-authtool', [keyringFile, '--gen-key', '-n', ...key]);
}

export async function createCluster(state: State): Promise<void> {
  rmSync(cephDirectory, { recursive: true, force: true });
  for (const directory of [cephDirectory, monitorDirectory, osdDirectory]) mkdirSync(directory, { mode: 0o700 });
  writeConfigFiles(cephConfigFiles(state));
  await createKeyring();
  const address = monitorAddress(state);
  await run('monmaptool', ['--create', '--fsid', state.cephClusterId, '--addv', 'a', address, monitorMap]);
  // The monitor imports all keys of the keyring, including the OSD's.
  await runCeph('ceph-mon', ['--mkfs', '-i', 'a', '--monmap', monitorMap, '--keyring', keyringFile]);
  await startCephDaemon('ceph-mon');
  const osdId = randomUUID();
  await Promise.all([
    runCeph('ceph', ['osd', 'new', osdId]),
    runCeph('ceph-osd', ['-i', '0', '--mkfs', '--osd-uuid', osdId]),
  ]);
  await startOsd();
  await startCephDaemon('radosgw');
  writeFileSync(completeMark, '');
}

/** The monitor stores its own address, so a new port must be written to its data before it starts. */
async function updateMonitorAddress(state: State): Promise<void> {
  await runCeph('ceph-mon', ['-i', 'a', '--extract-monmap', monitorMap]);
  await run('monmaptool', ['--rm', 'a', monitorMap]);
  await run('monmaptool', ['--addv', 'a', monitorAddress(state), monitorMap]);
  await runCeph('ceph-mon', ['-i', 'a', '--inject-monmap', monitorMap]);
}

export async function restartCluster(state: State): Promise<void> {
  writeConfigFiles(cephConfigFiles(state));
  if (cephPid('ceph-mon') === undefined) {
    await updateMonitorAddress(state);
    await startCephDaemon('ceph-mon');
  }
  await startOsd();
  await startCephDaemon('radosgw');
}
