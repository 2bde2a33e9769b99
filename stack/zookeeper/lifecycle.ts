// ZooKeeper coordinates the replicas of ClickHouse. In production, ClickHouse Keeper does this, but libchdb.so does not
// contain it.
import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { createConnection } from 'node:net';
import { join } from 'node:path';
import { areCurrent, writeConfigFiles, type ConfigFiles, writeSecretFile } from '../files.ts';
import { stackDirectory } from '../paths.ts';
import { keepOrPickPort } from '../ports.ts';
import { pidOf, stopDaemon, waitUntil, type Daemon } from '../processes.ts';
import { portsOf, writeState, type State } from '../state.ts';

/** Members of the ensemble have the numbers 1 to 3. */
const allMembers = [1, 2, 3] as const;
type Member = (typeof allMembers)[number];

/** Debian's package libzookeeper-java and its dependencies. */
const javaDirectory = '/usr/share/java';
const jars = [
  'zookeeper',
  'zookeeper-jute',
  'slf4j-api',
  'slf4j-simple',
  'metrics-core',
  'snappy-java',
  'commons-cli',
  'netty-buffer',
  'netty-codec',
  'netty-common',
  'netty-handler',
  'netty-resolver',
  'netty-transport',
  'netty-transport-native-epoll',
  'netty-transport-native-unix-common',
].map((name) => join(javaDirectory, `${name}.jar`));

const java = '/usr/bin/java';

export const zookeeperPrograms = [java, join(javaDirectory, 'zookeeper.jar')];

function directoryOf(member: Member): string {
  return join(stackDirectory, `zookeeper-${String(member)}`);
}

function daemonOf(member: Member): Daemon {
  const directory = directoryOf(member);
  return { pidFile: join(directory, 'server.pid'), commandLine: ['QuorumPeerMain', directory] };
}

export function zookeeperMembers({ replicaCount, zookeeperCount }: State): Member[] {
  return replicaCount === 1 ? [] : allMembers.slice(0, zookeeperCount);
}

export function zookeeperPid(member: Member): number | undefined {
  return pidOf(daemonOf(member));
}

export function zookeeperPort({ ports }: State, member: Member): number {
  return portsOfMember(ports, member).client;
}

function portsOfMember({ zookeeper }: State['ports'], member: Member): State['ports']['zookeeper'][number] {
  const ports = zookeeper[member - 1];
  if (ports === undefined) throw new Error(`The stack has no ports for ZooKeeper ${String(member)}.`);
  return ports;
}

function configFiles(state: State, member: Member): ConfigFiles {
  const directory = directoryOf(member);
  const members = zookeeperMembers(state);
  const ensemble = members.map((one) => {
    const { quorum, election } = portsOfMember(state.ports, one);
    return `server.${String(one)}=127.0.0.1:${String(quorum)}:${String(election)}`;
  });
  const config = [
    `dataDir=${directory}/data`,
    `clientPort=${String(zookeeperPort(state, member))}`,
    'clientPortAddress=127.0.0.1',
    'tickTime=500',
    'initLimit=20',
    'syncLimit=10',
    'maxClientCnxns=0',
    'admin.enableServer=false',
    '4lw.commands.whitelist=srvr',
    'autopurge.purgeInterval=1',
    'autopurge.snapRetainCount=3',
    ...(members.length === 1 ? [] : ensemble),
    '',
  ];
  return new Map([
    [join(directory, 'zoo.cfg'), config.join('\n')],
    [join(directory, 'data', 'myid'), `${String(member)}\n`],
  ]);
}

/** A member that has no quorum responds without its mode. */
export async function isZookeeperHealthy(state: State, member: Member): Promise<boolean> {
  if (zookeeperPid(member) === undefined) return false;
  const response = await new Promise<string>((resolve) => {
    const socket = createConnection(zookeeperPort(state, member), '127.0.0.1');
    let text = '';
    socket.setTimeout(1000, () => socket.destroy());
    socket.on('data', (data) => (text += data.toString()));
    socket.on('error', () => undefined);
    socket.on('close', () => resolve(text));
    socket.write('srvr');
  });
  return /Mode: (?:standalone|leader|follower)/.test(response);
}

export async function stopZookeeper(): Promise<void> {
  await Promise.all(allMembers.map((member) => stopDaemon(daemonOf(member), 5_000)));
}

function start(member: Member): void {
  const directory = directoryOf(member);
  const output = openSync(join(directory, 'zookeeper.log'), 'a', 0o600);
  const classPath = jars.filter((jar) => existsSync(jar)).join(':');
  const options = [
    '-Xms32m',
    '-Xmx128m',
    '-XX:+UseSerialGC',
    '-XX:TieredStopAtLevel=1',
    '-Djute.maxbuffer=8388608',
    '-Dzookeeper.forceSync=no',
    '-cp',
    classPath,
  ];
  const main = 'org.apache.zookeeper.server.quorum.QuorumPeerMain';
  const child = spawn(java, [...options, main, join(directory, 'zoo.cfg')], {
    cwd: directory,
    detached: true,
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  child.unref();
  writeSecretFile(daemonOf(member).pidFile, String(child.pid));
}

/** Starts the members that are not running. Returns whether any member had to be started. */
export async function ensureZookeeper(state: State): Promise<boolean> {
  const members = zookeeperMembers(state);
  if (members.length === 0) {
    await stopZookeeper();
    return false;
  }
  const areHealthy = async (): Promise<boolean> =>
    (await Promise.all(members.map((member) => isZookeeperHealthy(state, member)))).every(Boolean);
  if ((await areHealthy()) && members.every((member) => areCurrent(configFiles(state, member)))) return false;
  await stopZookeeper();
  for (const member of members) {
    const ports = portsOfMember(state.ports, member);
    ports.client = await keepOrPickPort(ports.client, portsOf(state));
    ports.quorum = await keepOrPickPort(ports.quorum, portsOf(state));
    ports.election = await keepOrPickPort(ports.election, portsOf(state));
  }
  writeState(state);
  for (const member of members) {
    mkdirSync(directoryOf(member), { recursive: true, mode: 0o700 });
    writeConfigFiles(configFiles(state, member));
    start(member);
  }
  if (!(await waitUntil(areHealthy, 30_000))) {
    throw new Error(`ZooKeeper did not start; see ${directoryOf(1)}/zookeeper.log`);
  }
  return true;
}
