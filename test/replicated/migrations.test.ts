import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { migrateEngine } from '../../src/adapters/clickhouse/migrate.ts';
import { replicatedTables } from '../../src/adapters/clickhouse/migration-sql.ts';
import {
  type Replica,
  type ReplicatedServers,
  commandOn,
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
  const replicasOf = (index: number): [Replica, Replica] => {
    const [first, second] = servers.shards[index] ?? [];
    if (!first || !second) throw new Error('no replicas');
    return [first, second];
  };

  it('creates the same tables on every replica and replicates those with published rows', async () => {
    expect((await migrate()).length).toBeGreaterThan(5);
    const [first, second] = replicasOf(0);
    expect(await schemaOf(second)).toEqual(await schemaOf(first));
    expect(await pathsOf(second)).toEqual(await pathsOf(first));
    expect(await pathsOf(first)).toHaveLength(replicatedTables.size);
    expect(await pathsOf(replicasOf(1)[0])).not.toEqual(await pathsOf(first));
    expect(await migrate()).toEqual([]);
  });

  it('continues with the same path if it was interrupted after the first replica', async () => {
    const [first, second] = replicasOf(0);
    await migrate([[first]]).catch(() => undefined);
    await commandOn(first, `DROP DATABASE ${database} SYNC`);
    await migrate([[first, second]]);
    await commandOn(second, `DROP DATABASE ${database} SYNC`);
    await migrate([[first, second]]);
    expect(await pathsOf(second)).toEqual(await pathsOf(first));
    expect(await schemaOf(second)).toEqual(await schemaOf(first));
  });

  it('gives a replica that is added later the current tables and their rows', async () => {
    const [first, second] = replicasOf(0);
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
    const [first, second] = replicasOf(0);
    await migrate([[first]]);
    await expect(migrate([[first, second]])).rejects.toThrow('its tables are not replicated');
  });

  it('refuses replicas of different shards', async () => {
    await migrate();
    await expect(migrate([[replicasOf(0)[0], replicasOf(1)[0]]])).rejects.toThrow('tables of different shards');
  });
});
