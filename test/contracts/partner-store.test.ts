import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectPostgres } from '../../src/adapters/postgres/db/connect.ts';
import type { Database } from '../../src/adapters/postgres/db/tables.ts';
import { postgresPartnerStore } from '../../src/adapters/postgres/partner-store.ts';
import { scopes } from '../../src/domain/caller.ts';
import type { PartnerStore } from '../../src/ports/partner-store.ts';
import { silentLog } from '../support/silent-log.ts';
import { type TestStores, createPostgresStores } from '../support/stores.ts';

describe('the partner store', () => {
  let stores: TestStores;
  let db: Database;
  let partners: PartnerStore;

  beforeAll(async () => {
    stores = await createPostgresStores();
    db = connectPostgres({ url: stores.config.INLET_POSTGRES_URL, name: 'test', maxConnections: 4, log: silentLog });
    partners = postgresPartnerStore(db);
  });
  afterAll(async () => {
    await db.destroy();
    await stores.drop();
  });

  const newPartner = (name: string): Parameters<PartnerStore['create']>[0] => ({
    name,
    prefix: `${name}/`,
    keyHash: randomBytes(32),
  });

  it('creates a partner and finds it by name and by key', async () => {
    const wanted = newPartner('acme');
    const made = await partners.create(wanted);
    expect(made).toEqual({ id: made.id, name: 'acme', prefix: 'acme/' });
    expect(await partners.findByName('acme')).toEqual(made);
    const { keyId, ...holder } = (await partners.findByKeyHash(wanted.keyHash)) ?? {};
    expect(keyId).toBeGreaterThan(0);
    expect(holder).toEqual({ partner: made, scopes, isValid: true, isUseDue: true, isSuspended: false });
  });

  it('finds the owner of each key', async () => {
    const wanted = [newPartner('one'), newPartner('two')];
    for (const partner of wanted) await partners.create(partner);
    const found = await Promise.all(wanted.map(({ keyHash }) => partners.findByKeyHash(keyHash)));
    expect(found.map((holder) => holder?.partner.name)).toEqual(['one', 'two']);
  });

  it.each(['unknown', 'ACME', 'acm', '', "acme' OR '1'='1"])('finds no partner by the name %j', async (name) => {
    await partners.create(newPartner(`acme-${randomBytes(4).toString('hex')}`));
    expect(await partners.findByName(name)).toBeNull();
  });

  it('finds no partner by a key that is unknown, truncated, or empty', async () => {
    const wanted = newPartner('cut');
    await partners.create(wanted);
    for (const hash of [randomBytes(32), wanted.keyHash.subarray(0, 31), new Uint8Array()]) {
      expect(await partners.findByKeyHash(hash)).toBeNull();
    }
  });

  it.each([
    ['revoked', { revoked_at: new Date() }],
    ['expired', { expires_at: new Date(Date.now() - 1_000) }],
  ] as const)('reports that a key is %s and returns its partner', async (name, change) => {
    const wanted = newPartner(name);
    await partners.create(wanted);
    expect(await partners.findByKeyHash(wanted.keyHash)).toMatchObject({ isValid: true, partner: { name } });
    await db.updateTable('api_key').set(change).where('key_hash', '=', Buffer.from(wanted.keyHash)).execute();
    expect(await partners.findByKeyHash(wanted.keyHash)).toMatchObject({ isValid: false, partner: { name } });
    expect(await partners.findByName(name)).not.toBeNull();
  });

  it('rejects a second partner with the same name and stores nothing', async () => {
    const [first, second] = [newPartner('twice'), newPartner('twice')];
    const made = await partners.create(first);
    await expect(partners.create(second)).rejects.toThrow(/unique/);
    expect(await partners.findByKeyHash(second.keyHash)).toBeNull();
    expect(await partners.findByKeyHash(first.keyHash)).toMatchObject({ partner: made });
  });

  it('does not store a partner with a key that belongs to another partner', async () => {
    const first = newPartner('holder');
    await partners.create(first);
    await expect(partners.create({ ...newPartner('thief'), keyHash: first.keyHash })).rejects.toThrow(/unique/);
    expect(await partners.findByName('thief')).toBeNull();
    expect((await partners.findByKeyHash(first.keyHash))?.partner.name).toBe('holder');
  });

  it('creates one partner when two with the same name are created concurrently', async () => {
    const results = await Promise.allSettled([
      partners.create(newPartner('race')),
      partners.create(newPartner('race')),
    ]);
    expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  });

  it('allows a new partner neither rejected rows nor IDs without hyphens until an operator enables them', async () => {
    const [mine, theirs] = [await partners.create(newPartner('settings')), await partners.create(newPartner('other'))];
    const initial = { audienceBadRowShare: 0, unhyphenatedIds: false, deviceDays: null };
    expect(await partners.readSettings(mine.id)).toEqual(initial);
    await partners.writeSettings(mine.id, { audienceBadRowShare: 0.01 });
    expect(await partners.readSettings(mine.id)).toEqual({ ...initial, audienceBadRowShare: 0.01 });
    await partners.writeSettings(mine.id, { unhyphenatedIds: true });
    expect(await partners.readSettings(mine.id)).toEqual({
      ...initial,
      audienceBadRowShare: 0.01,
      unhyphenatedIds: true,
    });
    expect(await partners.readSettings(theirs.id)).toEqual(initial);
  });
});
