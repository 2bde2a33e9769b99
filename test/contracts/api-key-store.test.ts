import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { postgresApiKeyStore } from '../../src/adapters/postgres/api-key-store.ts';
import { connectPostgres } from '../../src/adapters/postgres/db/connect.ts';
import type { Database } from '../../src/adapters/postgres/db/tables.ts';
import { postgresPartnerStore } from '../../src/adapters/postgres/partner-store.ts';
import type { ApiKey, NewApiKey } from '../../src/domain/api-key.ts';
import { scopes } from '../../src/domain/caller.ts';
import type { ApiKeyStore, KeyHolder, PartnerStore } from '../../src/ports/partner-store.ts';
import { silentLog } from '../support/silent-log.ts';
import { type TestStores, createPostgresStores } from '../support/stores.ts';

const day = 86_400;
const plain: NewApiKey = { name: 'nightly', scopes: null, livesSeconds: null };

describe('the API key store', () => {
  let stores: TestStores;
  let db: Database;
  let keys: ApiKeyStore;
  let partners: PartnerStore;

  beforeAll(async () => {
    stores = await createPostgresStores();
    db = connectPostgres({ url: stores.config.INLET_POSTGRES_URL, name: 'test', maxConnections: 4, log: silentLog });
    [keys, partners] = [postgresApiKeyStore(db), postgresPartnerStore(db)];
  });
  afterAll(async () => {
    await db.destroy();
    await stores.drop();
  });

  const newPartner = async (): Promise<number> => {
    const name = `p-${randomBytes(6).toString('hex')}`;
    return (await partners.create({ name, prefix: `${name}/`, keyHash: randomBytes(32) })).id;
  };
  const make = async (partnerId: number, wish: Partial<NewApiKey> = {}): Promise<{ hash: Buffer; made: ApiKey }> => {
    const hash = randomBytes(32);
    return { hash, made: await keys.create(partnerId, hash, { ...plain, ...wish }) };
  };
  const holderOf = (hash: Uint8Array): Promise<KeyHolder | null> => partners.findByKeyHash(hash);
  const set = (id: number, values: { last_used_at?: Date; created_at?: Date; expires_at?: Date }): Promise<unknown> =>
    db.updateTable('api_key').set(values).where('id', '=', id).execute();
  const secondsBetween = (one: Date | null | undefined, other: Date | null | undefined): number =>
    ((other?.getTime() ?? Number.NaN) - (one?.getTime() ?? Number.NaN)) / 1000;

  it('creates several keys for one partner, each with its own name, scopes, and expiration', async () => {
    const partnerId = await newPartner();
    const { made: forever, hash } = await make(partnerId);
    expect(forever).toMatchObject({ name: 'nightly', scopes, lastUsedAt: null, expiresAt: null, revokedAt: null });
    const { made: short, hash: other } = await make(partnerId, {
      name: '',
      scopes: ['audience:read'],
      livesSeconds: day,
    });
    expect(short).toMatchObject({ name: '', scopes: ['audience:read'] });
    expect(secondsBetween(short.createdAt, short.expiresAt)).toBe(day);
    expect(await holderOf(hash)).toMatchObject({
      keyId: forever.id,
      scopes,
      isValid: true,
      partner: { id: partnerId },
    });
    expect(await holderOf(other)).toMatchObject({ keyId: short.id, scopes: ['audience:read'], isValid: true });
  });

  it("lists a partner's keys in pages without their hashes", async () => {
    const [mine, theirs] = [await newPartner(), await newPartner()];
    const { made } = await make(mine, { name: 'second' });
    await make(theirs);
    const listed = await keys.list(mine, { afterId: 0, limit: 10 });
    expect(listed.map(({ name }) => name)).toEqual(['first', 'second']);
    expect(listed[1]).toEqual(made);
    expect(await keys.list(mine, { afterId: listed[0]?.id ?? 0, limit: 10 })).toEqual([made]);
    expect(await keys.list(mine, { afterId: 0, limit: 1 })).toEqual([listed[0]]);
    expect(JSON.stringify(listed)).not.toMatch(/hash/);
  });

  it('accepts a key until it expires', async () => {
    const { hash, made } = await make(await newPartner(), { livesSeconds: day });
    expect((await holderOf(hash))?.isValid).toBe(true);
    await set(made.id, { expires_at: new Date(Date.now() - 1) });
    expect((await holderOf(hash))?.isValid).toBe(false);
  });

  it('revokes only the given key, and keeps the time of its first revocation', async () => {
    const [mine, theirs] = [await newPartner(), await newPartner()];
    const [one, other] = [await make(mine), await make(mine)];
    expect(await keys.revoke(theirs, one.made.id)).toBe(false);
    expect((await holderOf(one.hash))?.isValid).toBe(true);
    expect(await keys.revoke(mine, one.made.id)).toBe(true);
    expect([(await holderOf(one.hash))?.isValid, (await holderOf(other.hash))?.isValid]).toEqual([false, true]);
    const revoked = await keys.list(mine, { afterId: 0, limit: 10 });
    expect(await keys.revoke(mine, one.made.id)).toBe(true);
    expect(await keys.list(mine, { afterId: 0, limit: 10 })).toEqual(revoked);
    expect(await keys.revoke(mine, 999_999)).toBe(false);
  });

  const rotate = (partnerId: number, id: number, overlapSeconds: number, livesSeconds: number | null = null) => {
    const keyHash = randomBytes(32);
    return keys
      .rotate(partnerId, id, { keyHash, overlapSeconds, livesSeconds })
      .then((rotated) => ({ keyHash, rotated }));
  };

  it('copies the settings of a rotated key to the new key and accepts both during the overlap', async () => {
    const partnerId = await newPartner();
    const old = await make(partnerId, { scopes: ['marketplace:read', 'marketplace:write'] });
    const { keyHash, rotated } = await rotate(partnerId, old.made.id, day);
    expect(rotated?.made).toMatchObject({ name: 'nightly', scopes: old.made.scopes, expiresAt: null });
    expect(rotated?.old.id).toBe(old.made.id);
    expect(secondsBetween(rotated?.made.createdAt, rotated?.old.expiresAt)).toBe(day);
    expect([(await holderOf(old.hash))?.isValid, (await holderOf(keyHash))?.isValid]).toEqual([true, true]);
    await set(old.made.id, { expires_at: new Date(Date.now() - 1) });
    expect([(await holderOf(old.hash))?.isValid, (await holderOf(keyHash))?.isValid]).toEqual([false, true]);
  });

  it('lets the successor of a key with all scopes use scopes that later releases add', async () => {
    const partnerId = await newPartner();
    const { rotated } = await rotate(partnerId, (await make(partnerId)).made.id, day);
    const row = await db
      .selectFrom('api_key')
      .select('scopes')
      .where('id', '=', rotated?.made.id ?? 0)
      .executeTakeFirst();
    expect(row).toEqual({ scopes: null });
  });

  it('gives the successor of an expiring key the same lifetime and does not extend the old key', async () => {
    const partnerId = await newPartner();
    const { made } = await make(partnerId, { livesSeconds: 30 * day });
    const hour = 3_600;
    await set(made.id, {
      created_at: new Date(Date.now() - 30 * day * 1000 + hour * 1000),
      expires_at: new Date(Date.now() + hour * 1000),
    });
    const { rotated } = await rotate(partnerId, made.id, day);
    expect(secondsBetween(rotated?.made.createdAt, rotated?.made.expiresAt)).toBeCloseTo(30 * day, 0);
    expect(secondsBetween(rotated?.made.createdAt, rotated?.old.expiresAt)).toBeLessThanOrEqual(hour);
    const { rotated: shorter } = await rotate(partnerId, made.id, day, 7 * day);
    expect(secondsBetween(shorter?.made.createdAt, shorter?.made.expiresAt)).toBe(7 * day);
  });

  it('does not rotate a key that has expired, does not exist, or belongs to another partner', async () => {
    const [mine, theirs] = [await newPartner(), await newPartner()];
    const [revoked, expired, good] = [await make(mine), await make(mine), await make(mine)];
    await keys.revoke(mine, revoked.made.id);
    await set(expired.made.id, { expires_at: new Date(Date.now() - 1) });
    const before = await keys.list(mine, { afterId: 0, limit: 10 });
    for (const id of [revoked.made.id, expired.made.id, 999_999]) {
      expect((await rotate(mine, id, day)).rotated).toBeNull();
    }
    expect((await rotate(theirs, good.made.id, day)).rotated).toBeNull();
    expect(await keys.list(mine, { afterId: 0, limit: 10 })).toEqual(before);
  });

  it('records the last use of a key at most once per minute', async () => {
    const partnerId = await newPartner();
    const [one, other] = [await make(partnerId), await make(partnerId)];
    const lastUse = async (): Promise<(Date | null)[]> =>
      (await keys.list(partnerId, { afterId: one.made.id - 1, limit: 2 })).map(({ lastUsedAt }) => lastUsedAt);
    expect(await holderOf(one.hash)).toMatchObject({ isUseDue: true });
    await keys.recordUses([one.made.id]);
    const [first, none] = await lastUse();
    expect([first instanceof Date, none]).toEqual([true, null]);
    expect([(await holderOf(one.hash))?.isUseDue, (await holderOf(other.hash))?.isUseDue]).toEqual([false, true]);
    await keys.recordUses([one.made.id, other.made.id]);
    const [second, now] = await lastUse();
    expect([second, now instanceof Date]).toEqual([first, true]);
    await set(one.made.id, { last_used_at: new Date(Date.now() - 61_000) });
    expect(await holderOf(one.hash)).toMatchObject({ isUseDue: true });
    await keys.recordUses([one.made.id]);
    expect((await lastUse())[0]?.getTime()).toBeGreaterThan(first?.getTime() ?? Infinity);
  });
});
