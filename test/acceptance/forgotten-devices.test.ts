import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { queuedSchema } from '../../src/adapters/http/records/import-log.ts';
import { closeEngine } from '../../src/adapters/clickhouse/connect.ts';
import { clickhouseDeviceIndex } from '../../src/adapters/clickhouse/index/device-index.ts';
import { clickhouseKnownDevicesRebuild } from '../../src/adapters/clickhouse/known-devices.ts';
import { connectPostgres } from '../../src/adapters/postgres/db/connect.ts';
import { postgresIndexStore } from '../../src/adapters/postgres/index-store.ts';
import { postgresKnownDevicesStore } from '../../src/adapters/postgres/known-devices-store.ts';
import { forgetUnheldDevices } from '../../src/usecases/admin/rebuild-known-devices.ts';
import { refreshMatched } from '../../src/usecases/index/refresh-matched.ts';
import { device } from '../support/device-id.ts';
import { createPartner } from '../support/partners.ts';
import { selectOnShards } from '../support/shard-tables.ts';
import { silentLog } from '../support/silent-log.ts';
import { type Audiences, startAudiences } from '../support/start-audiences.ts';
import { connectTestEngine } from '../support/test-engine.ts';
import { waitUntil } from '../support/wait-until.ts';
import { apiClient } from './api-client.ts';

const never = new AbortController().signal;

describe('a device that no partner holds', () => {
  let market: Audiences;

  beforeAll(async () => {
    market = await startAudiences('forgotten-devices');
  });
  afterAll(() => market.stop());

  /** Does what a worker does when the period has ended. */
  const forget = async (matchedDevices: () => Promise<unknown>): Promise<void> => {
    const before = await matchedDevices();
    const { INLET_POSTGRES_URL: url } = market.stores.config;
    const db = connectPostgres({ url, name: 'test', maxConnections: 4, log: silentLog });
    const engine = connectTestEngine(market.stores);
    const deps = {
      lanes: { claimTurn: () => Promise.resolve(true) },
      index: clickhouseDeviceIndex(engine),
      indexStore: postgresIndexStore(db),
      log: silentLog,
    };
    const knownDevicesStore = postgresKnownDevicesStore(db, url);
    try {
      await knownDevicesStore.recordRebuild();
      await sql`UPDATE sweep SET ran_at = now() - interval '8 days' WHERE name = 'known devices rebuilt'`.execute(db);
      const knownDevices = clickhouseKnownDevicesRebuild(engine);
      await forgetUnheldDevices({ ...deps, knownDevices, knownDevicesStore, rebuildDays: 7 }, never);
      // The audience is counted after a worker has folded it.
      await waitUntil('the audience is matched again', async () => {
        await refreshMatched(deps, never);
        return (await matchedDevices()) !== before;
      });
    } finally {
      await closeEngine(engine);
      await db.destroy();
    }
  };

  it('a device that no partner holds is forgotten and no longer counts as matched', async () => {
    const ids = (from: number, to: number): string[] => Array.from({ length: to - from }, (_, n) => device(from + n));
    await market.makeKnown(ids(0, 1500));
    const other = await createPartner(market.stores.environment);
    await other.createAttribute('held', 'held');
    const path = 'held.csv';
    await other.upload(
      path,
      ids(1000, 2000)
        .map((id) => `${id},held\n`)
        .join(''),
    );
    const otherApi = apiClient(market.service.url, other.apiKey);
    await otherApi.waitForEnd(await otherApi.queue({ file_path: path, key_type: 1 }));
    await market.partner.upload(
      'members.csv',
      ids(0, 3000)
        .map((id) => `${id},view\n`)
        .join(''),
    );
    const { audienceId } = await market.audiences.create('members', 'members.csv');
    expect(await market.audiences.settled(audienceId)).toMatchObject({ status: 2, matched_devices: 2000 });

    const answer = await market.api.request('/v1/marketplace/import', {
      method: 'DELETE',
      body: JSON.stringify({ keys: ['known'], key_type: 1 }),
    });
    await market.api.waitForEnd(queuedSchema.parse(await answer.json()).import_log_id);
    const known = (): Promise<string[]> =>
      selectOnShards(market.stores, 'SELECT DISTINCT device FROM known_devices_local');
    expect(await known()).toEqual(ids(0, 2000));
    await forget(async () => (await market.audiences.get(audienceId)).matched_devices);
    expect(await known()).toEqual(ids(1000, 2000));
    expect(await market.audiences.get(audienceId)).toMatchObject({ unique_devices: 3000, matched_devices: 1000 });
    expect(await market.partner.operate('index', 'verify')).toBe('the device index equals the rows\n');
  });
});
