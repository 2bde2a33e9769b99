import { Client, DatabaseError } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { apiTables, closedToApi, prepareApiRole, underRole } from '../../src/adapters/postgres/db/api-role.ts';
import { requireRowSecurity } from '../../src/adapters/postgres/db/row-security.ts';
import { Secret } from '../../src/domain/secret.ts';
import { rememberSecrets } from '../support/known-secrets.ts';
import { type TestStores, createStores, withDatabase, withServer } from '../support/stores.ts';
import { type TwoTenants, insertTwoTenants } from '../support/two-tenants.ts';
import { wireUp } from '../support/wired.ts';

// Tests what an attacker who can send any SQL to PostgreSQL as the API could do.

const denied = '42501';

describe("the API's database role", () => {
  const login = `inlet_login_${process.pid}`;
  const password = `pw-${process.pid}-${Date.now().toString(36)}`;
  let stores: TestStores;
  let tenants: TwoTenants;
  let ownLogin: Secret;

  beforeAll(async () => {
    rememberSecrets(password);
    stores = await createStores('one');
    const deps = await wireUp(stores);
    tenants = await insertTwoTenants(stores, deps);
    await deps.close();
    await withServer((client) => client.query(`CREATE ROLE ${login} LOGIN PASSWORD '${password}' IN ROLE inlet_api`));
    const url = new URL(stores.config.INLET_POSTGRES_URL.reveal());
    url.username = login;
    url.password = password;
    ownLogin = new Secret(url.href);
  });
  afterAll(async () => {
    await stores.drop();
    await withServer((client) => client.query(`DROP ROLE ${login}`));
  });

  async function as<T>(partnerId: number | null, run: (client: Client) => Promise<T>, url?: Secret): Promise<T> {
    const client = new Client({
      connectionString: underRole(url ?? stores.config.INLET_POSTGRES_URL, 'inlet_api').reveal(),
    });
    await client.connect();
    try {
      if (partnerId !== null) await client.query(`SELECT set_config('inlet.partner', $1, false)`, [String(partnerId)]);
      return await run(client);
    } finally {
      await client.end();
    }
  }

  const codeOf = async (client: Client, statement: string): Promise<string | undefined> =>
    client.query(statement).then(
      () => undefined,
      (error: unknown) => (error instanceof DatabaseError ? error.code : 'broken'),
    );
  const count = async (client: Client, table: string): Promise<number> =>
    Number((await client.query<{ n: string }>(`SELECT count(*) AS n FROM ${table}`)).rows[0]?.n);
  const readable = Object.keys(apiTables).filter((table) => apiTables[table]?.includes('SELECT'));

  it.each([
    ['of no partner, when none is set', (): number | null => null],
    ['of no partner, when the one that is set does not exist', (): number | null => 999_999],
    ['of the partner that is set', (): number | null => tenants.intruder.id],
  ])("the API's database role sees the rows %s", async (_who, partnerId) => {
    await as(partnerId(), async (client) => {
      for (const table of readable) {
        expect(await count(client, table), table).toBe(
          ['partner', 'partner_usage', 'api_key'].includes(table) && partnerId() === tenants.intruder.id ? 1 : 0,
        );
      }
    });
    await as(tenants.owner.id, async (client) => {
      for (const table of readable) expect(await count(client, table), table).toBeGreaterThan(0);
    });
  });

  it("the API's database role sees a customer's audiences only as that customer, and the partner's own audiences only as the partner", async () => {
    await as(tenants.owner.id, async (client) => {
      const ids = async (): Promise<number[]> =>
        (await client.query<{ id: string }>('SELECT id FROM audience ORDER BY id')).rows.map(({ id }) => Number(id));
      const { audienceId, otherAudienceId, doomedAudienceId } = tenants.owner;
      expect(await ids()).toEqual([audienceId, otherAudienceId, doomedAudienceId]);
      const { rows } = await withDatabase(stores, (owner) =>
        owner.query<{ ids: string[]; customer_id: string }>(
          'SELECT array_agg(id ORDER BY id) AS ids, customer_id FROM audience WHERE customer_id IS NOT NULL GROUP BY customer_id',
        ),
      );
      expect(rows).toHaveLength(2);
      for (const { ids: ofCustomer, customer_id: customer } of rows) {
        await client.query(`SELECT set_config('inlet.customer', $1, false)`, [customer]);
        expect(await ids()).toEqual(ofCustomer.map(Number));
        expect(await count(client, 'composition')).toBe(1);
      }
      // A list of all customers' audiences.
      await client.query(`SELECT set_config('inlet.customer', '*', false)`);
      const ofAll = [audienceId, otherAudienceId, doomedAudienceId, ...rows.flatMap((row) => row.ids.map(Number))];
      expect(await ids()).toEqual(ofAll.toSorted((one, other) => one - other));
    });
    await as(tenants.intruder.id, async (client) => {
      await client.query(`SELECT set_config('inlet.customer', '*', false)`);
      expect(await count(client, 'audience')).toBe(0);
    });
  });

  it("the API's database role cannot read tables that it does not need", async () => {
    await as(tenants.owner.id, async (client) => {
      for (const table of [...Object.keys(closedToApi), 'job_credential', 'pgboss.job', 'pgboss.job_common']) {
        expect(await codeOf(client, `SELECT * FROM ${table} LIMIT 1`), table).toBe(denied);
      }
      for (const table of Object.keys(apiTables))
        expect(await codeOf(client, `DELETE FROM ${table}`), table).toBe(denied);
      for (const statement of [
        'UPDATE partner SET prefix = prefix',
        'UPDATE partner SET external_id = external_id',
        'UPDATE job SET partner_id = partner_id',
        'UPDATE audience SET customer_id = customer_id',
        'SELECT key_hash FROM api_key',
        'UPDATE api_key SET scopes = NULL',
        'UPDATE user_token SET customer_id = customer_id',
        `INSERT INTO user_token (partner_id, customer_id, token_hash) VALUES (1, 1, '')`,
        `INSERT INTO api_key (partner_id, key_hash) VALUES (1, '')`,
      ]) {
        expect(await codeOf(client, statement), statement).toBe(denied);
      }
    });
  });

  it("the API's database role cannot revive a revoked key or token, or extend a key", async () => {
    await withDatabase(stores, (client) =>
      client.query(
        `WITH token AS (UPDATE user_token SET revoked_at = now() WHERE partner_id = $1)
         UPDATE api_key SET revoked_at = now(), expires_at = now() WHERE partner_id = $1`,
        [tenants.owner.id],
      ),
    );
    await as(tenants.owner.id, async (client) => {
      for (const statement of [
        'UPDATE api_key SET revoked_at = NULL',
        'UPDATE api_key SET expires_at = NULL',
        `UPDATE api_key SET expires_at = expires_at + interval '1 s'`,
        'UPDATE user_token SET revoked_at = NULL',
      ]) {
        expect(await codeOf(client, statement), statement).toBe(denied);
      }
      expect(await codeOf(client, `UPDATE api_key SET expires_at = expires_at - interval '1 s'`)).toBeUndefined();
    });
  });

  it("the API's database role can add denied calls to the audit log, but no entries that look like an operator's changes", async () => {
    await as(tenants.owner.id, async (client) => {
      const add = (event: string): string => `INSERT INTO audit_log (event, actor) VALUES ('${event}', 'operator')`;
      expect(await codeOf(client, add('call.denied'))).toBeUndefined();
      for (const event of ['api_key.insert', 'partner.update', '']) {
        expect(await codeOf(client, add(event)), event).toBe(denied);
      }
    });
  });

  it("the API's database role cannot write to another partner's rows", async () => {
    const { owner, intruder } = tenants;
    await as(intruder.id, async (client) => {
      for (const statement of [
        `INSERT INTO job (partner_id, seq, kind) VALUES (${owner.id}, 999, 'import')`,
        `INSERT INTO audience (partner_id, name) VALUES (${owner.id}, 'mine')`,
        `INSERT INTO job_credential (job_id, key_id, sealed) VALUES (${owner.importLogId}, 'k', '')`,
        `INSERT INTO composition (audience_id, split, generation, last_load_id, report) VALUES (${owner.audienceId}, 'x', 0, 0, '{}')`,
      ]) {
        expect(await codeOf(client, statement), statement).toBe(denied);
      }
      const { rowCount } = await client.query('UPDATE job SET cancelled = true');
      expect(rowCount).toBe(0);
    });
  });

  it("the API's database role cannot disable the policies", async () => {
    await as(tenants.intruder.id, async (client) => {
      await client.query('SET row_security = off');
      expect(await codeOf(client, 'SELECT FROM job')).toBe(denied);
      for (const statement of [
        'ALTER TABLE job DISABLE ROW LEVEL SECURITY',
        'DROP POLICY of_partner ON job',
        'CREATE POLICY more ON job USING (true)',
        'ALTER ROLE inlet_api BYPASSRLS',
        'CREATE TABLE public.own (id bigint)',
        `CREATE OR REPLACE FUNCTION current_partner() RETURNS bigint LANGUAGE sql AS 'SELECT 1'`,
      ]) {
        expect(await codeOf(client, statement), statement).toBe(denied);
      }
    });
  });

  it("the API's database role stays restricted if a separate login resets its role", async () => {
    await as(
      tenants.intruder.id,
      async (client) => {
        for (const statement of ['RESET ROLE', 'SET ROLE NONE', 'RESET SESSION AUTHORIZATION']) {
          await client.query(statement);
          expect(await count(client, 'job')).toBe(0);
          expect(await count(client, 'partner')).toBe(1);
        }
        expect(await codeOf(client, 'SET ROLE inlet')).toBe(denied);
      },
      ownLogin,
    );
    await requireRowSecurity(ownLogin, 'inlet_api');
  });

  it('the API does not start if its database role can see all rows', async () => {
    const owner = new URL(stores.config.INLET_POSTGRES_URL.reveal()).username;
    await expect(requireRowSecurity(stores.config.INLET_POSTGRES_URL, owner)).rejects.toThrow(
      'sees the rows of all partners',
    );
    await expect(requireRowSecurity(stores.config.INLET_POSTGRES_URL, 'nobody_has_it')).rejects.toThrow(
      'CREATE ROLE nobody_has_it NOLOGIN',
    );
  });

  it("a user without the privilege to create the API's database role gets a message", async () => {
    const client = new Client({ connectionString: ownLogin.reveal() });
    await client.connect();
    try {
      expect(await prepareApiRole(client, 'nobody_has_it')).toBe(false);
    } finally {
      await client.end();
    }
  });
});
