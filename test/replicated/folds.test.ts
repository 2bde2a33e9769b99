import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Engine, closeEngine, connectEngine } from '../../src/adapters/clickhouse/connect.ts';
import { clickhouseDeviceIndex } from '../../src/adapters/clickhouse/index/device-index.ts';
import { migrateEngine } from '../../src/adapters/clickhouse/migrate.ts';
import { findReplicaDifferences } from '../../src/adapters/clickhouse/replica-audit.ts';
import type { DeviceIndex, FoldedBlocks } from '../../src/ports/device-index.ts';
import { waitUntil } from '../support/wait-until.ts';
import {
  type ReplicatedServers,
  commandOn,
  engineSettings,
  killReplica,
  replicasOf,
  selectOn,
  startReplicatedServers,
  untilItSucceeds,
} from './replicated-servers.ts';

const devicesPerInsert = 1_000;

describe('a fold on replicated shards', () => {
  let servers: ReplicatedServers;
  const database = 'folds';
  const connected: Engine[] = [];
  let lastId = 0;
  let inserted = 0;
  let folded: readonly FoldedBlocks[] = [];

  /** An index that needs only one copy of its rows, so that it continues while a replica is behind. */
  const newIndex = (): DeviceIndex & { readonly engine: Engine } => {
    const engine = connectEngine({
      ...engineSettings(servers, database),
      replicasRequired: 1,
      replicaLostAfterMs: 200,
      name: 'test',
    });
    connected.push(engine);
    return { ...clickhouseDeviceIndex(engine), engine };
  };

  /** Adds known devices on one replica of each shard. */
  const insertDevices = async (): Promise<void> => {
    for (const index of [0, 1])
      await commandOn(
        replicasOf(servers, index)[0],
        `INSERT INTO known_devices_local SELECT reinterpretAsUUID(sipHash128(number, ${index}))
         FROM numbers(${inserted}, ${devicesPerInsert})`,
        database,
      );
    inserted += devicesPerInsert;
  };

  const fold = async (index: DeviceIndex): Promise<void> => {
    lastId += 2;
    await index.takeLease(lastId - 1);
    folded = await index.foldKnownDevices({ leaseId: lastId - 1, foldId: lastId }, folded);
  };

  const numbersOn = async (shard: number, replica: 0 | 1): Promise<string | undefined> =>
    (
      await selectOn(
        replicasOf(servers, shard)[replica],
        `SELECT concat(toString(count()), ' ', toString(uniqExact(device)), ' ', toString(uniqExact(number))) FROM device_numbers_local`,
        database,
      )
    )[0];

  /** Returns what differs between the index and the rows, between replicas, and between devices and numbers. */
  const findDifferences = async (index: DeviceIndex & { readonly engine: Engine }): Promise<string[]> => {
    const found = [...(await index.verify([]))];
    await waitUntil(
      'the replicas are equal',
      async () => (await findReplicaDifferences(index.engine)).length === 0,
      30,
    );
    for (const shard of [0, 1])
      for (const replica of [0, 1] as const) {
        const numbers = await numbersOn(shard, replica);
        if (numbers !== `${inserted} ${inserted} ${inserted}`) found.push(`shard ${shard}: ${numbers}`);
      }
    return found;
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

  it('writes the same numbers and bitmaps to all replicas', async () => {
    await insertDevices();
    const index = newIndex();
    await untilItSucceeds(() => fold(index));
    expect(await findDifferences(index)).toEqual([]);
  });

  it('assigns no number twice after the death of a replica with numbers that no other replica has', async () => {
    await insertDevices();
    const [first, second] = replicasOf(servers, 0);
    await commandOn(second, 'SYSTEM STOP FETCHES device_numbers_local', database);
    await untilItSucceeds(() => fold(newIndex()));
    await killReplica(first);
    await commandOn(second, 'SYSTEM START FETCHES device_numbers_local', database);
    await expect(fold(newIndex())).rejects.toThrow(/replica|ECONNREFUSED/);
    expect(await numbersOn(0, 1)).toBe(`${devicesPerInsert} ${devicesPerInsert} ${devicesPerInsert}`);
    servers = await servers.startAgain();
    await insertDevices();
    const index = newIndex();
    await untilItSucceeds(() => fold(index));
    expect(await findDifferences(index)).toEqual([]);
  });

  it('is repeated if a replica dies while the fold is running', async () => {
    await insertDevices();
    const running = fold(newIndex()).catch(() => undefined);
    await killReplica(replicasOf(servers, 1)[0]);
    await running;
    servers = await servers.startAgain();
    await insertDevices();
    const index = newIndex();
    await untilItSucceeds(() => fold(index));
    expect(await findDifferences(index)).toEqual([]);
  });
});
