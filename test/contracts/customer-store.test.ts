import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { postgresCustomerStore } from '../../src/adapters/postgres/customer-store.ts';
import { connectPostgres } from '../../src/adapters/postgres/db/connect.ts';
import type { Database } from '../../src/adapters/postgres/db/tables.ts';
import { postgresPartnerStore } from '../../src/adapters/postgres/partner-store.ts';
import { randomKeys } from '../../src/adapters/vault/keys.ts';
import type { Customer } from '../../src/domain/customer.ts';
import type { CustomerStore } from '../../src/ports/partner-store.ts';
import { tablesThatHold } from '../support/search-stores.ts';
import { silentLog } from '../support/silent-log.ts';
import { type TestStores, createPostgresStores } from '../support/stores.ts';

describe('the customer store', () => {
  const all = { afterId: 0, limit: 100 };
  let stores: TestStores;
  let db: Database;
  let customers: CustomerStore;
  let mine: number;
  let theirs: number;

  const newPartner = async (): Promise<number> => {
    const name = `p-${randomBytes(6).toString('hex')}`;
    return (await postgresPartnerStore(db).create({ name, prefix: `${name}/`, keyHash: randomBytes(32) })).id;
  };
  const newToken = async (partnerId: number, customer: Customer): Promise<{ id: number; hash: Buffer }> => {
    const hash = randomBytes(32);
    const id = await customers.addToken(partnerId, customer.id, hash);
    if (id === null) throw new Error('the customer does not exist');
    return { id, hash };
  };

  beforeAll(async () => {
    stores = await createPostgresStores();
    db = connectPostgres({ url: stores.config.INLET_POSTGRES_URL, name: 'test', maxConnections: 4, log: silentLog });
    customers = postgresCustomerStore(db);
  });
  afterAll(async () => {
    await db.destroy();
    await stores.drop();
  });
  beforeEach(async () => {
    mine = await newPartner();
    theirs = await newPartner();
  });

  describe('customers', () => {
    it('lists no customers for a partner without customers', async () => {
      await customers.create(theirs, 'Shoes');
      expect(await customers.list(mine, all)).toEqual([]);
    });

    it('lists customers in ID order and finds them by name', async () => {
      const shoes = await customers.create(mine, 'Shoes');
      const bags = await customers.create(mine, 'Bags');
      expect(shoes).toEqual({ id: shoes.id, name: 'Shoes' });
      expect(await customers.list(mine, all)).toEqual([shoes, bags]);
      expect(await customers.findByName(mine, 'Bags')).toEqual(bags);
    });

    it('lists customers in pages', async () => {
      const made: Customer[] = [];
      for (const name of ['a', 'b', 'c']) made.push(await customers.create(mine, name));
      const first = await customers.list(mine, { afterId: 0, limit: 2 });
      expect(first).toEqual(made.slice(0, 2));
      expect(await customers.list(mine, { afterId: first.at(-1)?.id ?? 0, limit: 2 })).toEqual(made.slice(2));
    });

    it.each(['shoes', 'Shoe', '', "Shoes' OR '1'='1"])('finds no customer by the name %j', async (name) => {
      await customers.create(mine, 'Shoes');
      expect(await customers.findByName(mine, name)).toBeNull();
    });

    it('rejects a second customer with the same name and stores nothing', async () => {
      const first = await customers.create(mine, 'Shoes');
      await expect(customers.create(mine, 'Shoes')).rejects.toMatchObject({ code: 'invalid_request' });
      expect(await customers.list(mine, all)).toEqual([first]);
    });

    it('creates one customer when two with the same name are created concurrently', async () => {
      const results = await Promise.allSettled([customers.create(mine, 'Race'), customers.create(mine, 'Race')]);
      expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
      expect(await customers.list(mine, all)).toHaveLength(1);
    });

    it('keeps customers of different partners separate even if they have the same name', async () => {
      const one = await customers.create(mine, 'Shoes');
      const other = await customers.create(theirs, 'Shoes');
      await customers.create(theirs, 'Secret');
      expect(one.id).not.toBe(other.id);
      expect(await customers.list(mine, all)).toEqual([one]);
      expect(await customers.findByName(mine, 'Shoes')).toEqual(one);
      expect(await customers.findByName(mine, 'Secret')).toBeNull();
    });

    it('rejects a customer of a partner that does not exist', async () => {
      await expect(customers.create(999_999, 'Shoes')).rejects.toThrow(/foreign key/);
    });
  });

  describe('user tokens', () => {
    it('finds the customer that a token belongs to', async () => {
      const [shoes, bags] = [await customers.create(mine, 'Shoes'), await customers.create(mine, 'Bags')];
      const [one, other, another] = [
        await newToken(mine, shoes),
        await newToken(mine, bags),
        await newToken(mine, bags),
      ];
      expect(await customers.findByTokenHash(mine, one.hash)).toMatchObject({ customer: shoes });
      expect(await customers.findByTokenHash(mine, other.hash)).toMatchObject({ customer: bags });
      expect(await customers.findByTokenHash(mine, another.hash)).toMatchObject({ customer: bags });
    });

    it('finds no customer for a token that is unknown, truncated, or empty', async () => {
      const { hash } = await newToken(mine, await customers.create(mine, 'Shoes'));
      for (const wrong of [randomBytes(32), hash.subarray(0, 31), new Uint8Array()]) {
        expect(await customers.findByTokenHash(mine, wrong)).toBeNull();
      }
    });

    it("neither accepts nor lists another partner's token", async () => {
      const { hash } = await newToken(theirs, await customers.create(theirs, 'Shoes'));
      expect(await customers.findByTokenHash(mine, hash)).toBeNull();
      expect(await customers.listTokens(mine, all)).toEqual([]);
    });

    it("creates no token for another partner's customer or for a customer that does not exist", async () => {
      const shoes = await customers.create(theirs, 'Shoes');
      expect(await customers.addToken(mine, shoes.id, randomBytes(32))).toBeNull();
      expect(await customers.addToken(mine, 999_999, randomBytes(32))).toBeNull();
      expect(await customers.listTokens(mine, all)).toEqual([]);
      expect(await customers.listTokens(theirs, all)).toEqual([]);
    });

    it("rejects a revoked token and accepts the customer's other tokens", async () => {
      const shoes = await customers.create(mine, 'Shoes');
      const [gone, kept] = [await newToken(mine, shoes), await newToken(mine, shoes)];
      expect(await customers.revokeToken(mine, gone.id)).toBe(true);
      expect(await customers.findByTokenHash(mine, gone.hash)).toBeNull();
      expect(await customers.findByTokenHash(mine, kept.hash)).toMatchObject({ customer: shoes });
    });

    it("keeps the time of a token's first revocation", async () => {
      const { id } = await newToken(mine, await customers.create(mine, 'Shoes'));
      await customers.revokeToken(mine, id);
      const first = await customers.listTokens(mine, all);
      expect(first[0]?.revokedAt).toBeInstanceOf(Date);
      expect(await customers.revokeToken(mine, id)).toBe(true);
      expect(await customers.listTokens(mine, all)).toEqual(first);
    });

    it('revokes a token only for its own partner', async () => {
      const shoes = await customers.create(theirs, 'Shoes');
      const { id, hash } = await newToken(theirs, shoes);
      expect(await customers.revokeToken(mine, id)).toBe(false);
      expect(await customers.revokeToken(mine, 999_999)).toBe(false);
      expect(await customers.findByTokenHash(theirs, hash)).toMatchObject({ customer: shoes });
    });

    it('lists tokens with their customers in pages, including revoked ones', async () => {
      const [shoes, bags] = [await customers.create(mine, 'Shoes'), await customers.create(mine, 'Bags')];
      const [one, other] = [await newToken(mine, shoes), await newToken(mine, bags)];
      await customers.revokeToken(mine, one.id);
      const first = await customers.listTokens(mine, { afterId: 0, limit: 1 });
      const second = await customers.listTokens(mine, { afterId: one.id, limit: 1 });
      expect(first).toMatchObject([{ id: one.id, customer: shoes }]);
      expect(second).toMatchObject([{ id: other.id, customer: bags, revokedAt: null }]);
      expect([first[0]?.createdAt, first[0]?.revokedAt, second[0]?.createdAt].every((at) => at instanceof Date)).toBe(
        true,
      );
    });

    it("stores only a token's hash", async () => {
      const { key, hash } = randomKeys('userToken', 'test').issue();
      await customers.addToken(mine, (await customers.create(mine, 'Shoes')).id, hash);
      expect(await tablesThatHold(stores, key.reveal())).toEqual([]);
      expect(await tablesThatHold(stores, key.reveal().slice(-39))).toEqual([]);
      // Finding the hash proves that the search works.
      expect(await tablesThatHold(stores, Buffer.from(hash).toString('hex'))).toEqual(['public.user_token']);
    });
  });
});
