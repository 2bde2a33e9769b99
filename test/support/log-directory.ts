import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { readAddresses } from '../../stack/addresses.ts';

/** The directory for the logs of a test run's processes. */
export const logDirectory = join(readAddresses().directory, 'test-logs');

/** Longer than any full test run, because the last suite searches the logs of all earlier suites. */
const longestRunMs = 90 * 60_000;

/** Removes the logs of earlier runs. Returns whether any logs remain. */
export function keepRecentLogs(): boolean {
  mkdirSync(logDirectory, { recursive: true });
  for (const name of readdirSync(logDirectory)) {
    const path = join(logDirectory, name);
    if (Date.now() - statSync(path).mtimeMs > longestRunMs) rmSync(path, { recursive: true });
  }
  return readdirSync(logDirectory).length > 0;
}
