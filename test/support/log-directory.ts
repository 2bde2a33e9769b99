import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readAddresses } from '../../stack/addresses.ts';

/** Where the processes of a test run write their logs. */
export const logDirectory = join(readAddresses().directory, 'test-logs');

/** No run of all suites takes longer. What the suites before wrote is looked at by the last. */
const longestRunMs = 90 * 60_000;

/** Removes the logs of earlier runs, and says whether any are left. */
export function keepRecentLogs(): boolean {
  mkdirSync(logDirectory, { recursive: true });
  for (const name of readdirSync(logDirectory)) {
    const path = join(logDirectory, name);
    if (Date.now() - statSync(path).mtimeMs > longestRunMs) rmSync(path, { recursive: true });
  }
  return readdirSync(logDirectory).length > 0;
}
