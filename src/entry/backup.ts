import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { z } from 'zod';
import { type Engine, closeEngine, connectEngine } from '../adapters/clickhouse/connect.ts';
import { clickhouseBackup, requireEmptyEngine, restoreEngine } from '../adapters/clickhouse/engine-backup.ts';
import { migrateEngine } from '../adapters/clickhouse/migrate.ts';
import { readMigrationFiles } from '../adapters/migration-files.ts';
import { openControlBackup, requireEmptyControl, restoreControl } from '../adapters/postgres/control-backup.ts';
import { prepareApiRole } from '../adapters/postgres/db/api-role.ts';
import { underMigrationLock } from '../adapters/postgres/db/migrate.ts';
import type { LaneStore } from '../ports/lane-store.ts';
import { takeBackup } from '../usecases/admin/take-backup.ts';
import type { Config } from './config.ts';
import { migrationFolder } from './migrate.ts';

// What is in the folder of a backup. The rows of the engine are on the disk of each shard, in a folder of the same name.

const manifestSchema = z.object({
  takenAt: z.iso.datetime(),
  engineDatabase: z.string().regex(/^[a-z_][a-z0-9_]*$/),
  shards: z.int().positive(),
  /** Of both stores: what was restored has to be read by the code that it was written by. */
  migrations: z.array(z.string()),
});
export type Manifest = z.infer<typeof manifestSchema>;

type BackupFolder = { readonly name: string; readonly dumpFile: string; readonly manifestFile: string };

function backupFolder(folder: string): BackupFolder {
  const name = basename(resolve(folder));
  // It stands in statements of the engine.
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]*$/.test(name)) {
    throw new Error(`"${name}" is no name for a backup: letters, digits, "-" and "_".`);
  }
  return { name, dumpFile: join(folder, 'postgres.dump'), manifestFile: join(folder, 'backup.json') };
}

/** Written last: a folder without it holds no whole backup. */
async function writeManifest({ manifestFile }: BackupFolder, manifest: Manifest): Promise<void> {
  await writeFile(manifestFile, `${JSON.stringify(manifest, null, 2)}\n`, { mode: 0o600 });
}

async function readManifest({ manifestFile }: BackupFolder): Promise<Manifest> {
  return manifestSchema.parse(JSON.parse(await readFile(manifestFile, 'utf8')));
}

async function migrationsOfRelease(): Promise<string[]> {
  const stores = ['postgres', 'clickhouse'] as const;
  const files = await Promise.all(stores.map((store) => readMigrationFiles(migrationFolder(store))));
  return stores.flatMap((store, index) => (files[index] ?? []).map(({ name }) => `${store}/${name}`));
}

/** The shards, in no database of ours: it may not be there yet. */
async function withEngineServers<T>(config: Config, run: (servers: Engine) => Promise<T>): Promise<T> {
  const servers = connectEngine({
    urls: config.INLET_CLICKHOUSE_URLS,
    database: 'system',
    cluster: config.INLET_CLICKHOUSE_CLUSTER,
    name: 'inlet-backup',
  });
  try {
    return await run(servers);
  } finally {
    await closeEngine(servers);
  }
}

/** Into a folder that must not be there yet. Gives for how many seconds the lanes stood still. */
export async function backup(
  { config, lanes }: { config: Config; lanes: LaneStore },
  folder: string,
  patienceSeconds: number,
): Promise<number> {
  const place = backupFolder(folder);
  const engineDatabase = config.INLET_CLICKHOUSE_DATABASE;
  const control = await openControlBackup(config.INLET_POSTGRES_URL, config.INLET_POSTGRES_TOOLS);
  try {
    // The dump holds hashes of keys and sealed credentials.
    await mkdir(folder, { mode: 0o700 });
    return await withEngineServers(config, async (servers) => {
      const engine = clickhouseBackup(servers, engineDatabase, config.INLET_CLICKHOUSE_BACKUP_DISK);
      const { takenAt, pausedSeconds } = await takeBackup({ control, engine, lanes }, { ...place, patienceSeconds });
      const migrations = await migrationsOfRelease();
      await writeManifest(place, {
        takenAt: takenAt.toISOString(),
        engineDatabase,
        shards: servers.shards.length,
        migrations,
      });
      return pausedSeconds;
    });
  } finally {
    await control.close();
  }
}

/**
 * The engine first: until the control plane is there, which comes all at once, no process of Inlet can start on half of
 * what was saved.
 */
export async function restore(config: Config, folder: string): Promise<Manifest> {
  const place = backupFolder(folder);
  const manifest = await readManifest(place);
  const database = config.INLET_CLICKHOUSE_DATABASE;
  const urls = config.INLET_CLICKHOUSE_URLS;
  if (manifest.shards !== urls.length) {
    throw new Error(
      `The backup is of ${manifest.shards} shards: name as many in INLET_CLICKHOUSE_URLS, in their order.`,
    );
  }
  if (String(manifest.migrations) !== String(await migrationsOfRelease())) {
    throw new Error(
      'The backup was taken by a release with other migrations. Restore with that one, then deploy this.',
    );
  }
  await requireEmptyControl(config.INLET_POSTGRES_URL);
  await withEngineServers(config, async (servers) => {
    await requireEmptyEngine(servers, database);
    const cluster = config.INLET_CLICKHOUSE_CLUSTER;
    await migrateEngine({ urls, database, cluster, folder: migrationFolder('clickhouse') });
    const disk = config.INLET_CLICKHOUSE_BACKUP_DISK;
    await restoreEngine(servers, database, { disk, name: place.name, from: manifest.engineDatabase });
  });
  await restoreControl(config.INLET_POSTGRES_URL, config.INLET_POSTGRES_TOOLS, place.dumpFile);
  // A dump has no roles, and rights that are given to one are left out.
  await underMigrationLock(config.INLET_POSTGRES_URL, (client) => prepareApiRole(client, config.INLET_API_ROLE));
  return manifest;
}
