import { join } from 'node:path';
import type { ConfigFiles } from '../files.ts';
import { stackDirectory } from '../paths.ts';
import type { State } from '../state.ts';

const memstoreBytes = 4 * 1024 ** 3;

export const cephDirectory = join(stackDirectory, 'ceph');
export const configFile = join(cephDirectory, 'ceph.conf');
export const keyringFile = join(cephDirectory, 'keyring');
export const monitorDirectory = join(cephDirectory, 'mon');
export const osdDirectory = join(cephDirectory, 'osd');

export function monitorAddress(state: State): string {
  return `[v2:127.0.0.1:${String(state.ports.cephMonitor)}]`;
}

export function s3Endpoint(state: State): string {
  return `http://127.0.0.1:${String(state.ports.s3)}`;
}

export function cephConfigFiles(state: State): ConfigFiles {
  const config = `[global]
fsid = ${state.cephClusterId}
mon host = ${monitorAddress(state)}
public addr = 127.0.0.1
cluster addr = 127.0.0.1
keyring = ${keyringFile}
run dir = ${cephDirectory}
log file = ${cephDirectory}/$name.log
# No admin sockets: they are not used, and the tools and the gateway would compete for the same path.
admin socket =
# A single OSD serves everything.
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 4
osd crush chooseleaf type = 0
mon allow pool size one = true
mon osd min up ratio = 0
# The first start creates pools one after the other, and each pool waits for the monitor's next map.
paxos propose interval = 0.05
paxos min wait = 0.01
auth allow insecure global id reclaim = false
# Keep running on a nearly full disk.
mon data avail crit = 1
mon data avail warn = 2
mon data = ${monitorDirectory}
osd data = ${osdDirectory}
osd objectstore = memstore
memstore device bytes = ${String(memstoreBytes)}
# The memory store is written to disk only in a clean shutdown.
osd fast shutdown = false
rgw data = ${cephDirectory}/rgw
# Without tcp_nodelay every response is delayed by 40 ms.
rgw frontends = beast endpoint=127.0.0.1:${String(state.ports.s3)} tcp_nodelay=1
rgw dynamic resharding = false
# STS roles: the key encrypts session tokens and must have 16 characters.
rgw s3 auth use sts = true
# The first authentication method determines the error code; the default order only yields "AccessDenied".
rgw s3 auth order = local, sts
rgw sts key = ${state.cephClusterId.replaceAll('-', '').slice(0, 16)}
# Free the memory of deleted objects after one minute instead of two hours.
rgw gc obj min wait = 60
rgw gc processor period = 60
rgw gc processor max time = 60
`;
  return new Map([[configFile, config]]);
}
