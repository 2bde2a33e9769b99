// Starts an additional, empty PostgreSQL and ClickHouse for tests: INLET_STACK_DIR=… node stack/cli/stores.ts up|down.
// `up --replicas 2` starts two replicas of each shard and ZooKeeper.
// "up" prints the addresses. The clone's own stack is not affected.
import { rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { addressesOf } from '../addresses-of.ts';
import { ensureClickhouse, stopClickhouse } from '../clickhouse/lifecycle.ts';
import { directoryOverride } from '../environment.ts';
import { withLock } from '../lock.ts';
import { stackDirectory } from '../paths.ts';
import { ensurePostgres, stopPostgres } from '../postgres/lifecycle.ts';
import { printError, messageOf, printLine } from '../output.ts';
import { readOrCreateState } from '../state.ts';
import { ensureZookeeper, stopZookeeper } from '../zookeeper/lifecycle.ts';

const { values, positionals } = parseArgs({ options: { replicas: { type: 'string' } }, allowPositionals: true });

async function up(): Promise<void> {
  const state = await readOrCreateState();
  if (values.replicas !== undefined) state.replicaCount = values.replicas === '2' ? 2 : 1;
  await Promise.all([ensurePostgres(state), ensureZookeeper(state).then(() => ensureClickhouse(state))]);
  printLine(JSON.stringify(addressesOf(state)));
}

async function down(): Promise<void> {
  await Promise.all([stopPostgres(), stopClickhouse().then(stopZookeeper)]);
  rmSync(stackDirectory, { recursive: true, force: true });
}

const commands = new Map([
  ['up', up],
  ['down', down],
]);
const command = commands.get(positionals[0] ?? '');
if (command === undefined || directoryOverride === undefined || directoryOverride === '') {
  printError('Usage: INLET_STACK_DIR=<new directory> node stack/cli/stores.ts up|down [--replicas 2]');
  process.exit(2);
}
try {
  await withLock(command);
} catch (error) {
  printError(messageOf(error));
  process.exitCode = 1;
}
