import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startBoundApi } from '../support/bound-api.ts';
import { ask, callsAt, type Answer, type Call } from '../support/calls-of-operations.ts';
import { watchStatements } from '../support/sent-statements.ts';
import { createStores, withDatabase, type TestStores } from '../support/stores.ts';
import { tenantFiltersOf, withoutFilter, type TenantFilter } from '../support/tenant-filters.ts';
import { insertTwoTenants, openJobsOfOwner, type TwoTenants } from '../support/two-tenants.ts';
import { wireUp, type Wired } from '../support/wired.ts';

// Each condition that keeps tenants apart is taken out of the statements of the api, one at a time, while another partner
// and another customer ask for what is not theirs. Under its role the api answers as before; with the rights of the owner
// it shows or changes what is another's, so the test can fail.

type Attempt = { readonly call: Call; readonly headers: Record<string, string>; readonly statements: Set<string> };

async function insertLateImport(stores: TestStores, partnerId: number): Promise<number> {
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
    return id;
  });
}

/** The rest of the statement says it too: a customer has one partner, and the job was found for the partner before. */
function isDoubled({ statement, condition }: TenantFilter): boolean {
  return condition.includes('partner_id') && (statement.includes('customer_id = $') || condition.startsWith('"file"'));
}

describe('without one of its filters', () => {
  const watch = watchStatements();
  let stores: TestStores;
  let deps: Wired;
  let tenants: TwoTenants;
  let attempts: Attempt[];
  /** Waits for good. If jobs of others were counted, they were ahead of it. */
  let ownJob: number;
  let filters: TenantFilter[];
  const closing: (() => Promise<void>)[] = [];

  const start = async (rows: 'of the caller' | 'of all'): Promise<string> => {
    const { url, stop } = await startBoundApi({ ...stores.config, INLET_MAX_OPEN_JOBS: openJobsOfOwner }, rows);
    closing.push(stop);
    return url;
  };

  const keyOf = ({ apiKey }: { apiKey: string }): Record<string, string> => ({ authorization: `Bearer ${apiKey}` });

  /** What belongs to the owner, as it is now. */
  const rowsOfOwner = (): Promise<string> =>
    withDatabase(stores, async (client) => {
      const tables = ['job', 'import_log', 'job_file', 'audience', 'audience_load', 'dead_generation', 'user_token'];
      const parts = tables.map(
        (name) => `SELECT '${name}' AS of, to_jsonb(t)::text AS row FROM ${name} t WHERE partner_id = $1`,
      );
      parts.push(`SELECT 'partner', to_jsonb(t)::text FROM partner t WHERE id = $1`);
      const { rows } = await client.query(`${parts.join(' UNION ALL ')} ORDER BY 1, 2`, [tenants.owner.id]);
      if (rows.length < 20) throw new Error('the owner has too few rows');
      return JSON.stringify(rows);
    });

  /** What the intruder has begun itself must not bring it to its own limit. */
  const endJobsOfIntruder = (): Promise<unknown> =>
    withDatabase(stores, (client) =>
      client.query('UPDATE job SET status = 3 WHERE partner_id = $1 AND id <> $2', [tenants.intruder.id, ownJob]),
    );

  /** Ids and times of what is made are new each time. */
  const shown = ({ call }: Attempt, { status, text }: Answer): string =>
    call.method === 'GET' || status >= 400 ? `${status} ${text}` : String(status);

  beforeAll(async () => {
    stores = await createStores('one');
    deps = await wireUp(stores);
    tenants = await insertTwoTenants(stores, deps);
    const { owner, intruder } = tenants;
    const [one, two] = owner.customers;
    if (!one || !two) throw new Error('two customers are needed');
    const touching = ({ operation }: Call): boolean =>
      /audience|append|composition/i.test(operation) && operation !== 'createAudience';
    const asked: Omit<Attempt, 'statements'>[] = [
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
    ownJob = await insertLateImport(stores, intruder.id);
    asked.push(...callsAt({ ...owner, importLogId: ownJob }).map((call) => ({ call, headers: keyOf(intruder) })));
    const url = await start('of the caller');
    attempts = [];
    for (const attempt of asked) {
      const sent = await watch.during(() => ask(url, attempt.call, attempt.headers));
      attempts.push({ ...attempt, statements: new Set(sent.map(({ text }) => text)) });
    }
    await endJobsOfIntruder();
    const statements = new Set(attempts.flatMap(({ statements: ofOne }) => [...ofOne]));
    filters = [...statements].flatMap(tenantFiltersOf);
  });
  afterAll(async () => {
    watch.stop();
    for (const close of closing) await close();
    await deps.close();
    await stores.drop();
  });

  /** Which filters are missed, and by whom. */
  async function missed(url: string): Promise<Map<TenantFilter, string[]>> {
    const found = new Map<TenantFilter, string[]>();
    for (const filter of filters) {
      const harm: string[] = [];
      for (const attempt of attempts.filter(({ statements }) => statements.has(filter.statement))) {
        const name = `${attempt.call.method} ${attempt.call.path}`;
        const usual = shown(attempt, await ask(url, attempt.call, attempt.headers));
        await endJobsOfIntruder();
        const before = await rowsOfOwner();
        const edit = (text: string): string => (text === filter.statement ? withoutFilter(filter) : text);
        const now = shown(attempt, await watch.editing(edit, () => ask(url, attempt.call, attempt.headers)));
        await endJobsOfIntruder();
        if (now !== usual) harm.push(`${name} answers ${now} instead of ${usual}`);
        if ((await rowsOfOwner()) !== before) harm.push(`${name} changes what is the owner's`);
      }
      if (harm.length > 0) found.set(filter, harm);
    }
    return found;
  }

  it('there are many, in every operation that looks at anything', () => {
    expect(filters.length).toBeGreaterThan(15);
    const without = attempts.filter(({ statements }) => !filters.some(({ statement }) => statements.has(statement)));
    // The limits are the same for all.
    expect([...new Set(without.map(({ call }) => call.operation))]).toEqual(['getLimits']);
  });

  it('the api under its role answers as before, and changes nothing of the owner', async () => {
    const url = await start('of the caller');
    expect([...(await missed(url)).values()].flat()).toEqual([]);
  });

  it('an api with the rights of the owner would not', async () => {
    const url = await start('of all');
    const found = await missed(url);
    const harmless = filters.filter((filter) => !found.has(filter) && !isDoubled(filter));
    expect(harmless.map(({ statement, condition }) => `${condition} of ${statement}`)).toEqual([]);
    expect(found.size).toBeGreaterThan(15);
  });
});
