import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export type MigrationFile = { readonly name: string; readonly text: string; readonly checksum: string };

/** The folder with this release's migrations. */
export function migrationFolder(store: 'postgres' | 'clickhouse'): string {
  return fileURLToPath(new URL(`../../migrations/${store}`, import.meta.url));
}

/** Reads the numbered files (`0001-name.sql`) in a folder, in order. Throws on a missing or duplicate number. */
export async function readMigrationFiles(folder: string): Promise<MigrationFile[]> {
  const names = (await readdir(folder)).filter((name) => /^\d{4}-[a-z0-9-]+\.sql$/.test(name)).toSorted();
  for (const [index, name] of names.entries()) {
    if (Number(name.slice(0, 4)) !== index + 1) throw new Error(`${folder}: expected number ${index + 1} at ${name}`);
  }
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(join(folder, name), 'utf8');
      return { name, text, checksum: createHash('sha256').update(text).digest('hex') };
    }),
  );
}

/**
 * Returns the files that have not run yet. Throws if a file was changed after it ran, because databases would then
 * differ.
 */
export function pendingMigrations(files: readonly MigrationFile[], done: ReadonlyMap<string, string>): MigrationFile[] {
  for (const { name, checksum } of files) {
    const ran = done.get(name);
    if (ran !== undefined && ran !== checksum)
      throw new Error(`${name} was changed after it ran. Restore it, and add a new file for further changes.`);
  }
  return files.filter(({ name }) => !done.has(name));
}
