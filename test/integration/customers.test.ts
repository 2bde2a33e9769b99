import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { rememberSecrets } from '../support/known-secrets.ts';
import { createPartner, type TestPartner } from '../support/partners.ts';
import { runOperator } from '../support/run-operator.ts';
import { tablesThatHold } from '../support/search-stores.ts';
import { createStores, type TestStores } from '../support/stores.ts';

const tokensSchema = z.array(
  z.strictObject({
    token_id: z.int(),
    customer_id: z.int(),
    customer: z.string(),
    created_at: z.iso.datetime(),
    revoked_at: z.iso.datetime().nullable(),
  }),
);
const shownSchema = z.strictObject({
  token_id: z.int(),
  customer_id: z.int(),
  customer: z.string(),
  user_token: z.string(),
});

// A command takes about a second, so each test uses data that earlier tests created, and the tests run in order.
describe('customers and user tokens', () => {
  let stores: TestStores;
  let mine: TestPartner;
  let theirs: TestPartner;

  beforeAll(async () => {
    stores = await createStores('one');
    [mine, theirs] = await Promise.all([createPartner(stores.environment), createPartner(stores.environment)]);
  });
  afterAll(() => stores.drop());

  const read = async (...parameters: string[]): Promise<unknown> =>
    JSON.parse(await mine.operate(...parameters, '--json'));
  const tokensOf = async ({ name }: TestPartner): Promise<z.infer<typeof tokensSchema>> =>
    tokensSchema.parse(await read('user-token', 'list', '--partner', name));

  /** Returns the error code of a command that fails without printing to standard output. */
  const refusal = async (...parameters: string[]): Promise<string | undefined> => {
    const { code, out, err } = await runOperator(stores.environment, parameters);
    const found = /^error: (\w+): /.exec(err)?.[1];
    expect({ code, out }).toEqual({ code: found === 'not_found' ? 1 : 2, out: '' });
    return found;
  };

  it("the operator creates customers with trimmed names and lists one partner's customers", async () => {
    const shoes = z
      .strictObject({ customer_id: z.int(), name: z.literal('Обувь & Co') })
      .parse(await read('customer', 'create', '--partner', mine.name, '--name', '  Обувь & Co '));
    const bags = { customer_id: (await mine.createCustomer('Bags')).id, name: 'Bags' };
    const theirBags = { customer_id: (await theirs.createCustomer('Bags')).id, name: 'Bags' };
    const list = ['customer', 'list', '--partner'];
    expect(await read(...list, mine.name)).toEqual([shoes, bags]);
    expect(await read(...list, mine.name, '--after', String(shoes.customer_id))).toEqual([bags]);
    expect(await read(...list, theirs.name)).toEqual([theirBags]);
  });

  it('the operator cannot create a customer with a taken or empty name or for an unknown partner', async () => {
    const create = ['customer', 'create', '--partner', mine.name, '--name'];
    expect(await refusal(...create, 'Bags ')).toBe('invalid_request');
    expect(await refusal(...create, ' ')).toBe('invalid_request');
    expect(await refusal('customer', 'list', '--partner', 'unknown')).toBe('not_found');
  });

  it('the operator creates user tokens that are shown once and stored as a hash', async () => {
    const create = ['user-token', 'create', '--partner', mine.name, '--customer', ' Обувь & Co'];
    const shown = shownSchema.parse(await read(...create));
    rememberSecrets(shown.user_token);
    expect(shown.customer).toBe('Обувь & Co');
    expect(shown.user_token).toMatch(/^inlet_test_user_[0-9A-Za-z]{39}$/);
    expect(await tablesThatHold(stores, shown.user_token)).toEqual([]);
    const listed = await tokensOf(mine);
    expect(JSON.stringify(listed)).not.toContain('inlet_');
    expect(listed.map(({ customer, revoked_at }) => ({ customer, revoked_at }))).toEqual([
      { customer: 'Bags', revoked_at: null },
      { customer: 'Обувь & Co', revoked_at: null },
    ]);
    expect(listed[1]).toMatchObject({ token_id: shown.token_id, customer_id: shown.customer_id });
  });

  it("the operator cannot create a user token for another partner's customer", async () => {
    await read('customer', 'create', '--partner', theirs.name, '--name', 'Only theirs');
    const before = await tokensOf(mine);
    const create = ['user-token', 'create', '--partner', mine.name, '--customer'];
    expect(await refusal(...create, 'Only theirs')).toBe('not_found');
    expect(await tokensOf(mine)).toEqual(before);
  });

  it('the operator can revoke a user token repeatedly', async () => {
    const [first] = await tokensOf(mine);
    const revoke = ['user-token', 'revoke', String(first?.token_id), '--partner', mine.name];
    expect(await mine.operate(...revoke)).toBe(`user token ${first?.token_id} is revoked\n`);
    const revoked = await tokensOf(mine);
    expect(revoked.map(({ revoked_at }) => revoked_at !== null)).toEqual([true, false]);
    await mine.operate(...revoke);
    expect(await tokensOf(mine)).toEqual(revoked);
  });

  it("the operator cannot revoke another partner's token, an unknown token, or an invalid ID", async () => {
    const [token] = await tokensOf(theirs);
    for (const id of [String(token?.token_id), '999999']) {
      expect(await refusal('user-token', 'revoke', id, '--partner', mine.name)).toBe('not_found');
    }
    expect(await refusal('user-token', 'revoke', 'all', '--partner', mine.name)).toBe('wrong_use');
    expect(await tokensOf(theirs)).toEqual([token]);
    expect(token?.revoked_at).toBeNull();
  });

  it('the operator can show a partner, set its allowed share of rejected rows, and allow it to send IDs without hyphens', async () => {
    const fresh: Record<string, unknown> = {
      partner_id: mine.id,
      name: mine.name,
      state: 'active',
      prefix: mine.prefix,
      external_id: expect.stringMatching(/^[\da-f-]{36}$/) as unknown,
      audience_bad_row_share: 0,
      unhyphenated_ids: false,
      device_days: null,
      device_retention: { due_at: null, failure: null, removed_at: null, removed_rows: 0 },
    };
    expect(await read('partner', 'show', mine.name)).toEqual(fresh);
    const set = { ...fresh, audience_bad_row_share: 0.01 };
    const share = '--audience-bad-rows';
    expect(await read('partner', 'set', mine.name, share, '0.01')).toEqual(set);
    expect(await refusal('partner', 'set', mine.name, share, '-0.1')).toBe('invalid_request');
    expect(await refusal('partner', 'set', 'unknown', share, '0.5')).toBe('not_found');
    expect(await read('partner', 'show', mine.name)).toEqual(set);
    const both = { ...set, unhyphenated_ids: true };
    expect(await read('partner', 'set', mine.name, '--unhyphenated-ids', 'yes')).toEqual(both);
    expect(await refusal('partner', 'set', mine.name)).toBe('invalid_request');
  });
});
