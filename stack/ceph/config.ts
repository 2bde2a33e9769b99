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
# No admin sockets: nobody asks them, and the tools would fight with the gateway over the same path.
admin socket =
# One OSD has to be enough for everything.
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 4
osd crush chooseleaf type = 0
mon allow pool size one = true
mon osd min up ratio = 0
# The first start makes one pool after the other, and each waits for the monitor to write the next map.
paxos propose interval = 0.05
paxos min wait = 0.01
auth allow insecure global id reclaim = false
# A disk that others have filled is no reason to stop.
mon data avail crit = 1
mon data avail warn = 2
mon data = ${monitorDirectory}
osd data = ${osdDirectory}
osd objectstore = memstore
memstore device bytes = ${String(memstoreBytes)}
# The memory store is written to disk only in a full shutdown.
osd fast shutdown = false
rgw data = ${cephDirectory}/rgw
# Without it every answer waits 40 ms for an acknowledgement.
rgw frontends = beast endpoint=127.0.0.1:${String(state.ports.s3)} tcp_nodelay=1
rgw dynamic resharding = false
# Roles: the key seals the tokens that the gateway gives out, and must have 16 characters.
rgw s3 auth use sts = true
# Of several ways to know a caller the first says what is wrong: with the default order only "AccessDenied".
rgw s3 auth order = local, sts
rgw sts key = ${state.cephClusterId.replaceAll('-', '').slice(0, 16)}
# Deleted objects give their memory back after a minute and not after two hours.
rgw gc obj min wait = 60
rgw gc processor period = 60
rgw gc processor max time = 60
`;
  return new Map([[configFile, config]]);
}
