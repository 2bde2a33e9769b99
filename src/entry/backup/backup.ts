import { mkdir } from 'node:fs/promises';
import { clickhouseBackup } from '../../adapters/clickhouse/engine-backup.ts';
import { openControlBackup } from '../../adapters/postgres/control-backup.ts';
import type { LaneStore } from '../../ports/lane-store.ts';
import { takeBackup } from '../../usecases/admin/take-backup.ts';
import type { Config } from '../config.ts';
import { backupFolder, migrationsOfRelease, writeManifest } from './manifest.ts';
import { withServers } from './with-servers.ts';

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
    return await withServers(config, async (servers) => {
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
