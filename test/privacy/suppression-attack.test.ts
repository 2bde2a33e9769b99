import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { changeEntries } from '../../src/entry/suppression.ts';
import { measureUsage } from '../../src/usecases/admin/maintenance.ts';
import { apiClient } from '../acceptance/api-client.ts';
import { audienceClient, audiencePath } from '../acceptance/audience-client.ts';
import { topologies } from '../support/environment.ts';
import { createPartner } from '../support/partners.ts';
import { commandOnShards, selectOnShards } from '../support/shard-tables.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type Service, startService } from '../support/running-service.ts';
import { type TestStores, createStores, withDatabase } from '../support/stores.ts';
import { wireUp } from '../support/wired.ts';

// The attacker has an account, wants to find out whether one device is on the suppression list, and can import, append,
// clear, delete, run dry runs, and erase devices at will. They know all other devices in their files and read every number that
// the API shows them.

const isLong = inject('campaign') === 'long';
/** Half of the targets are on the list. */
const targets = isLong ? 100 : 4;
/** Other tests suppress devices in every topology. The last one has the most shards. */
const attacked = isLong ? topologies : topologies.slice(-1);
/** Above this number of devices, the number of matched devices is exact. */
const own = 1_000;

/** The fields that differ between two accounts that have done the same things: IDs, links, names, and times. */
const incidental =
  /(^|_)(id|at|modified|etag|path|name|sequence|segment|salt|sha256)$|^(file|default_warehouse_segment_id|cursor|requested_by|by|link|signature|shard)$/;

/** Whether this event is logged depends on whether an append was queued before the previous append's job had ended. */
const isTimed = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'type' in value && value.type === 'audience.ready';

function observable(value: unknown): unknown {
  if (Array.isArray(value)) return value.filter((inner) => !isTimed(inner)).map(observable);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) =>
      incidental.test(key) && !Array.isArray(inner) ? [] : [[key, observable(inner)]],
    ),
  );
}

describe.each(attacked)('an attacker who probes the suppression list (topology: %s)', (topology) => {
  let stores: TestStores;
  let service: Service;

  beforeAll(async () => {
    stores = await createStores(topology);
    // Numbers are rounded as in production.
    const settings = { ...stores.environment, INLET_MATCHED_UNIT: '50' };
    service = await startService(settings, `suppression-attack-${topology}`);
    // Otherwise, the engine keeps the files of replaced parts for eight minutes, and an erasure waits for them.
    const tables = await selectOnShards(
      stores,
      `SELECT DISTINCT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree'`,
    );
    for (const table of new Set(tables))
      await commandOnShards(stores, `ALTER TABLE ${table} MODIFY SETTING old_parts_lifetime = 1`);
  });
  afterAll(async () => {
    await service.stop();
    await stores.drop();
  });

  /** Runs every probe with a new account and returns all numbers that the account sees. */
  const attack = async (target: string): Promise<string> => {
    const partner = await createPartner(stores.environment);
    await partner.createAttribute('probe', 'probe');
    await partner.createAttribute('other', 'other');
    const api = apiClient(service.url, partner.apiKey);
    const audiences = audienceClient(service.url, partner.apiKey);
    const seen: unknown[] = [];
    const read = async (path: string): Promise<void> => {
      const answer = await api.request(path);
      seen.push(answer.status, observable(await answer.json()));
    };
    const upload = async (devices: readonly string[], text: string): Promise<string> => {
      const path = `${randomUUID()}.csv`;
      await partner.upload(path, devices.map((id) => `${id},${text}\n`).join(''));
      return path;
    };
    const importFile = async (devices: readonly string[], keys: string, mode = 'merge'): Promise<void> => {
      const importLogId = await api.queue({ file_path: await upload(devices, keys), key_type: 1, mode });
      seen.push(observable(await api.waitForEnd(importLogId)));
      await read(`/v1/marketplace/import/${importLogId}/files`);
      await read(`/v1/marketplace/import/${importLogId}/errors`);
    };
    const remove = async (key: string): Promise<void> => {
      const body = JSON.stringify({ key_type: 1, keys: [key] });
      await api.request('/v1/marketplace/import', { method: 'DELETE', body });
      const [deletion] = await api.list();
      seen.push(observable(await api.waitForEnd(deletion?.import_log_id ?? 0)));
    };
    /** Sends all keys in one request, so that a device with several of them must be counted only once. */
    const removeAll = async (keys: readonly string[]): Promise<void> => {
      const body = JSON.stringify({ key_type: 1, keys });
      await api.request('/v1/marketplace/import', { method: 'DELETE', body });
      const [deletion] = await api.list();
      seen.push(observable(await api.waitForEnd(deletion?.import_log_id ?? 0)));
    };
    /** Reads how many rows were erased from each table, summed over the shards. */
    const erase = async (device: string): Promise<void> => {
      // A proof counts stored rows, so it depends on whether equal rows from several files were already merged.
      for (const table of ['audience_devices_local', 'device_attributes_local'])
        await commandOnShards(stores, `OPTIMIZE TABLE ${table} FINAL`);
      const request = { method: 'POST', body: JSON.stringify({ ids: [device] }) };
      const answer = await api.request('/v1/privacy/deletions', request);
      const { deletion_id: id } = z.object({ deletion_id: z.int() }).parse(await answer.json());
      await waitUntil('the device is erased', async () => {
        const record = await (await api.request(`/v1/privacy/deletions/${id}`)).json();
        return z.object({ status: z.int() }).parse(record).status >= 2;
      });
      const proof: unknown = await (await api.request(`/v1/privacy/deletions/${id}/proof`)).json();
      const rows = z.array(z.object({ table: z.string(), rows_erased: z.int() }));
      const { erased } = z.object({ erased: rows }).parse(proof);
      const tables = Map.groupBy(erased, ({ table }) => table);
      seen.push(
        [...tables]
          .map(([table, counts]) => [table, counts.reduce((sum, one) => sum + one.rows_erased, 0)])
          .toSorted((a, b) => String(a).localeCompare(String(b))),
      );
    };
    const mine = Array.from({ length: own - 1 }, () => randomUUID());

    await importFile([target], 'probe');
    await importFile(mine, 'other');
    await importFile([target, ...mine.slice(0, 9)], 'other', 'replace');
    // One device, with every value that a row can have.
    await importFile([target], '1,DE,0,probe|other');
    await importFile([target], '3,US,0,probe');
    const dryRun = JSON.stringify({ file_path: await upload([target], 'probe'), key_type: 1 });
    const tried = await api.request('/v1/marketplace/import/dry-run', { method: 'POST', body: dryRun });
    seen.push(tried.status, observable(await tried.json()));
    for (const devices of [
      [target, ...mine.slice(0, 49)],
      [target, ...mine],
    ]) {
      const { audienceId } = await audiences.create('probe', await upload(devices, 'seen'));
      seen.push(observable(await audiences.settled(audienceId)));
      await audiences.append(audienceId, await upload([target], 'seen'));
      seen.push(observable(await audiences.settled(audienceId)));
      await audiences.append(audienceId, await upload([target, randomUUID()], 'something else'));
      seen.push(observable(await audiences.settled(audienceId)));
      await audiences.append(
        audienceId,
        await upload(
          Array.from({ length: 100 }, () => target),
          'seen',
        ),
      );
      seen.push(observable(await audiences.settled(audienceId)));
      await read(`${audiencePath}/${audienceId}/history`);
      await read(`${audiencePath}/${audienceId}/errors`);
    }
    await remove('probe');
    await importFile([target, ...mine.slice(0, 9)], 'probe|other');
    await removeAll(['probe', 'other']);
    await importFile([target], 'probe|other');
    await erase(target);
    await remove('probe');
    await read('/v1/events?limit=1000');
    const { rows } = await withDatabase(stores, (client) =>
      client.query<{ rows: string }>(
        'SELECT coalesce(sum(uploaded_devices), 0) AS rows FROM job_file WHERE partner_id = $1',
        [partner.id],
      ),
    );
    seen.push(rows);
    return JSON.stringify(seen);
  };

  it('guesses correctly in at most 55% of all cases', async () => {
    const devices = Array.from({ length: targets }, () => randomUUID());
    const listed = new Set(devices.filter((_, index) => index % 2 === 0));
    await changeEntries([...listed], { isRemoval: false }, stores.config);
    const observations: { seen: string; isListed: boolean }[] = [];
    // Uses a few accounts at a time, so that no request is rejected.
    for (let start = 0; start < targets; start += 4) {
      const some = devices.slice(start, start + 4);
      const seen = await Promise.all(some.map(attack));
      observations.push(...some.map((id, index) => ({ seen: seen[index] ?? '', isListed: listed.has(id) })));
    }
    // The best strategy in hindsight is to guess the more frequent case among equal observations. No attacker can do
    // better.
    const right = [...Map.groupBy(observations, ({ seen }) => seen).values()].map((equal) => {
      const ofListed = equal.filter(({ isListed }) => isListed).length;
      return Math.max(ofListed, equal.length - ofListed);
    });
    const success = right.reduce((sum, count) => sum + count, 0) / targets;
    const [first] = observations;
    const different = observations.find(({ seen }) => seen !== first?.seen);
    // Shows the difference if there is one.
    expect(JSON.parse(different?.seen ?? first?.seen ?? '')).toEqual(JSON.parse(first?.seen ?? ''));
    expect(success).toBeLessThanOrEqual(0.55);
  });

  it('sees the same number of stored rows whether or not an imported device is listed', async () => {
    const [one, other] = [randomUUID(), randomUUID()];
    await changeEntries([one], { isRemoval: false }, stores.config);
    const deps = await wireUp(stores);
    const used = await Promise.all(
      [one, other].map(async (id) => {
        const partner = await createPartner(stores.environment);
        await partner.createAttribute('probe', 'probe');
        const api = apiClient(service.url, partner.apiKey);
        await partner.upload('probe.csv', `${id},probe\n`);
        await api.waitForEnd(await api.queue({ file_path: 'probe.csv', key_type: 1 }));
        return { api };
      }),
    );
    await withDatabase(stores, (client) => client.query('DELETE FROM sweep'));
    await measureUsage(deps);
    await deps.close();
    const rows = await Promise.all(
      used.map(async ({ api }) => {
        const limits: unknown = await (await api.request('/v1/limits')).json();
        return limits;
      }),
    );
    expect(rows).toMatchObject([{ quotas: { stored_rows: { used: 1 } } }, { quotas: { stored_rows: { used: 1 } } }]);
  });
});
