import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { underRole } from '../../src/adapters/postgres/db/api-role.ts';
import { connectForCallers } from '../../src/adapters/postgres/db/connect.ts';
import type { Database } from '../../src/adapters/postgres/db/tables.ts';
import { asCaller } from '../../src/adapters/postgres/db/row-security.ts';
import { silentLog } from '../support/silent-log.ts';
import { type TestStores, createPostgresStores, withDatabase } from '../support/stores.ts';

// Uses one connection for callers, so that a repeated statement runs on the connection that has its plan.

describe('prepared statements', () => {
  let stores: TestStores;
  let db: Database;

  const asSomebody = <T>(run: () => Promise<T>): Promise<T> => asCaller({ partnerId: 1, customerId: null }, run);
  const ask = (): Promise<unknown[]> =>
    asSomebody(async () => (await sql`SELECT * FROM scratch WHERE one = ${1}`.execute(db)).rows);
  const asOwner = (text: string): Promise<unknown> => withDatabase(stores, (client) => client.query(text));

  beforeEach(async () => {
    stores = await createPostgresStores();
    await asOwner('CREATE TABLE scratch AS SELECT 1 AS one; GRANT SELECT ON scratch TO inlet_api');
    const url = underRole(stores.config.INLET_POSTGRES_URL, 'inlet_api');
    db = connectForCallers({ url, name: 'test', maxConnections: 2, log: silentLog });
  });
  afterEach(async () => {
    await db.destroy();
    await stores.drop();
  });

  it('an API statement is planned only once', async () => {
    for (let round = 0; round < 3; round += 1) expect(await ask()).toEqual([{ one: 1 }]);
    const kept = await asSomebody(() =>
      sql<{ statement: string }>`SELECT statement FROM pg_prepared_statements`.execute(db),
    );
    expect(kept.rows.map(({ statement }) => statement).filter((text) => text.includes('scratch'))).toHaveLength(1);
  });

  it('an API statement still works after a migration has changed its result columns', async () => {
    expect(await ask()).toEqual([{ one: 1 }]);
    await asOwner('ALTER TABLE scratch ADD COLUMN two int');
    await expect(ask()).rejects.toThrow('cached plan');
    expect(await ask()).toEqual([{ one: 1, two: null }]);
  });
});
