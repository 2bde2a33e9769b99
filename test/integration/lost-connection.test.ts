import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectPostgres } from '../../src/adapters/postgres/db/connect.ts';
import type { Database } from '../../src/adapters/postgres/db/tables.ts';
import { Secret } from '../../src/domain/secret.ts';
import { silentLog } from '../support/silent-log.ts';
import { type TestStores, createPostgresStores, withDatabase } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';

describe('a connection that breaks between two statements', () => {
  let stores: TestStores;
  let db: Database;
  const warnings: string[] = [];
  beforeAll(async () => {
    stores = await createPostgresStores();
    const url = new Secret(stores.environment['INLET_POSTGRES_URL'] ?? '');
    const log = { ...silentLog, warn: (_about: object, message: string) => void warnings.push(message) };
    db = connectPostgres({ url, name: 'test-lost-connection', maxConnections: 1, log });
  });
  afterAll(async () => {
    await db.destroy();
    await stores.drop();
  });

  const end = (pid: number): Promise<unknown> =>
    withDatabase(stores, (client) => client.query('SELECT pg_terminate_backend($1)', [pid]));

  it('fails only the transaction and replaces the connection', async () => {
    const interrupted = db.transaction().execute(async (tx) => {
      const { rows } = await sql<{ pid: number }>`SELECT pg_backend_pid() AS pid`.execute(tx);
      await end(rows[0]?.pid ?? 0);
      await waitUntil('the broken connection was detected', () => Promise.resolve(warnings.length > 0));
      await sql`SELECT 1`.execute(tx);
    });
    await expect(interrupted).rejects.toThrow(/not queryable|terminat/);
    expect(warnings).toContain('postgres connection lost');
    expect((await sql<{ one: number }>`SELECT 1 AS one`.execute(db)).rows).toEqual([{ one: 1 }]);
  });
});
