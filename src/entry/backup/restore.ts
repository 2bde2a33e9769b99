import { requireEmptyEngine, restoreEngine } from '../../adapters/clickhouse/engine-backup.ts';
import { migrateEngine } from '../../adapters/clickhouse/migrate.ts';
import { requireEmptyControl, restoreControl } from '../../adapters/postgres/control-backup.ts';
import { prepareApiRole } from '../../adapters/postgres/db/api-role.ts';
import { underMigrationLock } from '../../adapters/postgres/db/migrate.ts';
import type { Config } from '../config.ts';
import { migrationFolder } from '../migrate.ts';
import { type Manifest, backupFolder, migrationsOfRelease, readManifest } from './manifest.ts';
import { withServers } from './with-servers.ts';

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
  await withServers(config, async (servers) => {
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
