import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Engine, type Server, closeEngine, connectEngine } from '../../src/adapters/clickhouse/connect.ts';
import { clickhouseErasure } from '../../src/adapters/clickhouse/erasure/erasure-engine.ts';
import { clickhouseDeviceIndex } from '../../src/adapters/clickhouse/index/device-index.ts';
import { untilApplied } from '../../src/adapters/clickhouse/mutate.ts';
import { engineOptions } from '../../src/entry/connect-engine.ts';
import type { BatchScope, ErasureEngine } from '../../src/ports/erasure.ts';
import { takeLease, verifyIndex } from '../../src/usecases/index/fold-index.ts';
import { runErasures } from '../../src/usecases/privacy/run-erasures.ts';
import { deviceOfNumber, insertByNumbers } from '../support/audience-tables.ts';
import { foldAll } from '../support/fold-now.ts';
import { commandOnShards, selectOnShards } from '../support/shard-tables.ts';
import { silentLog } from '../support/silent-log.ts';
import { type TestStores, createStores } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type Wired, newBarePartner, wireUp } from '../support/wired.ts';

// Between two statements of an erasure, another worker takes the lease or an import publishes rows.

const devices = 10;
const { signal } = new AbortController();

describe('erasing devices from the device index', () => {
  let stores: TestStores;
  let deps: Wired;
  let watched: Engine;
  let erasure: ErasureEngine;
  let listId = 0;
  let partnerId = 0;
  const hook = { beforeCommand: null as ((query: string) => Promise<void>) | null };

  beforeAll(async () => {
    stores = await createStores('one');
    deps = await wireUp(stores);
    watched = connectEngine(engineOptions(stores.config, 'test'), watch);
    erasure = clickhouseErasure(watched);
  });
  afterAll(async () => {
    await closeEngine(watched);
    await deps.close();
    await stores.drop();
  });

  /** Runs the hook before every command. */
  function watch(server: Server): Server {
    return new Proxy(server, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        if (name !== 'command') return value.bind(target) as unknown;
        return async (...[params]: Parameters<Server['command']>) => {
          await hook.beforeCommand?.(params.query);
          return target.command(params);
        };
      },
    });
  }
  /** Records the queries that read the progress of mutations. */
  function noteMutationPolls(server: Server, events: string[]): Server {
    return new Proxy(server, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        if (name !== 'query') return value.bind(target) as unknown;
        return (...[params]: Parameters<Server['query']>) => {
          if (params.query.includes('system.mutations')) events.push('poll');
          return target.query(params);
        };
      },
    });
  }
  /** Runs `run` before the first command that starts with this text. */
  const beforeFirst = (start: string, run: () => Promise<void>): void => {
    hook.beforeCommand = async (query) => {
      if (!query.startsWith(start)) return;
      hook.beforeCommand = null;
      await run();
    };
  };

  const publish = (partner: number, version: number): Promise<void> =>
    insertByNumbers(
      stores,
      'device_attributes',
      `SELECT ${partner}, 1, ${deviceOfNumber}, 1, 'DE', ${version}, 0 FROM numbers(${devices})`,
    );
  const addKnown = (): Promise<void> =>
    insertByNumbers(stores, 'known_devices', `SELECT ${deviceOfNumber} FROM numbers(${devices})`);
  const known = (): Promise<string[]> => selectOnShards(stores, 'SELECT DISTINCT device FROM known_devices_local');
  const numbers = (): Promise<string[]> => selectOnShards(stores, 'SELECT device, number FROM device_numbers_local');

  /** Imports and folds devices, lists them, and erases their rows. */
  async function erasedRows(ofPartner = false): Promise<BatchScope> {
    ({ id: partnerId } = await newBarePartner(deps));
    await deps.attributes.create(partnerId, { name: 'a', foreignKeys: [] });
    await publish(partnerId, 3);
    await addKnown();
    await foldAll(deps);
    listId += 1;
    const scope = { listId, partnerIds: ofPartner ? [partnerId] : null };
    await erasure.addIds(listId, ofPartner ? partnerId : null, await known());
    await erasure.eraseRows(scope, signal);
    return scope;
  }
  async function eraseFromIndex(scope: BatchScope): Promise<void> {
    await erasure.eraseKnownDevices(scope, signal);
    const leaseId = await takeLease(deps);
    const everywhere = { leaseId, foldId: await deps.indexStore.nextFoldId() };
    const ofPartners = { leaseId, foldId: await deps.indexStore.nextFoldId() };
    await erasure.eraseFromIndex(scope, { everywhere, ofPartners }, signal);
  }

  it.each(['INSERT INTO attribute_bitmaps_local', 'ALTER TABLE device_numbers_local'])(
    'keeps the numbers if another worker takes the lease before the statement %s',
    async (statement) => {
      const scope = await erasedRows();
      const before = await numbers();
      expect(before).toHaveLength(devices);
      beforeFirst(statement, async () => void (await takeLease(deps)));
      await expect(eraseFromIndex(scope)).rejects.toThrow(/the lease of the device index/);
      expect(await numbers()).toEqual(before);
      await eraseFromIndex(scope);
      expect(await numbers()).toEqual([]);
      expect(await verifyIndex(deps)).toEqual([]);
    },
  );

  it('keeps a device known if another partner imports it during the erasure', async () => {
    const scope = await erasedRows(true);
    const before = await known();
    expect(before).toHaveLength(devices);
    const { id: other } = await newBarePartner(deps);
    await deps.attributes.create(other, { name: 'a', foreignKeys: [] });
    beforeFirst('ALTER TABLE known_devices_local', async () => {
      await publish(other, 3);
      await addKnown();
      // The worker is killed after the mutation.
      beforeFirst('INSERT INTO known_devices_local', () => Promise.reject(new Error('planted')));
    });
    await expect(eraseFromIndex(scope)).rejects.toThrow('planted');
    expect(await known()).toEqual([]);
    await eraseFromIndex(scope);
    expect(await known()).toEqual(before);
    // In the next round, the devices are not among those that are no longer known.
    await eraseFromIndex(scope);
    expect((await erasure.countRemaining(scope)).every(({ rows }) => rows === 0)).toBe(true);
    expect(await known()).toEqual(before);
    await foldAll(deps);
    expect(await verifyIndex(deps)).toEqual([]);
  });

  it("does not delay the mutations of other partners' rows", async () => {
    const table = 'device_attributes_local';
    const { id: other } = await newBarePartner(deps);
    ({ id: partnerId } = await newBarePartner(deps));
    await publish(other, 3);
    await publish(partnerId, 3);
    listId += 1;
    await erasure.addIds(listId, partnerId, await selectOnShards(stores, `SELECT DISTINCT device FROM ${table}`));
    await commandOnShards(stores, `SYSTEM STOP MERGES ${table}`);
    const erasing = erasure.eraseRows({ listId, partnerIds: [partnerId] }, signal);
    const open = `SELECT command FROM system.mutations
      WHERE database = currentDatabase() AND table = '${table}' AND NOT is_done`;
    await waitUntil('the mutation is open', async () => (await selectOnShards(stores, open)).length > 0);
    const isApplied = (id: number): Promise<boolean> => untilApplied(watched.shards[0][0], table, [id], { maxMs: 0 });
    expect([await isApplied(partnerId), await isApplied(other)]).toEqual([false, true]);
    await commandOnShards(stores, `SYSTEM START MERGES ${table}`);
    await erasing;
    const partners = `SELECT DISTINCT partner_id FROM ${table} WHERE partner_id IN (${partnerId}, ${other})`;
    expect(await selectOnShards(stores, partners)).toEqual([`${other}`]);
  });

  it('lets workers fold while the known devices are erased', async () => {
    ({ id: partnerId } = await newBarePartner(deps));
    await publish(partnerId, 3);
    await addKnown();
    const ids = await known();
    await deps.erasures.request(partnerId, { requestedBy: 'a test', source: { ids } }, null);
    let isFree = false;
    beforeFirst('ALTER TABLE known_devices_local', async () => {
      isFree = await deps.indexStore.runAlone(() => Promise.resolve());
    });
    await runErasures({ ...deps, erasureEngine: erasure, log: silentLog }, signal);
    expect(isFree).toBe(true);
  });

  it('lets the next worker take the lease only after the numbers are erased', async () => {
    const scope = await erasedRows();
    await commandOnShards(stores, 'SYSTEM STOP MERGES device_numbers_local');
    const ended = Promise.allSettled([eraseFromIndex(scope)]);
    const open = `SELECT command FROM system.mutations
      WHERE database = currentDatabase() AND table = 'device_numbers_local' AND NOT is_done`;
    await waitUntil('the mutation is open', async () => (await selectOnShards(stores, open)).length === 1);
    const events: string[] = [];
    const other = connectEngine(engineOptions(stores.config, 'test'), (server) => noteMutationPolls(server, events));
    const taking = (async () => {
      await clickhouseDeviceIndex(other).takeLease(await deps.indexStore.nextFoldId());
      events.push('taken');
    })();
    await waitUntil('the other worker takes the lease or waits', () => Promise.resolve(events.length > 0));
    expect(events).not.toContain('taken');
    await commandOnShards(stores, 'SYSTEM START MERGES device_numbers_local');
    await taking;
    expect(await numbers()).toEqual([]);
    await closeEngine(other);
    const [erased] = await ended;
    expect(String(erased?.status === 'rejected' && erased.reason)).toContain('the lease of the device index');
  });
});
