import { beforeAll, describe, expect, it } from 'vitest';
import { queuedSchema } from '../../src/adapters/http/records/import-log.ts';
import { device } from '../support/device-id.ts';
import { commandOnShards, selectOnShards } from '../support/shard-tables.ts';
import { withDatabase } from '../support/stores.ts';
import { type Audiences, joinAudiences } from '../support/start-audiences.ts';
import { runOperator } from '../support/run-operator.ts';

const devices = Array.from({ length: 50 }, (_, n) => device(n + 1));

describe('inlet audit', () => {
  let market: Audiences;
  let attributeId: number;
  let importId: number;
  let audienceId: number;

  beforeAll(async () => {
    market = await joinAudiences();
    const { partner, api, audiences } = market;
    attributeId = await partner.createAttribute('sport', 'sport');
    await partner.upload('sport.csv', devices.map((id) => `${id},sport\n`).join(''));
    importId = await api.queue({ file_path: 'sport.csv', key_type: 1 });
    await api.waitForEnd(importId);
    await partner.upload('members.csv', devices.map((id) => `${id},\n`).join(''));
    ({ audienceId } = await audiences.create('members', 'members.csv'));
    await audiences.settled(audienceId);
  });

  const inletAudit = async (...options: string[]) => {
    const { code, out, err } = await runOperator(market.stores.environment, [
      'audit',
      '--partner',
      market.partner.name,
      ...options,
    ]);
    return { code, text: out + err };
  };
  const deleteRow = (table: string, condition: string): Promise<void> =>
    commandOnShards(
      market.stores,
      `ALTER TABLE ${table} DELETE WHERE partner_id = ${market.partner.id} AND ${condition} SETTINGS mutations_sync = 1`,
    );

  it('finds no difference after an import and an audience load', async () => {
    expect(await inletAudit()).toEqual({ code: 0, text: '2 jobs and audiences audited, 0 with differences\n' });
  });

  it('audits only work that finished in the period', async () => {
    await withDatabase(market.stores, async (client) => {
      const values = [market.partner.id];
      await client.query(`UPDATE audience SET updated_at = now() - interval '1 day' WHERE partner_id = $1`, values);
    });
    expect((await inletAudit('--since', '1h')).text).toBe('1 job or audience audited, 0 with differences\n');
    expect((await inletAudit('--since', '2d')).text).toBe('2 jobs and audiences audited, 0 with differences\n');
  });

  it('reports a row that disappeared from an audience', async () => {
    await deleteRow('audience_devices_local', `device = '${device(7)}'`);
    const { code, text } = await inletAudit();
    expect(code).toBe(1);
    expect(text).toContain(`audience ${audienceId}: 50 devices are recorded, but 49 are stored.`);
  });

  it('reports a row that disappeared from an import', async () => {
    await deleteRow('device_attributes_local', `device = '${device(9)}'`);
    expect((await inletAudit()).text).toContain(`import ${importId}: 50 devices are recorded, but 49 are stored.`);
  });

  it('reports rows that a delete should have removed', async () => {
    const { stores, partner, api } = market;
    const [version] = await selectOnShards(
      stores,
      `SELECT DISTINCT version FROM device_attributes_local WHERE partner_id = ${partner.id}`,
    );
    const answer = await api.request('/v1/marketplace/import', {
      method: 'DELETE',
      body: JSON.stringify({ keys: [String(attributeId)], key_type: 0 }),
    });
    const { import_log_id: deleteId } = queuedSchema.parse(await answer.json());
    expect(await api.waitForEnd(deleteId)).toMatchObject({ status: 2 });
    expect((await inletAudit()).text).not.toContain('delete');
    await commandOnShards(
      stores,
      `INSERT INTO device_attributes_local (partner_id, attribute_id, device, version)
       VALUES (${partner.id}, ${attributeId}, '${device(1)}', ${version})`,
    );
    expect((await inletAudit()).text).toContain(`delete ${deleteId}: 2 deleted rows are still stored.`);
  });
});
