import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { migrateEngine } from '../../src/adapters/clickhouse/migrate.ts';
import { renderMigration, replicatedTables } from '../../src/adapters/clickhouse/migration-sql.ts';
import { migrationFolder, readMigrationFiles } from '../../src/adapters/migration-files.ts';
import {
  type Replica,
  type ReplicatedServers,
  commandOn,
  replicasOf,
  selectOn,
  startReplicatedServers,
} from './replicated-servers.ts';

describe('migrating replicated shards', () => {
  let servers: ReplicatedServers;
  let database = '';
  let serial = 0;

  beforeAll(async () => {
    servers = await startReplicatedServers();
  });
  afterAll(() => servers.stop());
  beforeEach(() => {
    serial += 1;
    database = `migrated_${serial}`;
  });

  const migrate = (shards: readonly (readonly Replica[])[] = servers.shards): Promise<string[]> =>
    migrateEngine({
      shards: shards.map((replicas) => replicas.map(({ url }) => url)),
      database,
      cluster: servers.cluster,
      folder: 'migrations/clickhouse',
    });
  const select = (replica: Replica, query: string): Promise<string[]> => selectOn(replica, query, database);
  /** The definitions of all tables, without the name of the replica. */
  const schemaOf = (replica: Replica): Promise<string[]> =>
    select(
      replica,
      `SELECT replaceRegexpOne(create_table_query, '(Replicated\\\\w+\\\\(\\'[^\\']+\\', )\\'[^\\']+\\'', '\\\\1') FROM system.tables
       WHERE database = currentDatabase() ORDER BY name`,
    );
  const pathsOf = (replica: Replica): Promise<string[]> =>
    select(replica, 'SELECT zookeeper_path FROM system.replicas WHERE database = currentDatabase() ORDER BY table');

  it('creates the same tables on every replica and replicates those with published rows', async () => {
    expect((await migrate()).length).toBeGreaterThan(5);
    const [first, second] = replicasOf(servers, 0);
    expect(await schemaOf(second)).toEqual(await schemaOf(first));
    expect(await pathsOf(second)).toEqual(await pathsOf(first));
    expect(await pathsOf(first)).toHaveLength(replicatedTables.size);
    expect(await pathsOf(replicasOf(servers, 1)[0])).not.toEqual(await pathsOf(first));
    expect(await migrate()).toEqual([]);
  });

  it('continues with the same path if it was interrupted after the first table', async () => {
    const [first, second] = replicasOf(servers, 0);
    const [migration] = await readMigrationFiles(migrationFolder('clickhouse'));
    const path = { shardPath: `/inlet/${database}`, replicaName: 'first' };
    const [createFirstTable] = renderMigration(migration?.text ?? '', servers.cluster, path);
    await commandOn(first, `CREATE DATABASE ${database}`);
    await commandOn(first, createFirstTable?.sql ?? '', database);
    await migrate([[first, second]]);
    const expected = [...replicatedTables].toSorted().map((table) => `/inlet/${database}/${table}`);
    expect(await pathsOf(first)).toEqual(expected);
    expect(await pathsOf(second)).toEqual(expected);
  });

  it('gives a replica that is added later the current tables and their rows', async () => {
    const [first, second] = replicasOf(servers, 0);
    await migrate([[first, second]]);
    await commandOn(first, 'INSERT INTO known_devices_local SELECT generateUUIDv4() FROM numbers(100)', database);
    // As if the second replica had lost its disk.
    await commandOn(second, `DROP DATABASE ${database} SYNC`);
    await migrate([[first, second]]);
    await commandOn(second, 'SYSTEM SYNC REPLICA known_devices_local', database);
    expect(await select(second, 'SELECT toString(count()) FROM known_devices_local')).toEqual(['100']);
    expect(await schemaOf(second)).toEqual(await schemaOf(first));
  });

  it('refuses a second replica of a shard whose tables are not replicated', async () => {
    const [first, second] = replicasOf(servers, 0);
    await migrate([[first]]);
    await expect(migrate([[first, second]])).rejects.toThrow('its tables are not replicated');
  });

  it('refuses replicas of different shards', async () => {
    await migrate();
    await expect(migrate([[replicasOf(servers, 0)[0], replicasOf(servers, 1)[0]]])).rejects.toThrow(
      'tables of different shards',
    );
  });
});
