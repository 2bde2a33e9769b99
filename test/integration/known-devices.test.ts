import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Engine, closeEngine } from '../../src/adapters/clickhouse/connect.ts';
import { clickhouseKnownDevicesRebuild } from '../../src/adapters/clickhouse/known-devices.ts';
import { clickhouseWarehouse } from '../../src/adapters/clickhouse/warehouse.ts';
import { openControlBackup } from '../../src/adapters/postgres/control-backup.ts';
import { connectPostgres } from '../../src/adapters/postgres/db/connect.ts';
import { underMigrationLock } from '../../src/adapters/postgres/db/migration-lock.ts';
import type { Database } from '../../src/adapters/postgres/db/tables.ts';
import { postgresKnownDevicesStore } from '../../src/adapters/postgres/known-devices-store.ts';
import { Failure } from '../../src/domain/failure.ts';
import { versionsOfJob } from '../../src/domain/job.ts';
import { rebuild } from '../../src/entry/known-devices.ts';
import type { KnownDevicesRebuild, KnownDevicesStore, NextTables } from '../../src/ports/known-devices.ts';
import type { Warehouse } from '../../src/ports/warehouse.ts';
import { forgetUnheldDevices, rebuildKnownDevices } from '../../src/usecases/admin/rebuild-known-devices.ts';
import { device } from '../support/device-id.ts';
import { silentLog } from '../support/silent-log.ts';
import { commandOnShards, selectOnShards } from '../support/shard-tables.ts';
import { type TestStores, createStores, withDatabase } from '../support/stores.ts';
import { connectTestEngine } from '../support/test-engine.ts';
import { waitUntil } from '../support/wait-until.ts';

const partnerId = 5;
const never = new AbortController().signal;

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
  /** Retries publishing while a replica is behind, as a lane does. */
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
    const next = await steps.begin();
    await runImport(3, 120, 130);
    await steps.fill(never);
    await warehouse.publishDevices(isBetween, [isBetween]);
    await runImport(3, 130, 140);
    expect(await known()).toEqual(devices(100, 140));
    await steps.swap(next);
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
      const kill = (): never => {
        throw killed;
      };
      // A killed process does not drop the next table.
      const broken: KnownDevicesRebuild = {
        ...steps,
        abandon: () => Promise.reject(killed),
        ...{
          begin: { begin: async () => (await steps.begin(), kill()) },
          fill: { fill: async (signal: AbortSignal) => (await steps.fill(signal), kill()) },
          swap: { swap: async (next: NextTables) => (await steps.swap(next), kill()) },
          dropOld: { dropOld: async () => (await steps.dropOld(), kill()) },
        }[last],
      };
      const knownDevicesStore = { advance: () => Promise.resolve(), recordRebuild: () => Promise.resolve() };
      const deps = { knownDevices: broken, knownDevicesStore };
      await expect(rebuildKnownDevices(deps, never)).rejects.toBe(killed);
      await runImport(6, 1020, 1030);
      const live = [...devices(100, 160), ...devices(1005, 1030)];
      expect(new Set(await known()).isSupersetOf(new Set(devices(1005, 1030)))).toBe(true);
      await rebuild(stores.config);
      expect(await known()).toEqual(live);
      expect(await tables()).toEqual([]);
    },
  );

  describe('rebuilding in a worker', () => {
    let db: Database;
    let store: KnownDevicesStore;

    beforeAll(() => {
      const { INLET_POSTGRES_URL: url } = stores.config;
      db = connectPostgres({ url, name: 'test', maxConnections: 2, log: silentLog });
      store = postgresKnownDevicesStore(db, url);
    });
    afterAll(() => db.destroy());

    const depsWith = (changes: Partial<KnownDevicesRebuild> = {}): Parameters<typeof forgetUnheldDevices>[0] => ({
      lanes: { claimTurn: () => Promise.resolve(true) },
      knownDevices: { ...steps, ...changes },
      knownDevicesStore: store,
      rebuildDays: 7,
      log: silentLog,
    });
    const ageLastRebuild = (days: number): Promise<unknown> =>
      sql`UPDATE sweep SET ran_at = now() - make_interval(days => ${days}) WHERE name = 'known devices rebuilt'`.execute(
        db,
      );
    /** Imports ten devices, and deletes the only attribute of the first five. */
    const leaveUnheld = async (from: number): Promise<{ readonly held: string[]; readonly all: string[] }> => {
      await commandOnShards(stores, 'TRUNCATE TABLE known_devices_local');
      await commandOnShards(stores, 'TRUNCATE TABLE device_attributes_local');
      await runImport(7, from, from + 5);
      await runImport(8, from + 5, from + 10);
      await deleteAttribute(7);
      return { held: devices(from + 5, from + 10), all: devices(from, from + 10) };
    };

    it('forgets a device that no partner holds, but only after the period has ended', async () => {
      const { held, all } = await leaveUnheld(2000);
      await sql`DELETE FROM sweep`.execute(db);
      await forgetUnheldDevices(depsWith(), never);
      await ageLastRebuild(6);
      await forgetUnheldDevices(depsWith(), never);
      expect(await known()).toEqual(all);
      await ageLastRebuild(8);
      await forgetUnheldDevices({ ...depsWith(), rebuildDays: 0 }, never);
      expect(await known()).toEqual(all);
      const before = await version();
      await forgetUnheldDevices(depsWith(), never);
      expect(await known()).toEqual(held);
      expect(await version()).toBe(before + 1);
      expect(await store.isRebuildDue(7)).toBe(false);
    });

    it('gives way to a waiting command, keeps all devices, and tries again later', async () => {
      const { held, all } = await leaveUnheld(3000);
      await ageLastRebuild(8);
      let command: Promise<void> | undefined;
      const fill = async (signal: AbortSignal): Promise<void> => {
        const { promise, resolve } = Promise.withResolvers<void>();
        signal.addEventListener('abort', () => resolve());
        command = underMigrationLock(stores.config.INLET_POSTGRES_URL, () => Promise.resolve());
        await promise;
        await steps.fill(signal);
      };
      await forgetUnheldDevices(depsWith({ fill }), never);
      await command;
      expect(await known()).toEqual(all);
      expect(await tables()).toEqual([]);
      expect(await store.isRebuildDue(7)).toBe(true);
      await forgetUnheldDevices(depsWith(), never);
      expect(await known()).toEqual(held);
    });

    it('gives way to a backup', async () => {
      await leaveUnheld(3500);
      await ageLastRebuild(8);
      const { INLET_POSTGRES_URL: url, INLET_POSTGRES_TOOLS: tools } = stores.config;
      const filling = Promise.withResolvers<void>();
      const fill = async (signal: AbortSignal): Promise<void> => {
        filling.resolve();
        await waitUntil('a backup waits', () => Promise.resolve(signal.aborted));
        await steps.fill(signal);
      };
      const running = forgetUnheldDevices(depsWith({ fill }), never);
      await filling.promise;
      const backup = await openControlBackup(url, tools);
      await running;
      await backup.close();
      expect(await tables()).toEqual([]);
      expect(await store.isRebuildDue(7)).toBe(true);
    });

    it('does nothing while a migration or a backup holds the lock', async () => {
      const { all } = await leaveUnheld(4000);
      await ageLastRebuild(8);
      await underMigrationLock(stores.config.INLET_POSTGRES_URL, () => forgetUnheldDevices(depsWith(), never));
      expect(await known()).toEqual(all);
    });

    it('stops a running statement when the worker shuts down', async () => {
      const { all } = await leaveUnheld(5000);
      await ageLastRebuild(8);
      await commandOnShards(
        stores,
        `INSERT INTO device_attributes_local SELECT 6, 1, generateUUIDv4(), 1, 'US', 1, 0 FROM numbers(3000000)`,
      );
      const stopping = new AbortController();
      const running = forgetUnheldDevices(depsWith(), stopping.signal);
      running.catch(() => undefined); // awaited below
      const isFilling = `SELECT query_id FROM system.processes WHERE current_database = currentDatabase() AND startsWith(query, 'INSERT INTO known_devices_next')`;
      await waitUntil('the table is being filled', async () => (await selectOnShards(stores, isFilling)).length > 0);
      stopping.abort();
      await expect(running).rejects.toThrow(/abort|cancel/i);
      expect(await selectOnShards(stores, isFilling)).toEqual([]);
      expect(await known()).toEqual(all);
      expect(await tables()).toEqual([]);
    });

    it('does not swap in a table that another rebuild created after the lock was lost', async () => {
      const { held, all } = await leaveUnheld(6000);
      await ageLastRebuild(8);
      const fill = async (signal: AbortSignal): Promise<void> => {
        await steps.fill(signal);
        await clickhouseKnownDevicesRebuild(engine).begin();
      };
      await expect(forgetUnheldDevices(depsWith({ fill }), never)).rejects.toThrow('Another rebuild');
      expect(await known()).toEqual(all);
      await forgetUnheldDevices(depsWith(), never);
      expect(await known()).toEqual(held);
    });
  });
});
