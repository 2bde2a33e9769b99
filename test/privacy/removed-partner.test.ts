import {
  ListObjectVersionsCommand,
  ListMultipartUploadsCommand,
  CreateMultipartUploadCommand,
} from '@aws-sdk/client-s3';
import { createPublicKey, randomBytes, randomUUID, verify } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import { signedText } from '../../src/domain/erasure.ts';
import { connectSharedStorage } from '../../src/entry/shared-bucket.ts';
import { apiClient } from '../acceptance/api-client.ts';
import { configFor } from '../support/environment.ts';
import { rememberSecrets } from '../support/known-secrets.ts';
import { type TestPartner, createPartner } from '../support/partners.ts';
import { type Ran, runInlet } from '../support/run-inlet.ts';
import { runOperator } from '../support/run-operator.ts';
import { tablesThatHold } from '../support/search-stores.ts';
import { commandOnShards, selectOnShards } from '../support/shard-tables.ts';
import { type Audiences, startAudiences } from '../support/start-audiences.ts';
import { withDatabase } from '../support/stores.ts';
import { filesThatHold, tablesThatHoldDevice } from './canary-traces.ts';

// Plants a device ID and a text through every path of one partner, removes the partner while the command is repeatedly
// killed, once at each step, and searches every server for both.

const canary = randomUUID();
const shared = randomUUID();
const others = Array.from({ length: 30 }, () => randomUUID());
/** A text that only this partner has stored. */
const secretName = `marker-${randomBytes(6).toString('hex')}`;

const placeSchema = z.object({ store: z.string(), place: z.string() });
const proofSchema = z.looseObject({
  format: z.literal('inlet-removal-proof-1'),
  partner: z.string(),
  storage_user: z.string(),
  removed: z.array(placeSchema.extend({ removed: z.int() }).loose()),
  remaining: z.array(placeSchema.extend({ remaining: z.int(), replica: z.int().nullable() }).loose()),
  signature: z.object({ public_key: z.string(), value: z.string() }).loose(),
});

/** Failpoints, in the order in which a removal passes them. */
const allKills = [
  'before removals.begin',
  'after removals.begin',
  'after removals.countOpenWork',
  'after removalStorage.removeUser',
  'after removalStorage.removeObjects',
  'after removalEngine.removeLoads',
  'after removalEngine.removeRows',
  'before removals.removeRecords',
  'after removals.removeRecords',
  'before removals.finish',
  'after removals.finish',
];
const shortKills: readonly string[] = [
  'after removals.begin',
  'after removalStorage.removeUser',
  'after removalEngine.removeRows',
  'after removals.removeRecords',
  'before removals.finish',
];
const kills = inject('campaign') === 'long' ? allKills : shortKills;
const proofKey = randomBytes(32).toString('hex');
rememberSecrets(proofKey);

describe('partner removal', () => {
  let market: Audiences;
  let other: TestPartner;
  let folder: string;
  let othersImport: number;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'inlet-removal-'));
    market = await startAudiences('removed-partner');
    // Otherwise, the engine keeps the files of replaced parts for eight minutes.
    const tables = await selectOnShards(
      market.stores,
      `SELECT DISTINCT name FROM system.tables WHERE database = currentDatabase() AND engine LIKE '%MergeTree'`,
    );
    for (const table of new Set(tables))
      await commandOnShards(market.stores, `ALTER TABLE ${table} MODIFY SETTING old_parts_lifetime = 1`);
    other = await createPartner(market.stores.environment);
    await market.partner.createAttribute('sports', 'sports');
    await other.createAttribute('travel', 'travel');
  });
  afterAll(async () => {
    await market.stop();
    rmSync(folder, { recursive: true });
  });

  const inlet = (...parameters: string[]): Promise<Ran> => runOperator(market.stores.environment, parameters);
  const proofFile = (): string => join(folder, 'proof.json');
  const remove = (environment: Record<string, string> = {}): Promise<Ran> =>
    runInlet({ ...market.stores.environment, INLET_PROOF_KEY: proofKey, ...environment }, [
      'partner',
      'remove',
      market.partner.name,
      '--confirm',
      market.partner.name,
      '--proof',
      proofFile(),
    ]);
  const rowsOfOther = (): Promise<string[]> =>
    selectOnShards(
      market.stores,
      `SELECT toString(device) FROM device_attributes_local FINAL WHERE partner_id = ${other.id} ORDER BY device`,
    );
  const objects = async (): Promise<number> => {
    const config = configFor(market.stores.environment);
    const s3 = connectSharedStorage(config);
    const where = { Bucket: config.INLET_S3_BUCKET, Prefix: market.partner.prefix };
    const { Versions: versions = [] } = await s3.send(new ListObjectVersionsCommand(where));
    const { Uploads: uploads = [] } = await s3.send(new ListMultipartUploadsCommand(where));
    s3.destroy();
    return versions.length + uploads.length;
  };

  it('finds the device and the text wherever a partner can store them', async () => {
    const { partner, audiences, api } = market;
    const ofOther = apiClient(market.service.url, other.apiKey);
    await other.upload('b.csv', `${shared},travel\n${others[0]},travel\n`);
    othersImport = await ofOther.queue({ file_path: 'b.csv', key_type: 1 });
    await ofOther.waitForEnd(othersImport);
    const lines = [canary, shared, ...others].map((id) => `${id},sports\n`).join('');
    await partner.upload('good.csv', lines);
    await partner.upload(`${secretName}.csv`, `${canary},${secretName}\n${others[1]},sports\n`);
    for (const path of ['good.csv', `${secretName}.csv`])
      await api.waitForEnd(await api.queue({ file_path: path, key_type: 1 }));
    await partner.upload('audience.csv', `${canary},buy\n${shared},buy\n`);
    const { audienceId } = await audiences.create(secretName, 'audience.csv');
    await audiences.settled(audienceId);
    await partner.createCustomer(secretName);
    await partner.createKey(secretName);
    await partner.s3.send(
      new CreateMultipartUploadCommand({ Bucket: partner.bucket, Key: `${partner.prefix}unfinished.csv` }),
    );
    const webhook = { url: `https://${secretName}.example.com/hook` };
    expect((await api.request('/v1/webhooks', { method: 'POST', body: JSON.stringify(webhook) })).status).toBe(201);
    expect(await tablesThatHoldDevice(market.stores, canary)).toEqual(
      expect.arrayContaining(['clickhouse audience_devices_local', 'clickhouse load_rejects_local']),
    );
    expect((await tablesThatHold(market.stores, secretName)).length).toBeGreaterThan(3);
  });

  it("shows what it would remove, and removes nothing without a confirmation with the partner's name", async () => {
    const before = await objects();
    const preview = await inlet('partner', 'remove', market.partner.name);
    expect(preview.code, preview.err).toBe(0);
    for (const place of ['device_attributes', 'audience_devices', 'load_rejects', 'customer', 'webhook', 'objects'])
      expect(preview.out).toMatch(new RegExp(String.raw` ${place} .*[1-9]`));
    expect(preview.err).toContain('Nothing was removed.');
    const wrong = await inlet('partner', 'remove', market.partner.name, '--confirm', other.name);
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('is not the name of the partner')]);
    expect(await objects()).toBe(before);
    expect((await market.api.request('/v1/marketplace/import')).status).toBe(200);
  });

  it('continues after being killed at any step, and ends with a proof', { timeout: 240_000 }, async () => {
    for (const point of kills) {
      const { code, out } = await remove({ INLET_FAILPOINT: point });
      expect([point, code, out]).toEqual([point, -1, expect.stringContaining('killed at this point')]);
    }
    // The keys were revoked at the point of no return, and no longer exist.
    expect((await market.api.request('/v1/marketplace/import')).status).toBe(401);
    const { code, out, err } = await remove();
    expect(code, err).toBe(0);
    expect(out).toContain(`partner ${market.partner.name} is removed; nothing remains`);
    const { signature, ...proof } = proofSchema.parse(JSON.parse(readFileSync(proofFile(), 'utf8')));
    expect(proof).toMatchObject({ partner: market.partner.name, storage_user: 'removed' });
    const removed = proof.removed.map(({ place }) => place);
    expect(removed).toEqual(expect.arrayContaining(['device_attributes', 'load_rejects', 'objects', 'customer']));
    expect(proof.remaining.filter(({ remaining }) => remaining > 0)).toEqual([]);
    const shards = market.stores.environment['INLET_CLICKHOUSE_URLS']?.split(',').length;
    expect(
      proof.remaining.filter(({ place, replica }) => place === 'device_attributes' && replica !== null),
    ).toHaveLength(shards ?? 0);
    const key = createPublicKey({
      key: Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), Buffer.from(signature.public_key, 'base64')]),
      format: 'der',
      type: 'spki',
    });
    const isSigned = verify(null, Buffer.from(signedText(proof)), key, Buffer.from(signature.value, 'base64'));
    expect(isSigned).toBe(true);
  });

  it('leaves no trace of the partner in any table, file, or object', async () => {
    expect(await objects()).toBe(0);
    expect(await tablesThatHoldDevice(market.stores, canary)).toEqual([]);
    expect(filesThatHold(canary)).toEqual([]);
    // The audit log and the record of the removal itself are kept on purpose.
    const kept = await tablesThatHold(market.stores, secretName);
    expect(kept.filter((table) => !/audit_log/.test(table))).toEqual([]);
    const rows = await withDatabase(market.stores, (client) =>
      client.query('SELECT FROM partner WHERE id = $1', [market.partner.id]),
    );
    expect(rows.rowCount).toBe(0);
    expect((await inlet('partner', 'list')).out).not.toContain(market.partner.name);
    await expect(market.partner.upload('again.csv', 'x')).rejects.toMatchObject({ name: 'InvalidAccessKeyId' });
  });

  it('keeps all data of other partners', async () => {
    expect((await rowsOfOther()).toSorted()).toEqual([shared, others[0] ?? ''].toSorted());
    const ofOther = apiClient(market.service.url, other.apiKey);
    expect(await ofOther.get(othersImport)).toMatchObject({ status: 2, unique_devices: '2' });
    expect((await inlet('audit')).out).toContain(' 0 with differences');
    expect((await inlet('index', 'verify')).out).toBe('the device index equals the rows\n');
    expect(
      await selectOnShards(market.stores, 'SELECT toString(uniqExact(device)) FROM known_devices_local'),
    ).toSatisfy((counts: string[]) => counts.reduce((sum, count) => sum + Number(count), 0) === 2);
  });

  it('returns the same proof again, and releases the name for another partner', async () => {
    const first = readFileSync(proofFile(), 'utf8');
    rmSync(proofFile());
    expect((await remove()).code).toBe(0);
    expect(readFileSync(proofFile(), 'utf8')).toBe(first);
    const created = await inlet('partner', 'create', market.partner.name, '--json');
    expect(created.code, created.err).toBe(0);
    expect((await inlet('partner', 'remove', market.partner.name)).err).toContain('Nothing was removed.');
  });
});
