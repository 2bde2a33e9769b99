import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Total file size of an installed package, without nested packages. The files come from the archive whose checksum is in
 * the lock file, so the size is the same on every machine, unlike disk usage.
 */
export function installedBytes(folder: string): number {
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries.reduce((sum, entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? sum : sum + installedBytes(path);
    return sum + statSync(path).size;
  }, 0);
}
