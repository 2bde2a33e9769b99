import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postgresRepairRecords } from '../../src/adapters/postgres/repair.ts';
import { versionsOfJob } from '../../src/domain/job.ts';
import { removeUnseenDevices } from '../../src/usecases/privacy/remove-unseen-devices.ts';
import { type ApiClient, apiClient } from '../acceptance/api-client.ts';
import { device } from '../support/device-id.ts';
import { type TestPartner, createPartner } from '../support/partners.ts';
import { runOperator } from '../support/run-operator.ts';
import { type ServiceProcess, startApi, startProcess, startWorker, stopProcess } from '../support/running-service.ts';
import { commandOnShards, selectOnShards } from '../support/shard-tables.ts';
import { silentLog } from '../support/silent-log.ts';
import { type TestStores, createStores, withDatabase } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type Wired, newBarePartner, wireUp } from '../support/wired.ts';

const jobDays = 400;

describe('removing devices that were not seen for a given number of days', () => {
  let stores: TestStores;
  let deps: Wired;
  let api: Awaited<ReturnType<typeof startApi>>;
  let worker: ServiceProcess;

  beforeAll(async () => {
    stores = await createStores('two');
    deps = await wireUp(stores);
    api = await startApi(stores.environment, 'retention');
    worker = await startWorker(stores.environment, 'retention');
  });
  afterAll(async () => {
    await stopProcess(worker.child);
    await stopProcess(api.child);
    await deps.close();
    await stores.drop();
  });

  type Customer = { readonly partner: TestPartner; readonly client: ApiClient };
  const newCustomer = async (): Promise<Customer> => {
    const partner = await createPartner(stores.environment);
    for (const name of ['sport', 'cars']) await partner.createAttribute(name, name);
    return { partner, client: apiClient(api.url, partner.apiKey) };
  };
  const inlet = async (...parameters: string[]): Promise<string> => {
    const { code, out, err } = await runOperator(stores.environment, parameters);
    expect(code, out + err).toBe(0);
    return out + err;
  };
  let files = 0;
  const importRows = async ({ partner, client }: Customer, rows: readonly string[]): Promise<void> => {
    files += 1;
    const path = `${files}.csv`;
    await partner.upload(path, `${rows.join('\n')}\n`);
    expect(await client.waitForEnd(await client.queue({ file_path: path, key_type: 1 }))).toMatchObject({ status: 2 });
  };
  const query = async <Row extends object>(text: string, values: readonly unknown[]): Promise<Row[]> =>
    withDatabase(stores, async (client) => (await client.query<Row>(text, [...values])).rows);
  const age = (partnerId: number, days: number) =>
    query(`UPDATE job SET finished_at = finished_at - make_interval(days => $2) WHERE partner_id = $1`, [
      partnerId,
      days,
    ]);
  const makeDue = (partnerId: number) =>
    query('UPDATE device_retention SET due_at = now() WHERE partner_id = $1', [partnerId]);
  const removeNow = (): Promise<void> => removeUnseenDevices({ ...deps, log: silentLog }, new AbortController().signal);
  /** The worker may be removing devices at the same time. */
  const untilRemoved = (partnerId: number): Promise<void> =>
    waitUntil('the removal has ended', async () => {
      await removeNow();
      const due = await query(
        'SELECT FROM device_retention WHERE partner_id = $1 AND (is_removing OR due_at <= now())',
        [partnerId],
      );
      return due.length === 0;
    });
  const storedRows = (partnerId: number): Promise<string[]> =>
    selectOnShards(stores, `SELECT device FROM device_attributes_local WHERE partner_id = ${partnerId}`);
  const entriesOf = (partnerId: number): Promise<{ detail: unknown }[]> =>
    query(`SELECT detail FROM audit_log WHERE partner_id = $1 AND event = 'device_retention.delete'`, [partnerId]);

  it('removes attribute rows and tombstones that no later import has published again, and nothing else', async () => {
    const [mine, other] = [await newCustomer(), await newCustomer()];
    const { id, name } = mine.partner;
    for (const customer of [mine, other]) {
      await importRows(customer, [`${device(1)},sport`, `${device(2)},sport`, `${device(3)},cars`]);
      await age(customer.partner.id, 91);
    }
    await importRows(mine, [`${device(1)},sport`]);
    await commandOnShards(
      stores,
      `INSERT INTO device_attributes_local (partner_id, attribute_id, device, version, is_deleted)
       VALUES (${id}, 999, '${device(8)}', ${versionsOfJob(1).ofDeletes}, 1)`,
    );
    await commandOnShards(stores, `INSERT INTO audience_devices_local SELECT ${id}, 1, 1, '${device(2)}', '', 1`);
    expect(await inlet('partner', 'show', name)).toMatch(/unseen devices\s+kept/);
    expect(await inlet('partner', 'set', name, '--device-days', '90')).toContain('The first removal starts in an hour');
    const limitsOf = async ({ client }: Customer): Promise<unknown> => (await client.request('/v1/limits')).json();
    expect(await limitsOf(mine)).toMatchObject({ device_days: 90 });
    expect(await limitsOf(other)).not.toHaveProperty('device_days');
    await removeNow();
    expect(await storedRows(id)).toHaveLength(6);

    await makeDue(id);
    await untilRemoved(id);
    expect(await storedRows(id)).toEqual([device(1)]);
    expect(await storedRows(other.partner.id)).toHaveLength(3);
    const members = `SELECT device FROM audience_devices_local WHERE partner_id = ${id}`;
    expect(await selectOnShards(stores, members)).toEqual([device(2), device(2)]);
    // Two attribute rows, two tombstones, and an earlier version of the row that stays, unless ClickHouse has merged
    // it.
    const [entry, ...others] = await entriesOf(id);
    expect(others).toEqual([]);
    expect(entry?.detail).toMatchObject({ device_days: 90, attributes: 3 });
    expect(await inlet('partner', 'show', name)).toMatch(/removed rows\s+[45], last/);
    const listed: unknown = JSON.parse(await inlet('partner', 'list', '--json'));
    expect(JSON.stringify(listed)).toContain(`"device_days":90`);
    const changes = `SELECT detail FROM audit_log WHERE partner_id = $1 AND event = 'partner.update'`;
    expect(JSON.stringify(await query(changes, [id]))).toContain('device_days');
  });

  it('leaves an index that agrees with the rows, and no differences to report or repair', async () => {
    const customer = await newCustomer();
    const { id, name } = customer.partner;
    await importRows(customer, [`${device(11)},sport`, `${device(12)},cars`]);
    await age(id, 91);
    await inlet('partner', 'set', name, '--device-days', '90');
    await makeDue(id);
    await untilRemoved(id);
    expect(await storedRows(id)).toEqual([]);
    await waitUntil('the index is folded', async () => !(await deps.indexStore.hasChanges()));
    const bitmaps = `SELECT bitmapCardinality(groupBitmapMergeState(devices)) AS devices FROM attribute_bitmaps_local FINAL
      WHERE partner_id = ${id} HAVING devices > 0`;
    expect(await selectOnShards(stores, bitmaps)).toEqual([]);
    await query(`UPDATE job SET finished_at = now() WHERE partner_id = $1`, [id]);
    expect(await inlet('audit', '--partner', name)).toBe('1 job or audience audited, 0 with differences\n');
    const records = postgresRepairRecords(deps.db);
    expect(await records.findLaterChanges(id, 1)).toMatchObject({ isUnseen: true });
    expect(await records.findLaterChanges(id, 2)).toMatchObject({ isUnseen: false });
  });

  it('does not remove rows that an import publishes during the removal', { timeout: 120_000 }, async () => {
    const customer = await newCustomer();
    const { id, name } = customer.partner;
    const rows = Array.from({ length: 20_000 }, (_, n) => `${device(n + 1)},sport`);
    await importRows(customer, rows);
    await age(id, 91);
    await inlet('partner', 'set', name, '--device-days', '90');
    await makeDue(id);
    await Promise.all([importRows(customer, rows), untilRemoved(id)]);
    const live = `SELECT count() FROM device_attributes_local FINAL WHERE partner_id = ${id}`;
    const counts = await selectOnShards(stores, live);
    expect(counts.reduce((sum, count) => sum + Number(count), 0)).toBe(rows.length);
  });

  it.each(['after deviceRetention.begin', 'after deviceRetention.recordFound', 'after unseenRows.remove'])(
    'continues after a worker was killed %s, even if the partner has since been set to keep its devices',
    { timeout: 120_000 },
    async (point) => {
      const customer = await newCustomer();
      const { id, name } = customer.partner;
      await importRows(customer, [`${device(21)},sport`, `${device(22)},cars`]);
      await age(id, 91);
      await stopProcess(worker.child);
      await inlet('partner', 'set', name, '--device-days', '90');
      await makeDue(id);
      const killed = startProcess('worker', { ...stores.environment, INLET_FAILPOINT: point }, 'retention-killed');
      await waitUntil('the worker is killed', () => Promise.resolve(killed.child.signalCode === 'SIGKILL'));
      expect(await entriesOf(id)).toEqual([]);
      await inlet('partner', 'set', name, '--device-days', 'off');
      await untilRemoved(id);
      expect(await storedRows(id)).toEqual([]);
      expect(await entriesOf(id)).toMatchObject([{ detail: { rows: 2, attributes: 2 } }]);
      worker = await startWorker(stores.environment, 'retention');
    },
  );

  describe('the start of a removal', () => {
    const withJobs = async (jobs: readonly { readonly days: number; readonly status: number }[]): Promise<number> => {
      const { id } = await newBarePartner(deps);
      for (const [index, { days, status }] of jobs.entries()) {
        await query(
          `INSERT INTO job (partner_id, seq, kind, status, listed_at, finished_at)
           VALUES ($1, $2, 'import', $3::smallint, now(), CASE WHEN $3 > 1 THEN now() - make_interval(days => $4) END)`,
          [id, index + 1, status, days],
        );
      }
      await query('UPDATE partner SET next_seq = $2 WHERE id = $1', [id, jobs.length + 1]);
      await deps.partners.writeSettings(id, { deviceDays: 30 });
      return id;
    };
    const begin = (id: number) => deps.deviceRetention.begin(id, jobDays);

    it('a removal covers jobs up to the last one before any open or recent job', async () => {
      const id = await withJobs([
        { days: 40, status: 2 },
        { days: 31, status: 3 },
        { days: 29, status: 2 },
        { days: 32, status: 2 },
      ]);
      expect(await begin(id)).toEqual({ partnerId: id, lastSeq: 2 });
      const blocked = await withJobs([
        { days: 0, status: 1 },
        { days: 40, status: 2 },
      ]);
      expect(await begin(blocked)).toBeNull();
    });

    it('a removal covers jobs whose records were removed', async () => {
      const id = await withJobs([
        { days: 500, status: 2 },
        { days: 450, status: 2 },
      ]);
      const jobs = await query<{ id: string }>('SELECT id FROM job WHERE partner_id = $1', [id]);
      await deps.retentionStore.removeJobs(jobs.map((job) => Number(job.id)));
      expect(await begin(id)).toEqual({ partnerId: id, lastSeq: 2 });
    });

    it('an interrupted removal continues with the same jobs, even if more jobs are old by then', async () => {
      const id = await withJobs([
        { days: 40, status: 2 },
        { days: 10, status: 2 },
      ]);
      expect(await begin(id)).toEqual({ partnerId: id, lastSeq: 1 });
      await age(id, 100);
      expect(await begin(id)).toEqual({ partnerId: id, lastSeq: 1 });
      await deps.deviceRetention.finish({ partnerId: id, lastSeq: 1 });
      expect(await begin(id)).toEqual({ partnerId: id, lastSeq: 2 });
    });

    it('no removal starts while the partner is suspended, or if the partner keeps its devices', async () => {
      const id = await withJobs([{ days: 40, status: 2 }]);
      await deps.partners.suspend(id);
      expect(await begin(id)).toBeNull();
      await deps.partners.resume(id);
      await deps.partners.writeSettings(id, { deviceDays: null });
      expect(await begin(id)).toBeNull();
      expect(await deps.deviceRetention.listDue(1_000)).not.toContain(id);
    });
  });

  it('shows why the last attempt failed in inlet partner show and inlet doctor, until an attempt succeeds', async () => {
    const customer = await newCustomer();
    const { id, name } = customer.partner;
    await importRows(customer, [`${device(31)},sport`]);
    await age(id, 91);
    await inlet('partner', 'set', name, '--device-days', '90');
    const diagnose = async (): Promise<string> => {
      const { out, err } = await runOperator(stores.environment, ['doctor']);
      return out + err;
    };
    await deps.deviceRetention.postpone(id, 600, 'no space left');
    expect(await diagnose()).toContain(`Unseen devices: not removed: ${name}: no space left`);
    expect(await inlet('partner', 'show', name)).toMatch(/last failure\s+no space left/);
    await makeDue(id);
    await untilRemoved(id);
    expect(await diagnose()).toContain('ok     Unseen devices: removed for');
    expect(await inlet('partner', 'show', name)).not.toContain('last failure');
  });

  it('rejects a number of days that exceeds the time for which job records are kept', async () => {
    const { partner } = await newCustomer();
    const { code, err } = await runOperator(stores.environment, [
      'partner',
      'set',
      partner.name,
      '--device-days',
      '401',
    ]);
    expect([code, err]).toEqual([2, expect.stringContaining('1 to 400 (INLET_RETENTION_DAYS)')]);
  });
});
