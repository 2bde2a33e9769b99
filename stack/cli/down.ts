import { rmSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { removeAddresses } from '../addresses.ts';
import { stopCeph } from '../ceph/daemons.ts';
import { stopClickhouse } from '../clickhouse/lifecycle.ts';
import { withLock } from '../lock.ts';
import { stackDirectory } from '../paths.ts';
import { stopPostgres } from '../postgres/lifecycle.ts';
import { printError, messageOf, printLine, secondsSince } from '../output.ts';
import { readState } from '../state.ts';
import { stopZookeeper } from '../zookeeper/lifecycle.ts';

async function down(purge: boolean): Promise<void> {
  const start = performance.now();
  removeAddresses();
  if (readState() === undefined) {
    printLine(`Nothing to stop: there is no stack in ${stackDirectory}`);
    return;
  }
  const results = await Promise.allSettled([stopPostgres(), stopClickhouse().then(stopZookeeper), stopCeph()]);
  const failures = results.flatMap((result) => (result.status === 'rejected' ? [messageOf(result.reason)] : []));
  if (failures.length > 0) throw new Error(failures.join('\n'));
  if (purge) rmSync(stackDirectory, { recursive: true, force: true });
  const data = purge ? `Removed ${stackDirectory}` : `Data remains in ${stackDirectory}`;
  printLine(`All servers stopped in ${secondsSince(start)}. ${data}`);
}

const { values } = parseArgs({ options: { purge: { type: 'boolean', default: false } } });
try {
  await withLock(() => down(values.purge));
} catch (error) {
  printError(messageOf(error));
  process.exitCode = 1;
}
