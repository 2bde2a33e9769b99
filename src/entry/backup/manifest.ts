import { readFile, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { z } from 'zod';
import { readMigrationFiles } from '../../adapters/migration-files.ts';
import { migrationFolder } from '../migrate.ts';

// What is in the folder of a backup. The rows of the engine are on the disk of each shard, in a folder of the same name.

const manifestSchema = z.object({
  takenAt: z.iso.datetime(),
  engineDatabase: z.string().regex(/^[a-z_][a-z0-9_]*$/),
  shards: z.int().positive(),
  /** Of both stores: what was restored has to be read by the code that it was written by. */
  migrations: z.array(z.string()),
});
export type Manifest = z.infer<typeof manifestSchema>;

export type BackupFolder = { readonly name: string; readonly dumpFile: string; readonly manifestFile: string };

export function backupFolder(folder: string): BackupFolder {
  const name = basename(resolve(folder));
  // It stands in statements of the engine.
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]*$/.test(name)) {
    throw new Error(`"${name}" is no name for a backup: letters, digits, "-" and "_".`);
  }
  return { name, dumpFile: join(folder, 'postgres.dump'), manifestFile: join(folder, 'backup.json') };
}

/** Written last: a folder without it holds no whole backup. */
export async function writeManifest({ manifestFile }: BackupFolder, manifest: Manifest): Promise<void> {
  await writeFile(manifestFile, `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });
}

export async function readManifest({ manifestFile }: BackupFolder): Promise<Manifest> {
  return manifestSchema.parse(JSON.parse(await readFile(manifestFile, 'utf8')));
}

export async function migrationsOfRelease(): Promise<string[]> {
  const stores = ['postgres', 'clickhouse'] as const;
  const files = await Promise.all(stores.map((store) => readMigrationFiles(migrationFolder(store))));
  return stores.flatMap((store, index) => (files[index] ?? []).map(({ name }) => `${store}/${name}`));
}
