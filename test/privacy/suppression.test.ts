import { createHash, randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { changeEntries, changeFile, countMatches, suppressionStatus, syncList } from '../../src/entry/suppression.ts';
import { type ApiClient, apiClient } from '../acceptance/api-client.ts';
import { type AudienceClient, audienceClient } from '../acceptance/audience-client.ts';
import { topologies } from '../support/environment.ts';
import { type TestPartner, createPartner } from '../support/partners.ts';
import { type Service, startService } from '../support/running-service.ts';
import { commandOnShard, selectOnShards } from '../support/shard-tables.ts';
import { type TestStores, createStores, withDatabase } from '../support/stores.ts';

const exampleId = 'a3f1c2d4-5678-90ab-cdef-1234567890ab';
const exampleHash = '250KY6lOgzYUB3EHrkbDCE2kMEZQE69SF38muhoDudI=';
const deviceTables = ['device_attributes_local', 'audience_devices_local', 'known_devices_local'];

const ids = (count: number): string[] => Array.from({ length: count }, () => randomUUID());
const hashOf = (id: string): string => createHash('sha256').update(id.replaceAll('-', '')).digest('base64');

describe.each(topologies)('the suppression list (topology: %s)', (topology) => {
  let stores: TestStores;
  let service: Service;
  let partner: TestPartner;
  let api: ApiClient;
  let audiences: AudienceClient;
  const folder = mkdtempSync(join(tmpdir(), 'inlet-suppression-'));

  beforeAll(async () => {
    stores = await createStores(topology);
    service = await startService(stores.environment, `suppression-${topology}`);
  });
  afterAll(async () => {
    await service.stop();
    await stores.drop();
    rmSync(folder, { recursive: true });
  });
  beforeEach(async () => {
    partner = await createPartner(stores.environment);
    await partner.createAttribute('sport', 'sport');
    api = apiClient(service.url, partner.apiKey);
    audiences = audienceClient(service.url, partner.apiKey);
  });

  const change = (entries: readonly string[], isRemoval = false) =>
    changeEntries(entries, { isRemoval }, stores.config);
  const writeFile = (name: string, lines: readonly string[]): string => {
    const path = join(folder, name);
    writeFileSync(path, lines.join('\r\n'));
    return path;
  };
  const importIds = async (devices: readonly string[], mode = 'merge') => {
    await partner.upload('import.csv', devices.map((id) => `${id},sport\n`).join(''));
    return api.waitForEnd(await api.queue({ file_path: 'import.csv', key_type: 1, mode }));
  };
  const createAudience = async (devices: readonly string[]) => {
    await partner.upload('audience.csv', devices.map((id) => `${id},seen\n`).join(''));
    const { audienceId } = await audiences.create('a', 'audience.csv');
    return audiences.settled(audienceId, 30);
  };
  /** Returns the tables that contain one of the devices. */
  const tablesWith = async (devices: readonly string[]): Promise<string[]> => {
    const list = devices.map((id) => `'${id}'`).join();
    const found = await Promise.all(
      deviceTables.map((table) =>
        selectOnShards(stores, `SELECT DISTINCT '${table}' FROM ${table} WHERE device IN (${list})`),
      ),
    );
    return [...new Set(found.flat())];
  };
  const exactCounts = (jobId: number): Promise<unknown[]> =>
    withDatabase(stores, async (client) => {
      const query = `SELECT total_rows::int AS total, accepted_rows::int AS accepted, suppressed_rows::int AS suppressed FROM job_file WHERE job_id = $1`;
      return (await client.query<Record<string, number>>(query, [jobId])).rows;
    });

  it("computes hashes in the same way as California's DROP", async () => {
    await change([exampleId.toUpperCase()]);
    const stored = await selectOnShards(
      stores,
      `SELECT DISTINCT base64Encode(hash) FROM suppressed_hashes_local FINAL WHERE hash = base64Decode('${exampleHash}')`,
    );
    expect(new Set(stored)).toEqual(new Set([exampleHash]));
    await change([exampleHash], true);
    expect(await selectOnShards(stores, `SELECT hash FROM suppressed_hashes_local FINAL`)).toEqual([]);
  });

  it("stores no row with a listed device's ID, and shows the partner the same counts", async () => {
    const [listed = '', ...others] = ids(5);
    await change([listed]);
    const log = await importIds([listed, ...others]);
    expect(log).toMatchObject({ status: 2, total_rows: '5', unique_devices: '5', errors: null, suppressed: 0 });
    const audience = await createAudience([listed, listed.toUpperCase(), ...others]);
    expect(audience).toMatchObject({ status: 2, uploaded_devices: 5, unique_devices: 5, matched_devices: 5 });
    expect(audience.file).toMatchObject([{ rows_uploaded: 6, rows_rejected: 0, suppressed: 0 }]);
    expect(await tablesWith([listed])).toEqual([]);
    expect((await tablesWith(others)).toSorted()).toEqual(deviceTables.toSorted());
  });

  it('accounts for every row of a file', async () => {
    const [listed = '', ...others] = ids(4);
    await change([listed]);
    const zero = '00000000-0000-0000-0000-000000000000';
    const log = await importIds([listed, ...others, listed, zero, 'wrong']);
    expect(log).toMatchObject({ total_rows: '7' });
    expect(await exactCounts(log.import_log_id)).toEqual([{ total: 7, accepted: 5, suppressed: 2 }]);
    const stored = await selectOnShards(
      stores,
      `SELECT count() FROM device_attributes_local FINAL WHERE partner_id = ${partner.id} HAVING count() > 0`,
    );
    expect(stored.reduce((sum, rows) => sum + Number(rows), 0)).toBe(4);
  });

  it('counts a listed device only once across all files and appends', async () => {
    const [listed = '', other = ''] = ids(2);
    await change([listed]);
    const { audience_id } = await createAudience([listed]);
    await partner.upload('again.csv', `${listed},other event\n${other},seen\n`);
    await audiences.append(audience_id, 'again.csv');
    expect(await audiences.settled(audience_id)).toMatchObject({ uploaded_devices: 3, unique_devices: 2 });
  });

  it('counts the listed devices of an attribute when its data is deleted', async () => {
    const devices = ids(3);
    await change(devices.slice(1));
    await importIds(devices);
    const body = JSON.stringify({ key_type: 1, keys: ['sport'] });
    const answer = await api.request('/v1/marketplace/import', { method: 'DELETE', body });
    expect(answer.status).toBe(202);
    const [deletion] = await api.list();
    const log = await api.waitForEnd(deletion?.import_log_id ?? 0);
    expect(log).toMatchObject({ log_type: 1, total_rows: '3', unique_devices: '3' });
  });

  it('stores a device again from the next file after the device was removed from the list', async () => {
    const [listed = ''] = ids(1);
    await change([listed]);
    await importIds([listed]);
    expect(await tablesWith([listed])).toEqual([]);
    await change([listed], true);
    await importIds([listed]);
    expect(await tablesWith([listed])).toEqual(['device_attributes_local', 'known_devices_local']);
  });

  it('shows an estimate of the number of suppressed rows, in thousands', async () => {
    const devices = ids(20_000);
    const path = writeFile('drop.csv', ['ID,Hash', ...devices.map((id, n) => `aZ${n},${hashOf(id)}`)]);
    await changeFile(path, { isRemoval: false }, stores.config);
    const log = await importIds(devices);
    expect(log).toMatchObject({ unique_devices: '20000' });
    // The standard deviation is 540 rows.
    expect(log.suppressed).toBeGreaterThanOrEqual(16_000);
    expect(log.suppressed).toBeLessThanOrEqual(20_000);
    const files = await api.request(`/v1/marketplace/import/${log.import_log_id}/files`);
    expect(await files.json()).toMatchObject([{ total_rows: 20_000, suppressed: log.suppressed }]);
    const audience = await createAudience(devices);
    // A device is either always or never in the sample.
    expect(audience.file).toMatchObject([{ rows_uploaded: 20_000, suppressed: log.suppressed }]);
    await changeFile(path, { isRemoval: true }, stores.config);
  });

  it('changes nothing if a line in a file is invalid', async () => {
    const before = await suppressionStatus(stores.config);
    const path = writeFile('invalid.csv', [randomUUID(), 'not-an-id']);
    await expect(changeFile(path, { isRemoval: false }, stores.config)).rejects.toThrow('Line 2');
    expect(await suppressionStatus(stores.config)).toEqual(before);
  });

  it('counts the stored devices that are on the list', async () => {
    const [first = '', second = '', third = ''] = ids(3);
    await importIds([first, second]);
    await createAudience([second, third]);
    const before = await totalMatches();
    await change([first, third]);
    expect(await totalMatches()).toBe(before + 2);
  });
  const totalMatches = async (): Promise<number> =>
    (await countMatches(stores.config)).reduce((sum, devices) => sum + devices, 0);

  it('reports a server with a different list, and repairs it', async () => {
    const [listed = ''] = ids(1);
    const { version } = await change([listed]);
    expect((await suppressionStatus(stores.config)).servers.every(({ isCurrent }) => isCurrent)).toBe(true);
    await commandOnShard(stores, 0, `DROP TABLE suppression_set_${version} SYNC`);
    await commandOnShard(stores, 0, `TRUNCATE TABLE suppressed_hashes_local`);
    const [broken] = (await suppressionStatus(stores.config)).servers;
    expect(broken).toMatchObject({ shard: 1, isCurrent: false });
    // On a single server, there is no other copy of the list.
    if (topology === 'one') await change([listed]);
    else await syncList(stores.config);
    expect((await suppressionStatus(stores.config)).servers.every(({ isCurrent }) => isCurrent)).toBe(true);
    await importIds([listed]);
    expect(await tablesWith([listed])).toEqual([]);
  });

  it('loads nothing on a server that lacks the list until it has the list again', async () => {
    const [listed = '', other = ''] = ids(2);
    const { version } = await change([listed]);
    for (const shard of stores.config.INLET_CLICKHOUSE_URLS.keys())
      await commandOnShard(stores, shard, `DROP TABLE suppression_set_${version} SYNC`);
    await partner.upload('waiting.csv', `${listed},sport\n${other},sport\n`);
    const importLogId = await api.queue({ file_path: 'waiting.csv', key_type: 1 });
    await expect(api.waitForEnd(importLogId, 3)).rejects.toThrow('timed out');
    expect(await tablesWith([listed, other])).toEqual([]);
    await syncList(stores.config);
    expect(await api.waitForEnd(importLogId)).toMatchObject({ status: 2, unique_devices: '2' });
    expect(await tablesWith([listed])).toEqual([]);
    expect(await tablesWith([other])).toEqual(['device_attributes_local', 'known_devices_local']);
  });

  it('records each change in the audit log without the device IDs', async () => {
    const [listed = ''] = ids(1);
    const { version } = await change([listed]);
    const [entry] = await withDatabase(stores, async (client) => {
      const query = `SELECT event, actor, detail FROM audit_log WHERE event LIKE 'suppression.%' ORDER BY id DESC LIMIT 1`;
      return (await client.query<{ event: string; actor: string; detail: unknown }>(query)).rows;
    });
    expect(entry).toMatchObject({ event: 'suppression.add', detail: { version, entries: 1 } });
    expect(JSON.stringify(entry)).not.toContain(hashOf(listed));
  });
});
