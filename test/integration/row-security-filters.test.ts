import type { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startBoundApi } from '../support/bound-api.ts';
import { configFor } from '../support/environment.ts';
import { countFilters, expectedFilters } from '../support/expected-filters.ts';
import { startIssuer } from '../support/oidc-issuer.ts';
import { type Answer, type Call, type Target, ask, callsAt, isWrite } from '../support/operation-calls.ts';
import { watchStatements } from '../support/sent-statements.ts';
import { type TestStores, createStores, withDatabase } from '../support/stores.ts';
import { type TenantFilter, tenantFiltersOf, withoutFilter } from '../support/tenant-filters.ts';
import {
  type TwoTenants,
  insertTwoTenants,
  keyOfOwner,
  openJobsOfOwner,
  subscriptionsOfOwner,
  webhooksOfOwner,
} from '../support/two-tenants.ts';
import { type Wired, wireUp } from '../support/wired.ts';

// Removes each tenant filter from the API's statements, one at a time, while another partner and another customer
// request data that is not theirs. With its own role, the API must return the same responses. With the owner's
// privileges, it shows or changes another tenant's data, which proves that the test can fail.

type Attempt = { readonly call: Call; readonly headers: Record<string, string>; readonly statements: Set<string> };

type Own = Pick<Target, 'importLogId' | 'audienceId'>;

/** Creates an audience and a job that waits behind all others. */
async function insertOwn(stores: TestStores, partnerId: number): Promise<Own> {
  return withDatabase(stores, async (client) => {
    await client.query('UPDATE partner SET next_seq = 1001 WHERE id = $1', [partnerId]);
    const { rows } = await client.query<{ id: string }>(
      `INSERT INTO job (partner_id, seq, kind) VALUES ($1, 1000, 'import') RETURNING id`,
      [partnerId],
    );
    const id = Number(rows[0]?.id);
    await client.query(
      `INSERT INTO import_log (job_id, partner_id, log_type, file_path, path_type, key_type) VALUES ($1, $2, 0, 'own.csv', 0, 1)`,
      [id, partnerId],
    );
    const { rows: audiences } = await client.query<{ id: string }>(
      `INSERT INTO audience (partner_id, name) VALUES ($1, 'own') RETURNING id`,
      [partnerId],
    );
    return { importLogId: id, audienceId: Number(audiences[0]?.id) };
  });
}

/**
 * Statements about a job or an audience that an earlier statement found for the caller, and locks, which show nothing.
 */
const foundBefore = [
  /from "job_file" as "file"/,
  /FROM audience, LATERAL/,
  /^update "job"/,
  / for no key update$/,
  // The caller's own key.
  /FROM api_key[\s\S]*FOR SHARE$/,
  // Tokens of a customer that belongs to the caller.
  /from "user_token" .* and "token"\."customer_id" = \$/,
  /FROM audience_load load JOIN job/,
  /WITH load AS \(\s+SELECT load\.job_id FROM audience JOIN audience_load load/,
  // The audience that the caller has locked, and its own open jobs.
  /SELECT audience\.warehouse_segment_id AS "warehouseSegmentId"/,
  // The statement that cancels the job has its own filter.
  /^select "load"\."job_id" from "audience_load"/,
];

/**
 * Two statements of a change filter the same row, so the change fails without one of the filters. Counts and the list of
 * working keys only enforce bounds.
 */
const filteredTwice = [
  /^update "attribute" /,
  /^select "id" from "attribute" /,
  /from "attribute" .* and "attribute"\."id" = \$/,
  /^update "api_key" set "expires_at"/,
  /^select count\(/,
  /from "api_key" .* and revoked_at IS NULL AND coalesce\(expires_at > now\(\), true\)$/,
];

/**
 * Filters that are redundant even without row-level security, because an earlier statement or the customer already
 * limits the rows.
 */
function isRedundant({ statement, condition }: TenantFilter): boolean {
  const hasCustomer = condition.includes('partner_id') && statement.includes('customer_id = $');
  return hasCustomer || [...foundBefore, ...filteredTwice].some((pattern) => pattern.test(statement));
}

describe('the API without one of its tenant filters', () => {
  const watch = watchStatements();
  let stores: TestStores;
  let deps: Wired;
  let tenants: TwoTenants;
  let attempts: Attempt[];
  /** The intruder's own rows. The job waits forever. If other tenants' jobs were counted, they would be ahead of it. */
  let own: Own;
  let settings: Readonly<Record<string, string>>;
  let filters: TenantFilter[];
  const closing: (() => Promise<void>)[] = [];

  const start = async (rows: 'of the caller' | 'of all'): Promise<string> => {
    const config = configFor({ ...stores.environment, ...settings });
    const limits = {
      INLET_MAX_OPEN_JOBS: openJobsOfOwner,
      INLET_MAX_WEBHOOKS: webhooksOfOwner,
      INLET_MAX_SUBSCRIPTIONS: subscriptionsOfOwner,
    };
    const { url, stop } = await startBoundApi({ ...config, ...limits }, rows);
    closing.push(stop);
    return url;
  };

  const keyOf = ({ apiKey }: { apiKey: string }): Record<string, string> => ({ authorization: `Bearer ${apiKey}` });

  /** Returns the owner's current rows. */
  const rowsOfOwner = async (client: Client): Promise<string> => {
    const ofJobs = ['job', 'import_log', 'job_file', 'accepted_request'];
    const ofAudiences = ['audience', 'audience_load', 'dead_generation', 'user_token'];
    const ofWebhooks = ['webhook', 'webhook_secret', 'webhook_state', 'webhook_delivery'];
    const ofSubscriptions = ['subscription', 'subscription_state', 'subscription_object'];
    const parts = [...ofJobs, ...ofAudiences, ...ofWebhooks, ...ofSubscriptions].map(
      (name) => `SELECT '${name}' AS of, to_jsonb(t)::text AS row FROM ${name} t WHERE partner_id = $1`,
    );
    parts.push(`SELECT 'partner', to_jsonb(t)::text FROM partner t WHERE id = $1`);
    const { rows } = await client.query(`${parts.join(' UNION ALL ')} ORDER BY 1, 2`, [tenants.owner.id]);
    if (rows.length < 20) throw new Error('the owner has too few rows');
    return JSON.stringify(rows);
  };

  /** Removes the intruder's own work, so that the intruder neither reaches its limit nor gets a replayed response. */
  const resetIntruder = async (client: Client): Promise<void> => {
    const { id } = tenants.intruder;
    await client.query('UPDATE job SET status = 3 WHERE partner_id = $1 AND id <> $2 AND status <> 3', [
      id,
      own.importLogId,
    ]);
    for (const table of [
      'accepted_request',
      'attribute_foreign_key',
      'attribute',
      'user_token',
      'customer',
      'webhook',
      'subscription',
      'erasure',
    ])
      await client.query(`DELETE FROM ${table} WHERE partner_id = $1`, [id]);
    await client.query(`DELETE FROM api_key WHERE partner_id = $1 AND name <> 'first'`, [id]);
  };

  /** Compares only the status of a successful write, because new rows have new IDs and times on each call. */
  const shown = ({ call }: Attempt, { status, text }: Answer): string =>
    isWrite(call) && status < 400 ? String(status) : `${status} ${text}`;

  beforeAll(async () => {
    const issuer = await startIssuer();
    closing.push(issuer.close);
    ({ settings } = issuer);
    stores = await createStores('one');
    deps = await wireUp(stores);
    tenants = await insertTwoTenants(stores, deps);
    const { owner, intruder } = tenants;
    const [one, two] = owner.customers;
    if (!one || !two) throw new Error('two customers are needed');
    const touching = ({ operation }: Call): boolean =>
      /audience|append|composition|overlap|listEvents/i.test(operation) && operation !== 'createAudience';
    const planned: Omit<Attempt, 'statements'>[] = [
      ...callsAt(owner).map((call) => ({ call, headers: keyOf(intruder) })),
      ...callsAt(owner)
        .filter(touching)
        .map((call) => ({ call, headers: { ...keyOf(intruder), 'x-user-token': one.userToken } })),
      ...callsAt({ ...owner, ...one })
        .filter(touching)
        .map((call) => ({ call, headers: keyOf(owner) })),
      ...callsAt({ ...owner, ...one })
        .filter(touching)
        .map((call) => ({ call, headers: { ...keyOf(owner), 'x-user-token': two.userToken } })),
    ];
    own = await insertOwn(stores, intruder.id);
    const atOwn = callsAt({ ...owner, ...own });
    const issued = { ...keyOf(intruder), 'x-user-token': await issuer.token(intruder.name, one.name) };
    const repeatable = { ...keyOf(intruder), 'idempotency-key': keyOfOwner };
    planned.push(
      ...callsAt({ ...owner, importLogId: own.importLogId }).map((call) => ({ call, headers: keyOf(intruder) })),
      ...atOwn.filter(touching).map((call) => ({ call, headers: keyOf(intruder) })),
      ...atOwn.filter(touching).map((call) => ({ call, headers: issued })),
      ...atOwn.filter(isWrite).map((call) => ({ call, headers: repeatable })),
    );
    const url = await start('of the caller');
    attempts = [];
    for (const attempt of planned) {
      const sent = await watch.during(() => ask(url, attempt.call, attempt.headers));
      attempts.push({ ...attempt, statements: new Set(sent.map(({ text }) => text)) });
      await withDatabase(stores, resetIntruder);
    }
    const statements = new Set(attempts.flatMap(({ statements: ofOne }) => [...ofOne]));
    filters = [...statements].flatMap(tenantFiltersOf);
  });
  afterAll(async () => {
    watch.stop();
    for (const close of closing) await close();
    await deps.close();
    await stores.drop();
  });

  /** Returns the filters whose removal has an effect, with the affected calls. */
  async function removalEffects(url: string, client: Client): Promise<Map<TenantFilter, string[]>> {
    const found = new Map<TenantFilter, string[]>();
    const usual = new Map<Attempt, string>();
    let before = await rowsOfOwner(client);
    const answerTo = async (attempt: Attempt): Promise<string> => {
      const answer = shown(attempt, await ask(url, attempt.call, attempt.headers));
      if (isWrite(attempt.call)) await resetIntruder(client);
      return answer;
    };
    for (const attempt of attempts) usual.set(attempt, await answerTo(attempt));
    for (const filter of filters) {
      const effects: string[] = [];
      const edit = (text: string): string => (text === filter.statement ? withoutFilter(filter) : text);
      for (const attempt of attempts.filter(({ statements }) => statements.has(filter.statement))) {
        const name = `${attempt.call.method} ${attempt.call.path}`;
        const now = await watch.editing(edit, () => answerTo(attempt));
        // The usual response can have changed, because an earlier call has changed the owner's rows.
        if (now !== usual.get(attempt)) usual.set(attempt, await answerTo(attempt));
        if (now !== usual.get(attempt)) effects.push(`${name} answers ${now} instead of ${usual.get(attempt)}`);
        if (!isWrite(attempt.call)) continue;
        const after = await rowsOfOwner(client);
        if (after !== before) effects.push(`${name} changes the owner's rows`);
        before = after;
      }
      if (effects.length > 0) found.set(filter, effects);
    }
    return found;
  }

  it('records a statement for every operation that reads tenant data', () => {
    expect(filters.length).toBeGreaterThan(15);
    const without = attempts.filter(({ statements }) => !filters.some(({ statement }) => statements.has(statement)));
    expect([...new Set(without.map(({ call }) => call.operation))]).toEqual([]);
  });

  it('covers every filter in the source code that the API uses', () => {
    const places = Object.entries(expectedFilters);
    // When you add a filter, add a line to `expectedFilters`. If the API uses the filter, also add a call here.
    expect(Object.fromEntries(places.map(([file, { length }]) => [file, length]))).toEqual(countFilters());
    const unseen = places.flatMap(([file, patterns]) =>
      patterns
        .filter((pattern) => typeof pattern !== 'string')
        .filter((pattern) => !filters.some(({ statement }) => pattern.test(statement)))
        .map((pattern) => `${file}: ${String(pattern)}`),
    );
    expect(unseen).toEqual([]);
  });

  it("returns the same responses with its own role and does not change the owner's rows", async () => {
    const url = await start('of the caller');
    const found = await withDatabase(stores, (client) => removalEffects(url, client));
    expect([...found.values()].flat()).toEqual([]);
  });

  it("shows or changes the owner's rows with the owner's privileges", async () => {
    const url = await start('of all');
    const found = await withDatabase(stores, (client) => removalEffects(url, client));
    const withoutEffect = filters.filter((filter) => !found.has(filter) && !isRedundant(filter));
    expect(withoutEffect.map(({ statement, condition }) => `${condition} of ${statement}`)).toEqual([]);
    expect(found.size).toBeGreaterThan(15);
  });
});
