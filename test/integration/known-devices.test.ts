import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Engine, closeEngine } from '../../src/adapters/clickhouse/connect.ts';
import { clickhouseKnownDevicesRebuild } from '../../src/adapters/clickhouse/known-devices.ts';
import { clickhouseWarehouse } from '../../src/adapters/clickhouse/warehouse.ts';
import { Failure } from '../../src/domain/failure.ts';
import { versionsOfJob } from '../../src/domain/job.ts';
import { rebuild } from '../../src/entry/known-devices.ts';
import type { KnownDevicesRebuild, Warehouse } from '../../src/ports/warehouse.ts';
import { rebuildKnownDevices } from '../../src/usecases/admin/rebuild-known-devices.ts';
import { device } from '../support/device-id.ts';
import { commandOnShards, selectOnShards } from '../support/shard-tables.ts';
import { type TestStores, createStores, withDatabase } from '../support/stores.ts';
import { connectTestEngine } from '../support/test-engine.ts';
import { waitUntil } from '../support/wait-until.ts';

const partnerId = 5;

describe('rebuilding the known devices', () => {
  let stores: TestStores;
  let engine: Engine;
  let warehouse: Warehouse;
  let steps: KnownDevicesRebuild;
  let seq = 0;

  beforeAll(async () => {
    stores = await createStores('two');
    engine = connectTestEngine(stores);
    warehouse = clickhouseWarehouse(engine);
    steps = clickhouseKnownDevicesRebuild(engine);
  });
  afterAll(async () => {
    await closeEngine(engine);
    await stores.drop();
  });

  /** Adds attribute rows and staged devices, as the loads of an import do. */
  const stage = async (attributeId: number, from: number, to: number): Promise<number> => {
    seq += 1;
    const devices = `SELECT toUUID(one) AS device FROM (SELECT arrayJoin([${Array.from(
      { length: to - from },
      (_, n) => `'${device(from + n)}'`,
    ).join()}]) AS one)`;
    await engine.shards[0][0].command({
      query: `INSERT INTO device_attributes SETTINGS distributed_foreground_insert = 1
        SELECT ${partnerId}, ${attributeId}, device, 1, 'US', ${versionsOfJob(seq).ofAdds}, 0 FROM (${devices})`,
    });
    await engine.shards[0][0].command({
      query: `INSERT INTO staged_devices SETTINGS distributed_foreground_insert = 1
        SELECT ${seq}, ${seq}, device, 1 FROM (${devices})`,
    });
    return seq;
  };
  /** Publishes again while a replica is behind, as a lane does. */
  const publishAgain = async (jobId: number): ReturnType<Warehouse['publishDevices']> => {
    try {
      return await warehouse.publishDevices(jobId, [jobId]);
    } catch (error) {
      if (!(error instanceof Failure && error.code === 'replicas_behind')) throw error;
      return publishAgain(jobId);
    }
  };
  const runImport = async (attributeId: number, from: number, to: number): Promise<void> => {
    const jobId = await stage(attributeId, from, to);
    expect(await publishAgain(jobId)).toEqual({ rows: to - from, devices: to - from });
  };
  const deleteAttribute = (attributeId: number): Promise<void> =>
    waitUntil('the rows are deleted', () =>
      warehouse.deleteAttributeRows({ partnerId, attributeIds: [attributeId], versions: versionsOfJob(seq + 1) }),
    );
  const known = (): Promise<string[]> => selectOnShards(stores, 'SELECT DISTINCT device FROM known_devices_local');
  const devices = (from: number, to: number): string[] => Array.from({ length: to - from }, (_, n) => device(from + n));
  const tables = (): Promise<string[]> =>
    selectOnShards(stores, `SELECT name FROM system.tables WHERE database = currentDatabase() AND name LIKE '%next%'`);
  const version = (): Promise<number> =>
    withDatabase(stores, async (client) => {
      const { rows } = await client.query<{ last_value: string }>('SELECT last_value FROM known_devices_version');
      return Number(rows[0]?.last_value);
    });

  it('a device whose last attribute was deleted is no longer known, and counts become stale', async () => {
    await runImport(1, 0, 20);
    await runImport(2, 10, 30);
    await deleteAttribute(1);
    expect(await known()).toEqual(devices(0, 30));
    const before = await version();
    expect(await rebuild(stores.config)).toEqual({ before: 30, after: 20 });
    expect(await known()).toEqual(devices(10, 30));
    expect(await version()).toBe(before + 1);
    await deleteAttribute(2);
    expect(await rebuild(stores.config)).toEqual({ before: 20, after: 0 });
    expect(await known()).toEqual([]);
    expect(await tables()).toEqual([]);
  });

  it('devices that imports add at any step of a rebuild are kept', async () => {
    await runImport(3, 100, 110);
    const isBetween = await stage(3, 110, 120); // published, but its devices are added during the rebuild
    await steps.begin();
    await runImport(3, 120, 130);
    await steps.fill();
    await warehouse.publishDevices(isBetween, [isBetween]);
    await runImport(3, 130, 140);
    expect(await known()).toEqual(devices(100, 140));
    await steps.swap();
    expect(await known()).toEqual(devices(100, 140));
    await runImport(3, 140, 150);
    await steps.dropOld();
    await runImport(3, 150, 160);
    expect(await known()).toEqual(devices(100, 160));
  });

  it('a rebuild loses no devices of imports that run continuously', { timeout: 60_000 }, async () => {
    const state = { isOver: false, next: 200 };
    const importing = (async () => {
      while (!state.isOver) {
        await runImport(4, state.next, state.next + 5);
        state.next += 5;
      }
    })();
    for (let n = 0; n < 3; n++) await rebuild(stores.config);
    state.isOver = true;
    await importing;
    expect(await known()).toEqual([...devices(100, 160), ...devices(200, state.next)]);
  });

  it.each(['begin', 'fill', 'swap', 'dropOld'] as const)(
    'a rebuild that was killed after the step "%s" loses nothing and can run again',
    async (last) => {
      await commandOnShards(stores, 'TRUNCATE TABLE known_devices_local');
      await deleteAttribute(4);
      await runImport(5, 1000, 1010);
      await deleteAttribute(5);
      await runImport(6, 1005, 1020);
      const killed = new Error('killed');
      const broken = {
        ...steps,
        [last]: async () => {
          await steps[last]();
          throw killed;
        },
      };
      const deps = { knownDevices: broken, advanceKnownDevices: () => Promise.resolve() };
      await expect(rebuildKnownDevices(deps)).rejects.toBe(killed);
      await runImport(6, 1020, 1030);
      const live = [...devices(100, 160), ...devices(1005, 1030)];
      expect(new Set(await known()).isSupersetOf(new Set(devices(1005, 1030)))).toBe(true);
      await rebuild(stores.config);
      expect(await known()).toEqual(live);
      expect(await tables()).toEqual([]);
    },
  );
});
