// Starts an additional, empty PostgreSQL and ClickHouse for tests: INLET_STACK_DIR=… node stack/cli/stores.ts up|down.
// "up" prints the addresses. The clone's own stack is not affected.
import { rmSync } from 'node:fs';
import { addressesOf } from '../addresses-of.ts';
import { ensureClickhouse, stopShard } from '../clickhouse/lifecycle.ts';
import { directoryOverride } from '../environment.ts';
import { withLock } from '../lock.ts';
import { stackDirectory } from '../paths.ts';
import { ensurePostgres, stopPostgres } from '../postgres/lifecycle.ts';
import { printError, messageOf, printLine } from '../output.ts';
import { readOrCreateState } from '../state.ts';

async function up(): Promise<void> {
  const state = await readOrCreateState();
  await Promise.all([ensurePostgres(state), ensureClickhouse(state)]);
  printLine(JSON.stringify(addressesOf(state)));
}

async function down(): Promise<void> {
  await Promise.all([stopPostgres(), stopShard(1), stopShard(2)]);
  rmSync(stackDirectory, { recursive: true, force: true });
}

const commands = new Map([
  ['up', up],
  ['down', down],
]);
const command = commands.get(process.argv[2] ?? '');
if (command === undefined || directoryOverride === undefined || directoryOverride === '') {
  printError('Usage: INLET_STACK_DIR=<new directory> node stack/cli/stores.ts up|down');
  process.exit(2);
}
try {
  await withLock(command);
} catch (error) {
  printError(messageOf(error));
  process.exitCode = 1;
}
