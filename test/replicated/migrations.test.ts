import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { migrateEngine } from '../../src/adapters/clickhouse/migrate.ts';
import { renderMigration, replicatedTables } from '../../src/adapters/clickhouse/migration-sql.ts';
import { migrationFolder, readMigrationFiles } from '../../src/adapters/migration-files.ts';
import { waitUntil } from '../support/wait-until.ts';
import {
  type Replica,
  type ReplicatedServers,
  commandOn,
  killReplica,
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

  const migrate = (
    shards: readonly (readonly Replica[])[] = servers.shards,
    options: { readonly replicatesTables?: true } = {},
  ): Promise<string[]> =>
    migrateEngine({
      shards: shards.map((replicas) => replicas.map(({ url }) => url)),
      database,
      cluster: servers.cluster,
      folder: 'migrations/clickhouse',
      ...options,
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

  it('creates the same tables on every replica and replicates the tables with published rows', async () => {
    expect((await migrate()).length).toBeGreaterThan(5);
    const [first, second] = replicasOf(servers, 0);
    expect(await schemaOf(second)).toEqual(await schemaOf(first));
    expect(await pathsOf(second)).toEqual(await pathsOf(first));
    expect(await pathsOf(first)).toHaveLength(replicatedTables.size);
    expect(await pathsOf(replicasOf(servers, 1)[0])).not.toEqual(await pathsOf(first));
    expect(await migrate()).toEqual([]);
  });

  it('continues with the same ZooKeeper path if it was interrupted after the first table', async () => {
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

  it('copies the current tables and their rows to a replica that is added later', async () => {
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

  it('rebuilds a replica that lost its disk', async () => {
    await migrate();
    const [first, second] = replicasOf(servers, 0);
    await commandOn(first, 'INSERT INTO known_devices_local SELECT generateUUIDv4() FROM numbers(100)', database);
    await killReplica(second);
    await rm(join(servers.directory, 'clickhouse-3'), { recursive: true });
    servers = await servers.startAgain();
    // ClickHouse forgets a replica only when its session with ZooKeeper has expired.
    await waitUntil(
      'the replica is rebuilt',
      () =>
        migrate().then(
          () => true,
          () => false,
        ),
      60,
    );
    const [, rebuilt] = replicasOf(servers, 0);
    await commandOn(rebuilt, 'SYSTEM SYNC REPLICA known_devices_local', database);
    expect(await select(rebuilt, 'SELECT toString(count()) FROM known_devices_local')).toEqual(['100']);
    expect(await schemaOf(rebuilt)).toEqual(await schemaOf(replicasOf(servers, 0)[0]));
  });

  it('rejects a list with replicas of different shards', async () => {
    await migrate();
    await expect(migrate([[replicasOf(servers, 0)[0], replicasOf(servers, 1)[0]]])).rejects.toThrow(
      'tables of different shards',
    );
  });

  describe('adding a replica to a shard without replicas', () => {
    const rows = 1000;
    /** Creates plain tables with rows on the first server. */
    const createPlainShard = async (): Promise<[Replica, Replica]> => {
      const [first, second] = replicasOf(servers, 0);
      await migrate([[first]]);
      await commandOn(first, `INSERT INTO known_devices_local SELECT generateUUIDv4() FROM numbers(${rows})`, database);
      await commandOn(
        first,
        `INSERT INTO device_attributes_local (partner_id, attribute_id, device, version)
         SELECT number % 3, 1, generateUUIDv4(), 2 FROM numbers(${rows})`,
        database,
      );
      return [first, second];
    };
    const countOn = async (replica: Replica): Promise<string[]> => {
      for (const table of replicatedTables) await commandOn(replica, `SYSTEM SYNC REPLICA ${table}`, database);
      return select(
        replica,
        'SELECT toString(count()) FROM known_devices_local UNION ALL SELECT toString(count()) FROM device_attributes_local',
      );
    };

    it('requires an explicit command', async () => {
      const [first, second] = await createPlainShard();
      await expect(migrate([[first, second]])).rejects.toThrow('inlet topology change --confirm');
    });

    it('keeps the rows and copies them to the new replica', async () => {
      const [first, second] = await createPlainShard();
      await migrate([[second, first]], { replicatesTables: true });
      for (const replica of [first, second]) expect(await countOn(replica)).toEqual([String(rows), String(rows)]);
      expect(await pathsOf(second)).toEqual(await pathsOf(first));
      expect(await schemaOf(second)).toEqual(await schemaOf(first));
      expect(await migrate([[second, first]], { replicatesTables: true })).toEqual([]);
    });

    it.each(['before', 'after'])('continues if it was interrupted %s a table was replaced', async (moment) => {
      const [first, second] = await createPlainShard();
      const copy = 'device_attributes_local_replicated';
      const [name] = await select(first, `SELECT concat(hostName(), '-', toString(tcpPort()))`);
      const [engine = ''] = await select(
        first,
        `SELECT engine_full FROM system.tables WHERE database = currentDatabase() AND name = 'device_attributes_local'`,
      );
      const path = `'/inlet/${database}/device_attributes_local', '${name ?? ''}', `;
      const replicated = engine.replace('ReplacingMergeTree(', `ReplicatedReplacingMergeTree(${path}`);
      await commandOn(first, `CREATE TABLE ${copy} AS device_attributes_local ENGINE = ${replicated}`, database);
      await commandOn(first, `ALTER TABLE ${copy} ATTACH PARTITION ALL FROM device_attributes_local`, database);
      if (moment === 'after') await commandOn(first, `EXCHANGE TABLES device_attributes_local AND ${copy}`, database);
      await migrate([[first, second]], { replicatesTables: true });
      for (const replica of [first, second]) expect(await countOn(replica)).toEqual([String(rows), String(rows)]);
      expect(
        await select(
          first,
          `SELECT name FROM system.tables WHERE database = currentDatabase() AND endsWith(name, '_replicated')`,
        ),
      ).toEqual([]);
    });
  });
});
