import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Engine, closeEngine, connectEngine } from '../../src/adapters/clickhouse/connect.ts';
import { migrateEngine } from '../../src/adapters/clickhouse/migrate.ts';
import { clickhouseRemovalEngine } from '../../src/adapters/clickhouse/removal-engine.ts';
import type { LoadOwners } from '../../src/ports/partner-removal.ts';
import {
  type Replica,
  type ReplicatedServers,
  commandOn,
  engineSettings,
  killReplica,
  replicasOf,
  selectOn,
  startReplicatedServers,
} from './replicated-servers.ts';

const { signal } = new AbortController();
const partnerId = 7;
const otherId = 8;
/** Each partner's file and load. */
const owners = new Map([
  [70, partnerId],
  [80, otherId],
]);
const ownersOf = (ids: readonly number[]) =>
  Promise.resolve(new Map(ids.flatMap((id) => [[id, owners.get(id) ?? 0] as const])));
const loadOwners: LoadOwners = { ownersOfFiles: ownersOf, ownersOfLoads: ownersOf };
/** Rows of these tables are inserted on both replicas of a shard, because they are not replicated. */
const plainTables: ReadonlySet<string> = new Set(['staged_attributes', 'load_counts']);

describe('a removal on replicated shards', () => {
  let servers: ReplicatedServers;
  const database = 'removal';
  const connected: Engine[] = [];

  const connect = () => {
    const options = { replicasRequired: 2, replicaLostAfterMs: 200, name: 'test' };
    const engine = connectEngine({ ...engineSettings(servers, database), ...options });
    connected.push(engine);
    return clickhouseRemovalEngine(engine);
  };
  const everyReplica = (): Replica[] => [0, 1].flatMap((shard) => replicasOf(servers, shard));
  const insertRows = async (id: number): Promise<void> => {
    const inserts: Record<string, string> = {
      device_attributes: `SELECT ${id}, 1, generateUUIDv4(), 1, 'DE', 3, 0`,
      audience_devices: `SELECT ${id}, 1, 1, generateUUIDv4(), '', 1`,
      staged_attributes: `SELECT ${id * 10}, ${id}, 1, generateUUIDv4(), 1, 'DE', 3, 0`,
      load_rejects: `SELECT ${id * 10}, ${id * 10}, 'invalid_id', 1, 'line', today()`,
      load_counts: `(load_id, file_id, reason, rows, bytes, first_row) SELECT ${id * 10}, ${id * 10}, '', 1, 1, 1`,
    };
    for (const shard of [0, 1]) {
      for (const [table, values] of Object.entries(inserts)) {
        const [first, second] = replicasOf(servers, shard);
        for (const replica of plainTables.has(table) ? [first, second] : [first])
          await commandOn(replica, `INSERT INTO ${table}_local ${values}`, database);
      }
    }
  };
  const count = async () => {
    const engine = connect();
    return [...(await engine.countRows(partnerId)), ...(await engine.countLoads(partnerId, loadOwners))];
  };
  const places = ['audience_devices', 'device_attributes', 'load_counts', 'load_rejects', 'staged_attributes'];

  beforeAll(async () => {
    servers = await startReplicatedServers();
    await migrateEngine({ ...engineSettings(servers, database), folder: 'migrations/clickhouse' });
  });
  afterEach(async () => {
    await Promise.all(connected.splice(0).map(closeEngine));
  });
  afterAll(async () => {
    await servers.stop();
  });

  it('removes rows from every replica, including from tables that are not replicated, and counts all of them', async () => {
    await insertRows(partnerId);
    await insertRows(otherId);
    const found = (await count()).filter((one) => one.count > 0);
    expect(
      found.map(({ place, shard, replica, count: rows }) => `${place} ${shard}.${replica} ${rows}`).toSorted(),
    ).toEqual(places.flatMap((place) => ['1.1', '1.2', '2.1', '2.2'].map((server) => `${place} ${server} 1`)));
    const engine = connect();
    await engine.removeLoads(partnerId, loadOwners, signal);
    await engine.removeRows(partnerId, signal);
    expect((await count()).filter((one) => one.count > 0)).toEqual([]);
    for (const replica of everyReplica())
      for (const place of places)
        expect([place, ...(await selectOn(replica, `SELECT count() FROM ${place}_local`, database))]).toEqual([
          place,
          '1',
        ]);
  });

  it('is not verified while a replica is unavailable', async () => {
    await killReplica(replicasOf(servers, 1)[1]);
    // The number of rows on the replica is unknown, which is not the same as zero.
    await expect(count()).rejects.toThrow(/replica|ECONNREFUSED|socket/i);
    await expect(connect().removeRows(partnerId, signal)).rejects.toThrow(/replica|ECONNREFUSED|socket/i);
  });
});
