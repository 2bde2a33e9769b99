import { existsSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { addressesOf } from '../addresses-of.ts';
import { removeAddresses, writeAddresses } from '../addresses.ts';
import { ensureCeph } from '../ceph/lifecycle.ts';
import { ensureClickhouse, shardNumbers, shardPorts } from '../clickhouse/lifecycle.ts';
import { withLock } from '../lock.ts';
import { stackDirectory } from '../paths.ts';
import { ensurePostgres } from '../postgres/lifecycle.ts';
import { printError, messageOf, printLine, printServer, secondsSince } from '../output.ts';
import { readOrCreateState, type State } from '../state.ts';

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
    const started = await ensureClickhouse(state);
    for (const shard of shardNumbers(state)) {
      report(`ClickHouse shard ${String(shard)}`, shardPorts(state, shard).http, started.includes(shard));
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

async function up(shardCount: 1 | 2): Promise<void> {
  const start = performance.now();
  const missing = requiredPrograms.filter((path) => !existsSync(path));
  if (missing.length > 0) throw new Error(`Missing: ${missing.join(', ')}. Run "npm run stack:install" first.`);
  const state = await readOrCreateState();
  state.shardCount = shardCount;
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

const { values } = parseArgs({ options: { shards: { type: 'string', default: '2' } } });
if (values.shards !== '1' && values.shards !== '2') {
  printError('Usage: npm run stack:up -- [--shards 1|2]');
  process.exit(2);
}
const shardCount = values.shards === '1' ? 1 : 2;
try {
  await withLock(() => up(shardCount));
} catch (error) {
  printError(messageOf(error));
  process.exitCode = 1;
}
