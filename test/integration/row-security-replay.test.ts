import { Client, DatabaseError, type QueryResult } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { underRole } from '../../src/adapters/postgres/db/api-role.ts';
import { startBoundApi } from '../support/bound-api.ts';
import { configFor } from '../support/environment.ts';
import { startIssuer } from '../support/oidc-issuer.ts';
import { type Call, ask, callsAt, deletesLast, isWrite } from '../support/operation-calls.ts';
import { type Sent, watchStatements } from '../support/sent-statements.ts';
import { type TestStores, createStores, withDatabase } from '../support/stores.ts';
import { tenantFiltersOf, withoutFilter } from '../support/tenant-filters.ts';
import { type TwoTenants, insertSpare, insertTwoTenants, ofOwner } from '../support/two-tenants.ts';
import { wireUp } from '../support/wired.ts';

// Replays every statement that the API sends to PostgreSQL for one partner on a connection for another partner,
// unchanged and with each filter removed. This includes statements without a filter, which rely on an earlier
// statement.

/** These statements show rows of all partners on purpose. See docs/decisions/row-level-security.md. */
const forAll = /key_with_hash|partner_with_key|attributes_of_all|names_of_attributes/;
const ours =
  /\b(partner|attribute\w*|job\w*|import_log|customer|user_token|audience\w*|dead_generation|composition|accepted_request|api_key)\b/;

/** Statements that count always return one row. */
const counted = z.coerce.number().nullable().default(null);
const countSchema = z.array(z.object({ used: counted, open: counted, entries: counted }));

/**
 * Returns whether the statement is an insert that a policy rejects. An insert of a user token inserts nothing instead,
 * because the statement itself looks up the customer.
 */
const isInsert = (text: string): boolean => /^\s*(?:WITH \w+ AS \(\s*)?insert (?!into "user_token")/i.test(text);
/** PostgreSQL's error code for rows that a policy rejects. */
const refused = '42501';

describe('a statement of one partner, replayed for another', () => {
  let stores: TestStores;
  let tenants: TwoTenants;
  let statements: Sent[];
  const answers: { readonly operation: string; readonly status: number }[] = [];
  const closing: (() => Promise<void>)[] = [];

  async function connect(role: string, partnerId: number | null): Promise<Client> {
    const url = role === 'none' ? stores.config.INLET_POSTGRES_URL : underRole(stores.config.INLET_POSTGRES_URL, role);
    const client = new Client({ connectionString: url.reveal() });
    await client.connect();
    closing.push(() => client.end());
    if (partnerId !== null) await client.query(`SELECT set_config('inlet.partner', $1, false)`, [String(partnerId)]);
    return client;
  }

  /** Returns the result or the error code. Always rolls the statement back. */
  async function replay(client: Client, text: string, values: readonly unknown[]): Promise<QueryResult | string> {
    await client.query('BEGIN');
    try {
      return await client.query(text, [...values]);
    } catch (error) {
      if (error instanceof DatabaseError && error.code !== undefined) return error.code;
      throw error;
    } finally {
      await client.query('ROLLBACK');
    }
  }

  /** Returns the error code, or the number of rows that the statement returned, changed, or counted. */
  const outcomeOf = (result: QueryResult | string): string | number | null => {
    if (typeof result === 'string') return result;
    const [row] = countSchema.parse(result.rows);
    return row?.used ?? row?.open ?? row?.entries ?? result.rowCount;
  };
  const showsOwner = (result: QueryResult | string): boolean =>
    typeof result !== 'string' && ofOwner.test(JSON.stringify(result.rows));

  beforeAll(async () => {
    stores = await createStores('one');
    const deps = await wireUp(stores);
    closing.push(() => deps.close());
    tenants = await insertTwoTenants(stores, deps);
    const { owner } = tenants;
    const issuer = await startIssuer();
    closing.push(issuer.close);
    const api = await startBoundApi(configFor({ ...stores.environment, ...issuer.settings }), 'of the caller');
    closing.push(api.stop);
    const watch = watchStatements();
    const [customer] = owner.customers;
    if (!customer) throw new Error('a customer is needed');
    const authorization = `Bearer ${owner.apiKey}`;
    const sent = await watch.during(async () => {
      const callsBeforeLast = (target: Parameters<typeof callsAt>[0]): Call[] =>
        callsAt(target).filter((call) => !deletesLast(call));
      for (const call of callsBeforeLast(owner))
        answers.push({ operation: call.operation, status: (await ask(api.url, call, { authorization })).status });
      const headers = { authorization, 'x-user-token': customer.userToken };
      for (const call of callsBeforeLast({ ...owner, ...customer })) await ask(api.url, call, headers);
      // The first round has changed or removed the data that these operations need.
      const ended =
        /^(?:dismissFile|requestAudienceRejects|cancelAppend|retryAppend|deleteAudience|createAttribute|createCustomer)$/;
      const again = callsAt(owner).filter(
        (call) => isWrite(call) && !ended.test(call.operation) && !/\/(?:customers|keys)\/\d/.test(call.path),
      );
      for (const [place, call] of again.entries()) {
        const repeatable = { authorization, 'idempotency-key': `key-${place}` };
        answers.push({ operation: call.operation, status: (await ask(api.url, call, repeatable)).status });
      }
      const issued = { authorization, 'x-user-token': await issuer.token(owner.name, customer.name) };
      for (const call of callsAt(owner).filter(
        ({ operation, path }) => operation === 'listAudiences' && !path.includes('?'),
      )) {
        answers.push({ operation: call.operation, status: (await ask(api.url, call, issued)).status });
      }
    });
    watch.stop();
    // Restores cleared and deleted audiences, the deleted webhook and subscription, the revoked key, and the removed customer, so that statements can find their rows.
    await withDatabase(stores, async (client) => {
      await client.query(
        'UPDATE audience SET generation = 0, last_load_id = 1, deleted_at = NULL; UPDATE webhook SET deleted_at = NULL; UPDATE subscription SET deleted_at = NULL',
      );
      await insertSpare(client, owner);
    });
    const byText = new Map(sent.map((one) => [one.text, one]));
    statements = [...byText.values()].filter(
      ({ text }) => ours.test(text) && !forAll.test(text) && !text.includes('pgboss.') && !text.includes('set_config'),
    );
  });
  afterAll(async () => {
    for (const close of closing) await close();
    await stores.drop();
  });

  const variantsOf = ({ text }: Sent): string[] => [text, ...tenantFiltersOf(text).map(withoutFilter)];

  it('every statement succeeds for the first partner', () => {
    expect(answers.length).toBeGreaterThan(15);
    expect(answers.filter(({ status }) => status >= 300)).toEqual([]);
  });

  it('a replayed statement reads and writes no row of the first partner', async () => {
    const client = await connect('inlet_api', tenants.intruder.id);
    let tried = 0;
    for (const sent of statements) {
      for (const text of variantsOf(sent)) {
        const result = await replay(client, text, sent.values);
        tried += 1;
        expect(showsOwner(result), text).toBe(false);
        // Without the filter, the statement finds the second partner's own row in `partner`, or its only key.
        const finds =
          /^(?:(?:update|select) (?!.*"subscription_object").*"partner"|select .*from "api_key" where (?!.*"id" = ))/;
        const own = finds.test(text) && text !== sent.text ? 1 : 0;
        expect(outcomeOf(result), text).toBe(isInsert(text) ? refused : own);
      }
    }
    expect(statements.length).toBeGreaterThan(25);
    expect(tried).toBeGreaterThan(statements.length + 15);
  });

  it('a replayed statement reads nothing when no partner is set', async () => {
    const client = await connect('inlet_api', null);
    for (const sent of statements) {
      for (const text of variantsOf(sent)) {
        const result = await replay(client, text, sent.values);
        expect(outcomeOf(result), text).toBe(isInsert(text) ? refused : 0);
      }
    }
  });

  it("a replayed statement reads and writes rows of the first partner with the owner's privileges", async () => {
    const client = await connect('none', tenants.intruder.id);
    // The function returns rows only for the partner that is set.
    const reads = statements.filter(({ text }) => /^\s*select/i.test(text) && !text.includes('audiences_of('));
    for (const sent of reads) {
      const result = await replay(client, sent.text, sent.values);
      expect(outcomeOf(result), sent.text).toBeGreaterThan(0);
    }
    const written = statements.filter(({ text }) => /^\s*(insert|update)/i.test(text));
    expect(written.length).toBeGreaterThan(8);
    for (const sent of written) expect(await replay(client, sent.text, sent.values), sent.text).not.toBe(refused);
  });
});
