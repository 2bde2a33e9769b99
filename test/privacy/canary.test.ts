import { execFileSync } from 'node:child_process';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { deletionSchema, proofSchema } from '../../src/adapters/http/records/deletion.ts';
import { type Marketplace } from '../support/start-marketplace.ts';
import { type Audiences, startAudiences } from '../support/start-audiences.ts';
import { type TestPartner, createPartner } from '../support/partners.ts';
import { apiClient } from '../acceptance/api-client.ts';
import { deleteReplacedPartsSoon } from '../support/replaced-parts.ts';
import { commandOnShards, everyServer, selectOnShards } from '../support/shard-tables.ts';
import { withDatabase } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';
import { filesThatHold, tablesThatHoldDevice, uuidSql } from './canary-traces.ts';

// Plants a device ID through every path, and searches every server for it after its erasure.

const canary = randomUUID();
const others = Array.from({ length: 30 }, () => randomUUID());
const sha256 = createHash('sha256').update(canary).digest('hex');

/** Runs the script from the page about privacy. */
function verifyAsInDocs(given: {
  readonly proof: { readonly signature: { readonly public_key: string } | null };
  readonly csv: string;
  readonly ids: string;
}): string {
  const [, script = ''] = /```ts\n(.*?)```/s.exec(readFileSync('docs/privacy.md', 'utf8')) ?? [];
  const folder = mkdtempSync(join(tmpdir(), 'inlet-proof-'));
  try {
    const path = (name: string): string => join(folder, name);
    writeFileSync(path('verify-proof.mjs'), script);
    writeFileSync(path('proof.json'), JSON.stringify(given.proof));
    writeFileSync(path('proof.csv'), given.csv);
    writeFileSync(path('ids.txt'), given.ids);
    const key = given.proof.signature?.public_key ?? '';
    const files = [path('proof.json'), key, path('ids.txt'), path('proof.csv')];
    return execFileSync(process.execPath, [path('verify-proof.mjs'), ...files], { encoding: 'utf8' });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

describe('device erasure', () => {
  let market: Audiences;
  let other: TestPartner;
  let audienceId: number;

  beforeAll(async () => {
    market = await startAudiences('canary', { INLET_PROOF_KEY: randomBytes(32).toString('hex') });
    await deleteReplacedPartsSoon(market.stores);
    other = await createPartner(market.stores.environment);
    await market.partner.createAttribute('sports', 'sports');
    await other.createAttribute('travel', 'travel');
  });
  afterAll(() => market.stop());

  const importFile = async (
    of: Pick<Marketplace, 'partner' | 'api'>,
    path: string,
    content: string,
  ): Promise<number> => {
    await of.partner.upload(path, content);
    const id = await of.api.queue({ file_path: path, key_type: 1 });
    await of.api.waitForEnd(id);
    return id;
  };
  const apiOf = (partner: TestPartner) => apiClient(market.service.url, partner.apiKey);
  const indexed = (): Promise<void> =>
    waitUntil('the index is up to date', () =>
      withDatabase(
        market.stores,
        async (client) => (await client.query('SELECT FROM index_change LIMIT 1')).rowCount === 0,
      ),
    );
  const requestDeletion = async (body: object): Promise<number> => {
    const answer = await market.api.request('/v1/privacy/deletions', { method: 'POST', body: JSON.stringify(body) });
    expect(answer.status).toBe(202);
    return z.object({ deletion_id: z.int() }).parse(await answer.json()).deletion_id;
  };
  const untilErased = async (id: number): Promise<z.infer<typeof deletionSchema>> => {
    let last: z.infer<typeof deletionSchema> | undefined;
    await waitUntil(`deletion ${id} is done`, async () => {
      last = deletionSchema.strict().parse(await (await market.api.request(`/v1/privacy/deletions/${id}`)).json());
      return last.status >= 2;
    });
    if (!last) throw new Error('no record');
    return last;
  };
  const rowsOf = (table: string, partnerId: number): Promise<string[]> =>
    selectOnShards(
      market.stores,
      `SELECT count() FROM ${table} WHERE partner_id = ${partnerId} AND device = ${uuidSql(canary)} HAVING count() > 0`,
    );

  it('finds the device wherever it was planted', async () => {
    const { partner, audiences } = market;
    const lines = others.map((id) => `${id},1,DE,0,sports\n`).join('');
    const imported = await importFile(market, 'five.csv', `${lines}${canary.toUpperCase()},1,DE,0,sports\n`);
    await importFile(market, 'two.csv', `${lines.replaceAll(',1,DE,0', '')}${canary},sports\n`);
    await importFile(market, 'bad.csv', `${others[0]},sports\n${canary},unknown-key\n${sha256},sports\n`);
    await importFile({ partner: other, api: apiOf(other) }, 'b.csv', `${canary},travel\n${canary},unknown-key\n`);
    await partner.upload('audience.csv', `${others.map((id) => `${id},buy\n`).join('')}${canary},buy\n`);
    ({ audienceId } = await audiences.create('buyers', 'audience.csv'));
    await audiences.settled(audienceId);
    await partner.upload('more.csv', `${canary},view\n`);
    await audiences.append(audienceId, 'more.csv');
    await audiences.settled(audienceId);
    await indexed();
    expect((await market.api.request(`/v1/marketplace/import/${imported}/errors`)).status).toBe(200);
    const segment = (await audiences.get(audienceId)).default_warehouse_segment_id;
    await market.api.request(`/v2/firstparty/segments/${segment}/composition`);

    expect(await tablesThatHoldDevice(market.stores, canary)).toEqual([
      'clickhouse audience_devices_local',
      'clickhouse device_attributes_local',
      'clickhouse device_numbers_local',
      'clickhouse known_devices_local',
      'clickhouse load_rejects_local',
    ]);
    // Some small parts are not compressed enough to hide the ID.
    expect(filesThatHold(canary)).toContainEqual(expect.stringMatching(/^clickhouse-/));
  });

  it("erases a partner's rows and keeps those of other partners", async () => {
    const id = await requestDeletion({ ids: [canary.toUpperCase(), randomUUID()] });
    expect(await untilErased(id)).toMatchObject({ status: 2, ids: 2, has_proof: true, waiting_for: null });
    for (const table of ['device_attributes_local', 'audience_devices_local'])
      expect(await rowsOf(table, market.partner.id)).toEqual([]);
    expect(await rowsOf('device_attributes_local', other.id)).toEqual(['1']);
    expect(await selectOnShards(market.stores, 'SELECT text FROM load_rejects_local')).toEqual([
      `${canary},unknown-key`,
    ]);
    // The other partner still knows the device.
    expect(
      await selectOnShards(
        market.stores,
        `SELECT uniqExact(device) FROM known_devices_local WHERE device = ${uuidSql(canary)}`,
      ),
    ).toEqual(['0', '1']);
    await indexed();
    expect(await market.partner.operate('index', 'verify')).toBe('the device index equals the rows\n');
    expect(await market.partner.operate('audit')).not.toContain('recorded');
  });

  it('proves what it has erased', async () => {
    const id = await requestDeletion({ ids: [canary] });
    await untilErased(id);
    const path = `/v1/privacy/deletions/${id}/proof`;
    const { signature, ...proof } = proofSchema.strict().parse(await (await market.api.request(path)).json());
    const csv = await (await market.api.request(path, { headers: { accept: 'text/csv' } })).text();
    expect(proof).toMatchObject({
      scope: 'partner',
      partner_id: market.partner.id,
      ids_sha256: createHash('sha256').update(`${proof.ids_salt}${canary}\n`).digest('hex'),
      csv_sha256: createHash('sha256').update(csv).digest('hex'),
    });
    const counted = new Set(proof.remaining.map(({ shard, replica }) => `shard ${shard}, replica ${replica}`));
    const { INLET_CLICKHOUSE_URLS: shards } = market.stores.config;
    const replicas = shards.flatMap((urls, shard) =>
      urls.map((_, replica) => `shard ${shard + 1}, replica ${replica + 1}`),
    );
    expect([...counted]).toEqual(replicas);
    expect(proof.remaining.every(({ rows_remaining: rows }) => rows === 0)).toBe(true);
    expect((await apiOf(other).request(path)).status).toBe(404);
    const verified = verifyAsInDocs({ proof: { ...proof, signature }, csv, ids: `${canary}\n` });
    expect(verified).toBe(
      'ok: signed with the published key\nok: nothing remained\nok: same list of IDs\nok: same CSV\n',
    );
  });

  it('leaves no trace of a device that an operator erased', async () => {
    await market.partner.upload('ids.csv', `${others[1]}\nnot-an-id\n${others[2]}\n`);
    const ofFile = await requestDeletion({ file_path: 'ids.csv' });
    expect(await market.partner.operate('privacy', 'erase', '--id', canary)).toMatch(/^Erasure \d+ of 1 device IDs/);
    expect(await untilErased(ofFile)).toMatchObject({ status: 2, ids: 2, invalid_lines: 1, source: 'file' });
    await waitUntil('every erasure is done', () =>
      withDatabase(
        market.stores,
        async (client) => (await client.query('SELECT FROM erasure WHERE status < 2')).rowCount === 0,
      ),
    );
    expect(await tablesThatHoldDevice(market.stores, canary)).toEqual([]);
    expect(filesThatHold(canary)).toEqual([]);
    await indexed();
    expect(await market.partner.operate('index', 'verify')).toBe('the device index equals the rows\n');
  });

  it('leaves no trace after merges, after tables were loaded again, and after a report', async () => {
    const servers = everyServer(market.stores);
    const tables = await selectOnShards(
      servers,
      `SELECT DISTINCT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree'`,
    );
    for (const table of new Set(tables)) {
      await commandOnShards(servers, `OPTIMIZE TABLE ${table} FINAL`);
      await commandOnShards(servers, `DETACH TABLE ${table} SYNC`);
      await commandOnShards(servers, `ATTACH TABLE ${table}`);
    }
    const segment = (await market.audiences.get(audienceId)).default_warehouse_segment_id;
    await market.api.request(`/v2/firstparty/segments/${segment}/composition`);
    expect(await tablesThatHoldDevice(market.stores, canary)).toEqual([]);
    expect(filesThatHold(canary)).toEqual([]);
  });
});
