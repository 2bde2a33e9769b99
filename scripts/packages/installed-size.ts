import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The bytes of the files of an installed package, without the packages in it. They are those of the archive whose checksum
 * is in the lock file, so they are the same everywhere; what a disk takes for them is not.
 */
export function installedBytes(folder: string): number {
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries.reduce((sum, entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? sum : sum + installedBytes(path);
    return sum + statSync(path).size;
  }, 0);
}
