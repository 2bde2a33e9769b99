import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { postgresAttributeStore } from '../../src/adapters/postgres/attribute-store.ts';
import { connectPostgres, type Database } from '../../src/adapters/postgres/connect.ts';
import { postgresPartnerStore } from '../../src/adapters/postgres/partner-store.ts';
import type { AttributeStore } from '../../src/ports/attribute-store.ts';
import { silentLog } from '../support/silent-log.ts';
import { createStores, type TestStores } from '../support/stores.ts';

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

  it('has nothing for a partner that has made nothing', async () => {
    expect(await attributes.list(mine)).toEqual([]);
  });

  it('makes attributes and lists them in the order of their ids, with their foreign keys', async () => {
    const sport = await attributes.create(mine, { name: 'Sport', foreignKeys: ['sport', 'ключ', 'with space'] });
    const news = await attributes.create(mine, { name: 'News', foreignKeys: [] });
    expect(sport).toEqual({ id: sport.id, name: 'Sport', foreignKeys: ['sport', 'ключ', 'with space'] });
    expect(news.id).toBeGreaterThan(sport.id);
    const listed = await attributes.list(mine);
    expect(listed.map(({ id, name }) => ({ id, name }))).toEqual([
      { id: sport.id, name: 'Sport' },
      { id: news.id, name: 'News' },
    ]);
    expect(listed.map(({ foreignKeys }) => foreignKeys.toSorted())).toEqual([sport.foreignKeys.toSorted(), []]);
  });

  it('keeps the attributes of partners apart, also under the same names and keys', async () => {
    const one = await attributes.create(mine, { name: 'Sport', foreignKeys: ['sport'] });
    const other = await attributes.create(theirs, { name: 'Sport', foreignKeys: ['sport'] });
    expect(await attributes.list(mine)).toEqual([one]);
    expect(await attributes.list(theirs)).toEqual([other]);
    expect(one.id).not.toBe(other.id);
  });

  it('does not list what was retired', async () => {
    const gone = await attributes.create(mine, { name: 'Gone', foreignKeys: ['gone'] });
    const kept = await attributes.create(mine, { name: 'Kept', foreignKeys: ['kept'] });
    await db.updateTable('attribute').set({ retired_at: new Date() }).where('id', '=', gone.id).execute();
    expect(await attributes.list(mine)).toEqual([kept]);
  });

  it('refuses a name that the partner has, and keeps nothing of it', async () => {
    const first = await attributes.create(mine, { name: 'Sport', foreignKeys: ['sport'] });
    await expect(attributes.create(mine, { name: 'Sport', foreignKeys: ['other'] })).rejects.toThrow(/unique/);
    expect(await attributes.list(mine)).toEqual([first]);
  });

  it('refuses a foreign key that means another attribute already, and keeps nothing of it', async () => {
    const first = await attributes.create(mine, { name: 'Sport', foreignKeys: ['sport'] });
    await expect(attributes.create(mine, { name: 'Golf', foreignKeys: ['golf', 'sport'] })).rejects.toThrow(/unique/);
    expect(await attributes.list(mine)).toEqual([first]);
  });

  it('refuses an attribute of a partner that does not exist', async () => {
    await expect(attributes.create(999_999, { name: 'Sport', foreignKeys: [] })).rejects.toThrow(/foreign key/);
  });
});
