import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { postgresAttributeStore } from '../../src/adapters/postgres/attribute-store.ts';
import { connectPostgres } from '../../src/adapters/postgres/db/connect.ts';
import type { Database } from '../../src/adapters/postgres/db/tables.ts';
import { postgresPartnerStore } from '../../src/adapters/postgres/partner-store.ts';
import type { AttributeStore } from '../../src/ports/partner-store.ts';
import { silentLog } from '../support/silent-log.ts';
import { type TestStores, createStores } from '../support/stores.ts';

describe('the attribute store', () => {
  let stores: TestStores;
  let db: Database;
  let attributes: AttributeStore;
  let mine: number;
  let theirs: number;

  const newPartner = async (): Promise<number> => {
    const name = `p-${randomBytes(6).toString('hex')}`;
    return (await postgresPartnerStore(db).create({ name, prefix: `${name}/`, keyHash: randomBytes(32) })).id;
  };

  beforeAll(async () => {
    stores = await createStores('one');
    db = connectPostgres({ url: stores.config.INLET_POSTGRES_URL, name: 'test', maxConnections: 4, log: silentLog });
    attributes = postgresAttributeStore(db);
  });
  afterAll(async () => {
    await db.destroy();
    await stores.drop();
  });
  beforeEach(async () => {
    mine = await newPartner();
    theirs = await newPartner();
  });

  it('returns nothing for a partner without attributes', async () => {
    expect(await attributes.list(mine, { retired: false })).toEqual([]);
  });

  it('creates attributes and lists them in ID order with their foreign keys', async () => {
    const sport = await attributes.create(mine, { name: 'Sport', foreignKeys: ['sport', 'ключ', 'with space'] });
    const news = await attributes.create(mine, { name: 'News', foreignKeys: [] });
    expect(sport).toEqual({
      id: sport.id,
      name: 'Sport',
      foreignKeys: ['sport', 'ключ', 'with space'],
      isRetired: false,
    });
    expect(news.id).toBeGreaterThan(sport.id);
    const listed = await attributes.list(mine, { retired: false });
    expect(listed.map(({ id, name }) => ({ id, name }))).toEqual([
      { id: sport.id, name: 'Sport' },
      { id: news.id, name: 'News' },
    ]);
    expect(listed.map(({ foreignKeys }) => foreignKeys.toSorted())).toEqual([sport.foreignKeys.toSorted(), []]);
  });

  it("keeps different partners' attributes separate even if they use the same names and keys", async () => {
    const one = await attributes.create(mine, { name: 'Sport', foreignKeys: ['sport'] });
    const other = await attributes.create(theirs, { name: 'Sport', foreignKeys: ['sport'] });
    expect(await attributes.list(mine, { retired: false })).toEqual([one]);
    expect(await attributes.list(theirs, { retired: false })).toEqual([other]);
    expect(one.id).not.toBe(other.id);
  });

  it('finds the keys that the partner knows, also those of retired attributes', async () => {
    const sport = await attributes.create(mine, { name: 'Sport', foreignKeys: ['sport', 'ключ'] });
    const old = await attributes.create(mine, { name: 'Old', foreignKeys: ['old'] });
    await attributes.retire(mine, old.id);
    const other = await attributes.create(theirs, { name: 'Sport', foreignKeys: ['golf'] });
    expect(await attributes.findKeys(mine, 1, ['sport', 'ключ', 'old', 'golf', ''])).toEqual(
      new Set(['sport', 'ключ', 'old']),
    );
    const ids = [sport.id, old.id, other.id].map(String);
    expect(await attributes.findKeys(mine, 0, [...ids, 'sport', '99999999999999999999'])).toEqual(
      new Set([String(sport.id), String(old.id)]),
    );
  });

  it('does not list retired attributes', async () => {
    const gone = await attributes.create(mine, { name: 'Gone', foreignKeys: ['gone'] });
    const kept = await attributes.create(mine, { name: 'Kept', foreignKeys: ['kept'] });
    expect(await attributes.retire(theirs, gone.id)).toBe(false);
    expect(await attributes.retire(mine, gone.id)).toBe(true);
    expect(await attributes.list(mine, { retired: false })).toEqual([kept]);
  });

  it("renames a partner's own attribute but not another partner's", async () => {
    const one = await attributes.create(mine, { name: 'Sprot', foreignKeys: [] });
    expect(await attributes.rename(theirs, one.id, 'Stolen')).toBe(false);
    expect(await attributes.rename(mine, one.id, 'Sport')).toBe(true);
    expect((await attributes.list(mine, { retired: false })).map(({ name }) => name)).toEqual(['Sport']);
  });

  it('adds foreign keys, including one that it moves from another attribute of the same partner', async () => {
    const sport = await attributes.create(mine, { name: 'Sport', foreignKeys: ['sport', 'golf'] });
    const golf = await attributes.create(mine, { name: 'Golf', foreignKeys: [] });
    expect(await attributes.tie(theirs, golf.id, ['golf'])).toBe(false);
    expect(await attributes.tie(mine, golf.id, ['golf', 'putting'])).toBe(true);
    const listed = await attributes.list(mine, { retired: false });
    expect(listed.map(({ id, foreignKeys }) => ({ id, foreignKeys }))).toEqual([
      { id: sport.id, foreignKeys: ['sport'] },
      { id: golf.id, foreignKeys: ['golf', 'putting'] },
    ]);
  });

  it('rejects a name that the partner already uses and stores nothing', async () => {
    const first = await attributes.create(mine, { name: 'Sport', foreignKeys: ['sport'] });
    await expect(attributes.create(mine, { name: 'Sport', foreignKeys: ['other'] })).rejects.toThrow(/unique/);
    expect(await attributes.list(mine, { retired: false })).toEqual([first]);
  });

  it('rejects a foreign key that belongs to another attribute and stores nothing', async () => {
    const first = await attributes.create(mine, { name: 'Sport', foreignKeys: ['sport'] });
    await expect(attributes.create(mine, { name: 'Golf', foreignKeys: ['golf', 'sport'] })).rejects.toThrow(/unique/);
    expect(await attributes.list(mine, { retired: false })).toEqual([first]);
  });

  it('rejects an attribute of a partner that does not exist', async () => {
    await expect(attributes.create(999_999, { name: 'Sport', foreignKeys: [] })).rejects.toThrow('no result');
  });
});
