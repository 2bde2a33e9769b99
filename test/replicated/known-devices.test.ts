import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Engine, closeEngine, connectEngine } from '../../src/adapters/clickhouse/connect.ts';
import { clickhouseKnownDevicesRebuild } from '../../src/adapters/clickhouse/known-devices.ts';
import { migrateEngine } from '../../src/adapters/clickhouse/migrate.ts';
import { findReplicaDifferences } from '../../src/adapters/clickhouse/replica-audit.ts';
import { rebuildKnownDevices } from '../../src/usecases/admin/rebuild-known-devices.ts';
import { waitUntil } from '../support/wait-until.ts';
import {
  type ReplicatedServers,
  commandOn,
  engineSettings,
  replicasOf,
  selectOn,
  startReplicatedServers,
} from './replicated-servers.ts';

const never = new AbortController().signal;
const swapTables = 'EXCHANGE TABLES known_devices_local AND known_devices_next_local';

describe('a rebuild of the known devices on replicated shards', () => {
  const database = 'known_devices';
  let servers: ReplicatedServers;
  let engine: Engine;

  beforeAll(async () => {
    servers = await startReplicatedServers();
    const settings = engineSettings(servers, database);
    await migrateEngine({ ...settings, folder: 'migrations/clickhouse' });
    engine = connectEngine({ ...settings, name: 'test' });
  });
  afterAll(async () => {
    await closeEngine(engine);
    await servers.stop();
  });

  const id = 'reinterpretAsUUID(sipHash128(number))';
  /** Adds rows and known devices on one replica of each shard. */
  const insert = async (from: number, to: number, replica: 0 | 1): Promise<void> => {
    for (const shard of [0, 1]) {
      const ofShard = `FROM numbers(${from}, ${to - from}) WHERE number % 2 = ${shard}`;
      const on = (query: string): Promise<unknown> => commandOn(replicasOf(servers, shard)[replica], query, database);
      await on(`INSERT INTO device_attributes_local SELECT 1, 1, ${id}, 1, 'US', 16, 0 ${ofShard}`);
      await on(`INSERT INTO known_devices_local SELECT ${id} ${ofShard}`);
    }
  };
  /** Adds tombstones on the other replica, as deletions in an import do. */
  const deleteRows = async (from: number, to: number): Promise<void> => {
    for (const shard of [0, 1])
      await commandOn(
        replicasOf(servers, shard)[1],
        `INSERT INTO device_attributes_local SELECT 1, 1, ${id}, 1, 'US', 33, 1 FROM numbers(${from}, ${to - from}) WHERE number % 2 = ${shard}`,
        database,
      );
  };
  const knownOnEveryReplica = async (): Promise<string[]> => {
    await waitUntil('the replicas are equal', async () => (await findReplicaDifferences(engine)).length === 0, 30);
    const query = 'SELECT count() FROM (SELECT DISTINCT device FROM known_devices_local)';
    const replicas = [0, 1].flatMap((shard) => replicasOf(servers, shard));
    return Promise.all(replicas.map(async (one) => (await selectOn(one, query, database))[0] ?? ''));
  };
  const deps = (changes: Partial<ReturnType<typeof clickhouseKnownDevicesRebuild>> = {}) => ({
    knownDevices: { ...clickhouseKnownDevicesRebuild(engine), ...changes },
    knownDevicesStore: { advance: () => Promise.resolve(), recordRebuild: () => Promise.resolve() },
  });

  it('forgets devices that have no rows on any replica, and keeps devices that any replica adds in the meantime', async () => {
    await insert(0, 1000, 0);
    await deleteRows(0, 400);
    const steps = clickhouseKnownDevicesRebuild(engine);
    const fillAndInsert = async (signal: AbortSignal): Promise<void> => {
      await insert(1000, 1100, 1);
      await steps.fill(signal);
      await insert(1100, 1200, 0);
      await insert(1200, 1300, 1);
    };
    expect(await rebuildKnownDevices(deps({ fill: fillAndInsert }), never)).toEqual({ before: 1000, after: 900 });
    expect(await knownOnEveryReplica()).toEqual(['450', '450', '450', '450']);
  });

  it('completes a swap that was interrupted between two replicas', async () => {
    await deleteRows(400, 500);
    const interrupted = new Error('killed');
    const swap = async (): Promise<never> => {
      await commandOn(replicasOf(servers, 0)[1], swapTables, database);
      throw interrupted;
    };
    await expect(rebuildKnownDevices(deps({ swap }), never)).rejects.toBe(interrupted);
    await insert(1300, 1400, 0);
    await insert(1400, 1500, 1);
    expect(await rebuildKnownDevices(deps(), never)).toMatchObject({ after: 1000 });
    expect(await knownOnEveryReplica()).toEqual(['500', '500', '500', '500']);
  });
});
