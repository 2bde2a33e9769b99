import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { addressesOf } from '../addresses-of.ts';
import { removeAddresses, writeAddresses } from '../addresses.ts';
import { ensureCeph } from '../ceph/lifecycle.ts';
import { serverName } from '../clickhouse/config.ts';
import { ensureClickhouse, serverNumbers, serverPorts } from '../clickhouse/lifecycle.ts';
import { withLock } from '../lock.ts';
import { stackDirectory } from '../paths.ts';
import { ensurePostgres } from '../postgres/lifecycle.ts';
import { printError, messageOf, printLine, printServer, secondsSince } from '../output.ts';
import { readOrCreateState, type Size, sizeSchema, type State } from '../state.ts';
import { ensureZookeeper, zookeeperMembers, zookeeperPort, zookeeperPrograms } from '../zookeeper/lifecycle.ts';

const requiredPrograms = [
  '/usr/bin/ceph',
  '/usr/bin/ceph-mon',
  '/usr/bin/ceph-osd',
  '/usr/bin/radosgw',
  '/usr/lib/postgresql/15/bin/initdb',
];

async function startAll(state: State): Promise<void> {
  const start = performance.now();
  const report = (name: string, port: number, started: boolean): void => {
    printServer(name, `127.0.0.1:${String(port)}`, started ? `started in ${secondsSince(start)}` : 'already running');
  };
  const postgres = async (): Promise<void> => {
    const started = await ensurePostgres(state);
    report('PostgreSQL 15', state.ports.postgres, started);
  };
  const clickhouse = async (): Promise<void> => {
    const isStarted = await ensureZookeeper(state);
    for (const member of zookeeperMembers(state)) {
      report(`ZooKeeper ${String(member)}`, zookeeperPort(state, member), isStarted);
    }
    const started = await ensureClickhouse(state);
    for (const server of serverNumbers(state)) {
      report(serverName(state, server), serverPorts(state, server).http, started.includes(server));
    }
  };
  const ceph = async (): Promise<void> => {
    const started = await ensureCeph(state);
    report('S3 (Ceph gateway)', state.ports.s3, started);
  };
  const results = await Promise.allSettled([postgres(), clickhouse(), ceph()]);
  const failures = results.flatMap((result) => (result.status === 'rejected' ? [messageOf(result.reason)] : []));
  if (failures.length > 0) throw new Error(failures.join('\n'));
}

async function up(size: Size): Promise<void> {
  const start = performance.now();
  const state = await readOrCreateState();
  Object.assign(state, size);
  const required = [...requiredPrograms, ...(state.replicaCount === 1 ? [] : zookeeperPrograms)];
  const missing = required.filter((path) => !existsSync(path));
  if (missing.length > 0) throw new Error(`Missing: ${missing.join(', ')}. Run "npm run stack:install" first.`);
  try {
    await startAll(state);
  } catch (error) {
    // Removes the file after a failed start, so that it never lists servers that are not running.
    removeAddresses();
    throw error;
  }
  writeAddresses(addressesOf(state));
  printLine(`All servers running after ${secondsSince(start)}. Data and logs: ${stackDirectory}`);
}

const usage = 'Usage: npm run stack:up -- [--shards 1|2] [--replicas 1|2] [--zookeepers 1|3]';

/** Sizes that are not specified stay the same. */
function readSize(): Size | null {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({ options: { shards: text, replicas: text, zookeepers: text } });
  const { shards, replicas, zookeepers } = values;
  const result = sizeSchema.safeParse({
    ...(shards === undefined ? {} : { shardCount: shards }),
    ...(replicas === undefined ? {} : { replicaCount: replicas }),
    ...(zookeepers === undefined ? {} : { zookeeperCount: zookeepers }),
  });
  return result.success ? result.data : null;
}

const size = readSize();
if (size === null) {
  printError(usage);
  process.exit(2);
}
try {
  await withLock(() => up(size));
} catch (error) {
  printError(messageOf(error));
  process.exitCode = 1;
}
