import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { z } from 'zod';
import { type Engine, type EngineOptions, closeEngine, connectEngine } from '../adapters/clickhouse/connect.ts';
import { clickhouseBackup, requireEmptyEngine, restoreEngine } from '../adapters/clickhouse/engine-backup.ts';
import { assignShardIdentities } from '../adapters/clickhouse/topology.ts';
import { migrateEngine } from '../adapters/clickhouse/migrate.ts';
import { migrationFolder, readMigrationFiles } from '../adapters/migration-files.ts';
import { openControlBackup, requireEmptyControl, restoreControl } from '../adapters/postgres/control-backup.ts';
import { prepareApiRole } from '../adapters/postgres/db/api-role.ts';
import { underMigrationLock } from '../adapters/postgres/db/migration-lock.ts';
import type { BackupHistory } from '../ports/backup.ts';
import type { LaneStore } from '../ports/lane-store.ts';
import { requireRecordedTopology } from '../usecases/admin/topology.ts';
import { type TakenBackup, recordBackup, takeBackup } from '../usecases/admin/take-backup.ts';
import type { Config } from './config.ts';
import { engineOptions, withTopology } from './connect-engine.ts';
import { engineTlsOf } from './store-tls-settings.ts';
import { createLogger } from './logging.ts';
import { syncUsedList } from './suppression.ts';

// Contents of a backup folder. The ClickHouse rows are on each shard's backup disk, in a folder with the same name.

const manifestSchema = z.object({
  takenAt: z.iso.datetime(),
  engineDatabase: z.string().regex(/^[a-z_][a-z0-9_]*$/),
  shards: z.int().positive(),
  /** Migrations of both databases. Only a release with the same migrations can restore the backup. */
  migrations: z.array(z.string()),
});
export type Manifest = z.infer<typeof manifestSchema>;

type BackupFolder = { readonly name: string; readonly dumpFile: string; readonly manifestFile: string };

function backupFolder(folder: string): BackupFolder {
  const name = basename(resolve(folder));
  // The name is used in ClickHouse statements.
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]*$/.test(name)) {
    throw new Error(`"${name}" is not a valid backup name. Use letters, digits, "-", and "_".`);
  }
  return { name, dumpFile: join(folder, 'postgres.dump'), manifestFile: join(folder, 'backup.json') };
}

/** Call this function last, because the manifest marks a backup as complete. */
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

async function withEngine<T>(options: EngineOptions, run: (engine: Engine) => Promise<T>): Promise<T> {
  const engine = connectEngine(options);
  try {
    return await run(engine);
  } finally {
    await closeEngine(engine);
  }
}

/** Connects to the servers without selecting Inlet's database, which may not exist yet. */
function withEngineServers<T>(config: Config, run: (servers: Engine) => Promise<T>): Promise<T> {
  return withEngine({ ...engineOptions(config, 'inlet-backup'), database: 'system' }, run);
}

/**
 * Backs up to a new folder. Returns how long lanes were paused and, if the backup could not be recorded, the reason.
 */
export async function backup(
  { config, lanes, backups }: { config: Config; lanes: LaneStore; backups: BackupHistory },
  folder: string,
  timeoutSeconds: number,
): Promise<{ readonly pausedSeconds: number; readonly notRecorded: string | null }> {
  const place = backupFolder(folder);
  const destination = `${resolve(folder)}, ClickHouse disk ${config.INLET_CLICKHOUSE_BACKUP_DISK}`;
  return recordBackup(backups, destination, () => writeBackup({ config, lanes }, place, { folder, timeoutSeconds }));
}

async function writeBackup(
  { config, lanes }: { readonly config: Config; readonly lanes: LaneStore },
  place: BackupFolder,
  { folder, timeoutSeconds }: { readonly folder: string; readonly timeoutSeconds: number },
): Promise<TakenBackup & { readonly bytes: number }> {
  const engineDatabase = config.INLET_CLICKHOUSE_DATABASE;
  // Otherwise, a missing shard would be noticed only during the restore.
  const silent = createLogger({ name: 'inlet-backup', level: 'silent' });
  await withTopology(config, silent, requireRecordedTopology);
  const control = await openControlBackup(config.INLET_POSTGRES_URL, config.INLET_POSTGRES_TOOLS);
  try {
    // The dump contains key hashes and sealed credentials.
    await mkdir(folder, { mode: 0o700 });
    return await withEngineServers(config, async (servers) => {
      const engine = clickhouseBackup(servers, engineDatabase, config.INLET_CLICKHOUSE_BACKUP_DISK);
      const taken = await takeBackup({ control, engine, lanes }, { ...place, timeoutSeconds });
      const migrations = await migrationsOfRelease();
      await writeManifest(place, {
        takenAt: taken.takenAt.toISOString(),
        engineDatabase,
        shards: servers.shards.length,
        migrations,
      });
      return { ...taken, bytes: taken.engineBytes + (await stat(place.dumpFile)).size };
    });
  } finally {
    await control.close();
  }
}

/**
 * Restores ClickHouse first, and then PostgreSQL in one transaction. No Inlet process can start before that transaction
 * commits, so none starts with partially restored data.
 */
export async function restore(config: Config, folder: string): Promise<Manifest> {
  const place = backupFolder(folder);
  const manifest = await readManifest(place);
  const database = config.INLET_CLICKHOUSE_DATABASE;
  const shards = config.INLET_CLICKHOUSE_URLS;
  if (manifest.shards !== shards.length) {
    throw new Error(
      `The backup has ${manifest.shards} shards. List the same number in INLET_CLICKHOUSE_URLS, in the same order.`,
    );
  }
  if (String(manifest.migrations) !== String(await migrationsOfRelease())) {
    throw new Error(
      'The backup was taken by a release with different migrations. Restore it with that release, then deploy this one.',
    );
  }
  await requireEmptyControl(config.INLET_POSTGRES_URL);
  await withEngineServers(config, async (servers) => {
    await requireEmptyEngine(servers, database);
    const cluster = config.INLET_CLICKHOUSE_CLUSTER;
    await migrateEngine({ shards, database, cluster, folder: migrationFolder('clickhouse'), tls: engineTlsOf(config) });
    const disk = config.INLET_CLICKHOUSE_BACKUP_DISK;
    await restoreEngine(servers, database, { disk, name: place.name, from: manifest.engineDatabase });
  });
  // The backup has one identity per shard, but every replica needs it.
  await withEngine(engineOptions(config, 'inlet-backup'), assignShardIdentities);
  await restoreControl(config.INLET_POSTGRES_URL, config.INLET_POSTGRES_TOOLS, place.dumpFile);
  // A dump contains neither roles nor their grants.
  await underMigrationLock(config.INLET_POSTGRES_URL, (client) => prepareApiRole(client, config.INLET_API_ROLE));
  // The backup has the hashes of the list, but not the sets that loads are checked against.
  await syncUsedList(config);
  return manifest;
}
