// PostgreSQL and ClickHouse alone, empty, in a directory of their own: node stack/cli/stores.ts up|down, with INLET_STACK_DIR.
// For tests that need a second set of servers. "up" prints the addresses; the clone's own stack is left alone.
import { rmSync } from 'node:fs';
import { addressesOf } from '../addresses-of.ts';
import { ensureClickhouse, stopShard } from '../clickhouse/lifecycle.ts';
import { directoryOverride } from '../environment.ts';
import { withLock } from '../lock.ts';
import { stackDirectory } from '../paths.ts';
import { ensurePostgres, stopPostgres } from '../postgres/lifecycle.ts';
import { complain, messageOf, say } from '../say.ts';
import { readOrMakeState } from '../state.ts';

async function up(): Promise<void> {
  const state = await readOrMakeState();
  await Promise.all([ensurePostgres(state), ensureClickhouse(state)]);
  say(JSON.stringify(addressesOf(state)));
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
  complain('usage: INLET_STACK_DIR=<a new directory> node stack/cli/stores.ts up|down');
  process.exit(2);
}
try {
  await withLock(command);
} catch (error) {
  complain(messageOf(error));
  process.exitCode = 1;
}
