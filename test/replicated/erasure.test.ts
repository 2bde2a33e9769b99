import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Engine, closeEngine, connectEngine } from '../../src/adapters/clickhouse/connect.ts';
import { clickhouseErasure } from '../../src/adapters/clickhouse/erasure/erasure-engine.ts';
import { clickhouseDeviceIndex } from '../../src/adapters/clickhouse/index/device-index.ts';
import { migrateEngine } from '../../src/adapters/clickhouse/migrate.ts';
import { findReplicaDifferences } from '../../src/adapters/clickhouse/replica-audit.ts';
import type { BatchScope, ErasureEngine } from '../../src/ports/erasure.ts';
import type { DeviceIndex } from '../../src/ports/device-index.ts';
import { waitUntil } from '../support/wait-until.ts';
import {
  type Replica,
  type ReplicatedServers,
  commandOn,
  engineSettings,
  killReplica,
  replicasOf,
  selectOn,
  startReplicatedServers,
  untilItSucceeds,
} from './replicated-servers.ts';

const { signal } = new AbortController();
const partnerId = 7;
/** The number of devices on each shard. Every second device is erased. */
const devices = 100;
const tables = ['device_attributes', 'audience_devices', 'known_devices', 'device_numbers'] as const;

describe('an erasure on replicated shards', () => {
  let servers: ReplicatedServers;
  const database = 'erasure';
  const connected: Engine[] = [];
  let listId = 0;
  let lastId = 0;

  const connect = (): Engine => {
    const options = { replicasRequired: 2, replicaLostAfterMs: 200, name: 'test' };
    const engine = connectEngine({ ...engineSettings(servers, database), ...options });
    connected.push(engine);
    return engine;
  };
  const everyReplica = (): Replica[] => [0, 1].flatMap((shard) => replicasOf(servers, shard));
  const deviceOf = (shard: number): string => `reinterpretAsUUID(sipHash128(number, ${shard}))`;

  /** Adds rows for every device on the first replica of each shard, and folds the known devices. */
  const insertDevices = async (index: DeviceIndex): Promise<void> => {
    for (const shard of [0, 1]) {
      const [replica] = replicasOf(servers, shard);
      const id = deviceOf(shard);
      for (const insert of [
        `INSERT INTO device_attributes_local (partner_id, attribute_id, device, id_type, country, version, is_deleted)
         SELECT ${partnerId}, 1, ${id}, 1, 'DE', 3, 0 FROM numbers(${devices})`,
        `INSERT INTO audience_devices_local (partner_id, audience_id, generation, device)
         SELECT ${partnerId}, 1, 1, ${id} FROM numbers(${devices})`,
        `INSERT INTO known_devices_local (device) SELECT ${id} FROM numbers(${devices})`,
      ])
        await commandOn(replica, insert, database);
    }
    lastId += 2;
    await index.takeLease(lastId - 1);
    await index.foldKnownDevices({ leaseId: lastId - 1, foldId: lastId }, []);
  };
  const rowsOn = async (replica: Replica, table: string): Promise<number> =>
    Number((await selectOn(replica, `SELECT uniqExact(device) FROM ${table}_local`, database))[0]);
  const rowsOnEveryReplica = async (): Promise<Record<string, readonly number[]>> => {
    const counts: Record<string, readonly number[]> = {};
    for (const table of tables)
      counts[table] = await Promise.all(everyReplica().map((replica) => rowsOn(replica, table)));
    return counts;
  };
  const expected = (rows: number) => Object.fromEntries(tables.map((table) => [table, [rows, rows, rows, rows]]));

  const list = async (erasure: ErasureEngine): Promise<BatchScope> => {
    listId += 1;
    for (const shard of [0, 1]) {
      const erased = `SELECT toString(${deviceOf(shard)}) FROM numbers(${devices}) WHERE number % 2 = 0`;
      await erasure.addIds(listId, partnerId, await selectOn(replicasOf(servers, shard)[0], erased, database));
    }
    return { listId, partnerIds: [partnerId] };
  };
  const erase = async (erasure: ErasureEngine, index: DeviceIndex, scope: BatchScope): Promise<void> => {
    await erasure.eraseRows(scope, signal);
    await erasure.eraseKnownDevices(scope, signal);
    lastId += 3;
    await index.takeLease(lastId - 2);
    const folds = {
      everywhere: { leaseId: lastId - 2, foldId: lastId - 1 },
      ofPartners: { leaseId: lastId - 2, foldId: lastId },
    };
    await erasure.eraseFromIndex(scope, folds, signal);
  };

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

  it('removes rows, known devices, and numbers from every replica, and counts everything that it removes', async () => {
    const engine = connect();
    const [erasure, index] = [clickhouseErasure(engine), clickhouseDeviceIndex(engine)];
    await insertDevices(index);
    await waitUntil(
      'all replicas have all rows',
      async () => JSON.stringify(await rowsOnEveryReplica()) === JSON.stringify(expected(devices)),
    );
    const scope = await list(erasure);
    const found = await erasure.countRows(scope);
    expect(found.filter(({ table }) => table === 'device_attributes').map(({ shard, rows }) => [shard, rows])).toEqual([
      [1, devices / 2],
      [2, devices / 2],
    ]);
    await erase(erasure, index, scope);
    expect(await rowsOnEveryReplica()).toEqual(expected(devices / 2));
    const remaining = await erasure.countRemaining(scope);
    expect(remaining.filter(({ rows }) => rows > 0)).toEqual([]);
    for (const table of tables)
      expect(remaining.filter((one) => one.table === table).map(({ shard, replica }) => `${shard}.${replica}`)).toEqual(
        ['1.1', '1.2', '2.1', '2.2'],
      );
    expect(await findReplicaDifferences(engine)).toEqual([]);
  });

  it('is not verified while a replica is unavailable, and is repeated when the replica is back', async () => {
    const before = connect();
    await insertDevices(clickhouseDeviceIndex(before));
    const scope = await list(clickhouseErasure(before));
    await killReplica(replicasOf(servers, 1)[1]);
    const erasure = clickhouseErasure(connect());
    // The number of rows on the replica is unknown, which is not the same as zero.
    await expect(erasure.countRemaining(scope)).rejects.toThrow(/replica|ECONNREFUSED|socket/i);
    await expect(erasure.countReplacedParts(new Date())).rejects.toThrow(/replica|ECONNREFUSED|socket/i);
    await expect(erasure.eraseRows(scope, signal)).rejects.toThrow(/replica|ECONNREFUSED|socket/i);
    servers = await servers.startAgain();
    const engine = connect();
    const [again, index] = [clickhouseErasure(engine), clickhouseDeviceIndex(engine)];
    await untilItSucceeds(() => erase(again, index, scope));
    expect((await again.countRemaining(scope)).filter(({ rows }) => rows > 0)).toEqual([]);
    expect(await rowsOnEveryReplica()).toEqual(expected(devices / 2));
  });
});
