import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { changeEntries } from '../../src/entry/suppression.ts';
import { apiClient } from '../acceptance/api-client.ts';
import { type TestPartner, createPartner } from '../support/partners.ts';
import { commandOnShards, selectOnShards } from '../support/shard-tables.ts';
import { type Audiences, startAudiences } from '../support/start-audiences.ts';
import { places } from '../support/staging-places.ts';
import { withDatabase } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';

// Tests what is stored, and where, when a file contains devices on the suppression list.

const range =
  "device >= toUUID('00000000-0000-0000-5df3-000000000000') AND device < toUUID('00000000-0000-0000-5df4-000000000000')";
const distinct = (values: readonly string[]): number => new Set(values).size;

describe.each(places)("a suppressed device's row, staged in $place", ({ roomBytes }) => {
  let market: Audiences;
  let other: TestPartner;
  const listed = Array.from({ length: 3 }, () => randomUUID());
  const others = Array.from({ length: 5 }, () => randomUUID());
  const all = [...listed, ...others];

  beforeAll(async () => {
    market = await startAudiences('suppressed-rows', { INLET_ROOM_BYTES: String(roomBytes) });
    // Otherwise, the engine keeps the files of replaced parts for eight minutes, and an erasure waits for them.
    const tables = await selectOnShards(
      market.stores,
      `SELECT DISTINCT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree'`,
    );
    for (const table of new Set(tables))
      await commandOnShards(market.stores, `ALTER TABLE ${table} MODIFY SETTING old_parts_lifetime = 1`);
    other = await createPartner(market.stores.environment);
    await other.createAttribute('travel', 'travel');
    for (const key of ['one', 'two']) await market.partner.createAttribute(key, key);
    await changeEntries(listed, { isRemoval: false }, market.stores.config);
  });
  afterAll(() => market.stop());

  const importFile = async (partner: TestPartner, content: string) => {
    const api = apiClient(market.service.url, partner.apiKey);
    const path = `${randomUUID()}.csv`;
    await partner.upload(path, content);
    return api.waitForEnd(await api.queue({ file_path: path, key_type: 1 }));
  };
  const append = async (audienceId: number, content: string) => {
    const path = `${randomUUID()}.csv`;
    await market.partner.upload(path, content);
    await market.audiences.append(audienceId, path);
    return market.audiences.settled(audienceId);
  };
  const stored = (columns: string, table: string, condition = 'true'): Promise<string[]> =>
    selectOnShards(market.stores, `SELECT ${columns} FROM ${table} FINAL WHERE ${range} AND ${condition}`);
  const indexed = (): Promise<void> =>
    waitUntil('the index is up to date', () =>
      withDatabase(
        market.stores,
        async (client) => (await client.query('SELECT FROM index_change LIMIT 1')).rowCount === 0,
      ),
    );
  const ofPartner = (): string => `partner_id = ${market.partner.id}`;
  let audienceId: number;

  it('the row contains no values from the file', async () => {
    const log = await importFile(market.partner, all.map((id) => `${id},1,DE,0,one|two\n`).join(''));
    expect(log).toMatchObject({ status: 2, unique_devices: '8', total_rows: '8' });
    const path = `${randomUUID()}.csv`;
    await market.partner.upload(path, all.flatMap((id) => [`${id},buy\n`, `${id},view\n`]).join(''));
    ({ audienceId } = await market.audiences.create('members', path));
    expect(await market.audiences.settled(audienceId)).toMatchObject({
      status: 2,
      unique_devices: 8,
      matched_devices: 8,
    });
    const attributes = await stored('DISTINCT id_type, country', 'device_attributes_local');
    expect(new Set(attributes)).toEqual(new Set(['0\t']));
    expect(await stored('device', 'device_attributes_local')).toHaveLength(listed.length * 2);
    // Two rows per device, as for other devices. The values serve only to distinguish the two rows.
    const events = await stored('event', 'audience_devices_local');
    expect(events).toHaveLength(listed.length * 2);
    expect(distinct(events)).toBe(events.length);
    for (const event of events) expect(event).toMatch(/^[0-9a-f]{16}$/);
  });

  it('the row cannot be linked to other rows of the device', async () => {
    const found = [
      ...new Set(await stored('device', 'audience_devices_local')),
      ...(await stored('device', 'device_attributes_local')),
      ...(await stored('device', 'known_devices_local')),
    ];
    expect(found).toHaveLength(listed.length * 4);
    expect(distinct(found)).toBe(found.length);
    expect(all.filter((id) => found.includes(id))).toEqual([]);
  });

  it('the row stays the same when the file is loaded again', async () => {
    await importFile(market.partner, all.map((id) => `${id},1,DE,0,one|two\n`).join(''));
    expect(await stored('device', 'device_attributes_local')).toHaveLength(listed.length * 2);
    const counts = await append(audienceId, all.map((id) => `${id},buy\n`).join(''));
    expect(counts).toMatchObject({ unique_devices: 8, matched_devices: 8 });
    expect(await stored('device', 'audience_devices_local')).toHaveLength(listed.length * 2);
  });

  it('the row is in no bitmap and has no device number', async () => {
    await indexed();
    expect(await stored('device', 'device_numbers_local')).toEqual([]);
    const sizes = await selectOnShards(
      market.stores,
      `SELECT sum(bitmapCardinality(devices)) FROM attribute_bitmaps_local FINAL WHERE ${ofPartner()} HAVING count() > 0`,
    );
    expect(sizes.reduce((sum, size) => sum + Number(size), 0)).toBe(others.length * 2);
    expect(await market.partner.operate('index', 'verify')).toBe('the device index equals the rows\n');
    expect(await market.partner.operate('audit')).not.toContain('recorded');
  });

  it('the row is matched as soon as any partner imports its device', async () => {
    const later = randomUUID();
    await changeEntries([later], { isRemoval: false }, market.stores.config);
    expect(await append(audienceId, `${later},buy\n`)).toMatchObject({ unique_devices: 9, matched_devices: 8 });
    await importFile(other, `${later},travel\n`);
    expect(await append(audienceId, `${all[0] ?? ''},other\n`)).toMatchObject({
      unique_devices: 9,
      matched_devices: 9,
    });
  });

  it('the row stays known when the known devices are rebuilt', async () => {
    const before = await stored('device', 'known_devices_local');
    await market.partner.operate('known-devices', 'rebuild');
    expect(await stored('device', 'known_devices_local')).toEqual(before);
  });

  it('the row is erased with its device', async () => {
    const [erased = ''] = listed;
    await importFile(other, `${erased},travel\n`);
    // Merges the rows from repeated imports.
    for (const table of ['device_attributes_local', 'audience_devices_local'])
      await commandOnShards(market.stores, `OPTIMIZE TABLE ${table} FINAL`);
    const answer = await market.api.request('/v1/privacy/deletions', {
      method: 'POST',
      body: JSON.stringify({ ids: [erased] }),
    });
    const { deletion_id: id } = z.object({ deletion_id: z.int() }).parse(await answer.json());
    await waitUntil(`deletion ${id} is done`, async () => {
      const record = await (await market.api.request(`/v1/privacy/deletions/${id}`)).json();
      return z.object({ status: z.int() }).parse(record).status >= 2;
    });
    const proof = z
      .object({ erased: z.array(z.object({ table: z.string(), rows_erased: z.int() })) })
      .parse(await (await market.api.request(`/v1/privacy/deletions/${id}/proof`)).json());
    const rows = (table: string): number =>
      proof.erased.filter((one) => one.table === table).reduce((sum, one) => sum + one.rows_erased, 0);
    expect([rows('device_attributes'), rows('audience_devices')]).toEqual([2, 3]);
    expect(await stored('device', 'device_attributes_local', ofPartner())).toHaveLength((listed.length - 1) * 2);
    // The other partner still has the device, so it stays known.
    expect(await stored('device', 'known_devices_local')).toHaveLength(listed.length + 1);
    expect(await market.partner.operate('privacy', 'erase', '--id', erased)).toMatch(/^Erasure \d+ of 1 device IDs/);
    await waitUntil('every erasure is done', () =>
      withDatabase(
        market.stores,
        async (client) => (await client.query('SELECT FROM erasure WHERE status < 2')).rowCount === 0,
      ),
    );
    expect(await stored('device', 'device_attributes_local', `partner_id = ${other.id}`)).toHaveLength(1);
    expect(await stored('device', 'known_devices_local')).toHaveLength(listed.length);
  });

  it('the device is counted only once when several attributes are deleted, and its rows are then removed', async () => {
    const body = JSON.stringify({ key_type: 1, keys: ['one', 'two'] });
    await market.api.request('/v1/marketplace/import', { method: 'DELETE', body });
    const [deletion] = await market.api.list();
    const log = await market.api.waitForEnd(deletion?.import_log_id ?? 0);
    expect(log).toMatchObject({ total_rows: '14', unique_devices: '7' });
    expect(await stored('device', 'device_attributes_local', ofPartner())).toEqual([]);
  });
});
