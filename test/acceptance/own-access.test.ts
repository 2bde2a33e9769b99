import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type Scope, scopes } from '../../src/domain/caller.ts';
import { addApiKey } from '../support/add-api-key.ts';
import { type Browser, signInWithKey } from '../support/console-sign-in.ts';
import { rememberSecrets } from '../support/known-secrets.ts';
import { type ServiceProcess, startApi, stopProcess } from '../support/running-service.ts';
import { type TestStores, createStores, withDatabase } from '../support/stores.ts';
import { type BarePartner, type Wired, newBarePartner, wireUp } from '../support/wired.ts';

// Partners manage their own attributes, keys, customers, and user tokens, over HTTP and as the API's database role.

const answerSchema = z.looseObject({
  code: z.string().optional(),
  detail: z.string().optional(),
  key_id: z.int().optional(),
  api_key: z.string().nullish(),
  user_token: z.string().nullish(),
  expires_at: z.string().nullish(),
  created_by: z.string().nullish(),
});
type Answer = z.infer<typeof answerSchema> & { readonly status: number; readonly headers: Headers };

describe('self-service access', () => {
  let stores: TestStores;
  let deps: Wired;
  let api: ServiceProcess & { readonly url: string };
  let other: ServiceProcess & { readonly url: string };
  let partner: BarePartner;

  beforeAll(async () => {
    stores = await createStores('one');
    deps = await wireUp(stores);
    [api, other] = [
      await startApi(stores.environment, 'own-access'),
      await startApi(stores.environment, 'own-access-2'),
    ];
  });
  afterAll(async () => {
    await stopProcess(api.child);
    await stopProcess(other.child);
    await deps.close();
    await stores.drop();
  });
  const freshPartner = async (): Promise<BarePartner> => (partner = await newBarePartner(deps));

  async function read(response: Response): Promise<Answer> {
    const text = await response.text();
    const body = answerSchema.parse(text === '' ? {} : JSON.parse(text));
    rememberSecrets(...[body.api_key, body.user_token].filter((secret) => typeof secret === 'string'));
    return { ...body, status: response.status, headers: response.headers };
  }
  const send = async (
    apiKey: string,
    method: string,
    path: string,
    body?: object,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> =>
    read(
      await fetch(api.url + path, {
        method,
        headers: {
          authorization: `Bearer ${apiKey}`,
          ...(body ? { 'content-type': 'application/json' } : {}),
          ...headers,
        },
        ...(body ? { body: JSON.stringify(body) } : {}),
      }),
    );
  const list = async (apiKey: string, path: string): Promise<Record<string, unknown>[]> =>
    z
      .array(z.record(z.string(), z.unknown()))
      .parse(await (await fetch(api.url + path, { headers: { authorization: `Bearer ${apiKey}` } })).json());
  const keyWith = async (granted: readonly Scope[], livesSeconds: number | null = null): Promise<string> =>
    (await addApiKey(deps, partner, { scopes: granted, livesSeconds })).apiKey;
  const statusOf = async (apiKey: string, url = api.url): Promise<number> =>
    (await fetch(`${url}/v1/limits`, { headers: { authorization: `Bearer ${apiKey}` } })).status;
  const auditOf = async (): Promise<{ event: string; actor: string; detail: unknown }[]> =>
    (await deps.audit.list({ partnerId: partner.id, beforeId: Number.MAX_SAFE_INTEGER, limit: 100 })).map(
      ({ event, actor, detail }) => ({ event, actor, detail }),
    );

  describe('API keys', () => {
    it('creates a key that works at once and is shown only once', async () => {
      await freshPartner();
      const made = await send(partner.apiKey, 'POST', '/v1/keys', { name: 'nightly', scopes: ['marketplace:read'] });
      expect(made).toMatchObject({ status: 201, name: 'nightly', scopes: ['marketplace:read'], expires_at: null });
      expect(made.headers.get('cache-control')).toBe('no-store');
      expect(await statusOf(made.api_key ?? '')).toBe(200);
      const keys = await list(partner.apiKey, '/v1/keys');
      expect(keys.map(({ name, current }) => [name, current])).toEqual([
        ['first', true],
        ['nightly', false],
      ]);
      expect(JSON.stringify(keys)).not.toContain(made.api_key);
      expect(JSON.stringify(keys)).not.toContain('hash');
    });

    it.each(scopes)(
      'a key without %s can neither create a key with this scope nor rotate one that has it',
      async (scope) => {
        await freshPartner();
        const fewer = await keyWith(scopes.filter((one) => one !== scope));
        const made = await send(fewer, 'POST', '/v1/keys', { scopes: [scope] });
        // A key without keys:write cannot call the operation at all.
        const code = scope === 'keys:write' ? 'scope_missing' : 'scope_not_grantable';
        expect([made.status, made.code]).toEqual([403, code]);
        const [first] = await list(partner.apiKey, '/v1/keys');
        const rotated = await send(fewer, 'POST', `/v1/keys/${String(first?.['key_id'])}/rotate`, {});
        expect([rotated.status, rotated.code]).toEqual([403, code]);
        expect(await statusOf(partner.apiKey)).toBe(200);
      },
    );

    it('a key that was created with another key never expires later than that key', async () => {
      await freshPartner();
      const temporary = await keyWith(scopes, 3_600);
      const [, creator] = await list(partner.apiKey, '/v1/keys');
      const forever = await send(temporary, 'POST', '/v1/keys', { scopes: ['keys:write'] });
      const renewed = await send(temporary, 'POST', `/v1/keys/${String(creator?.['key_id'])}/rotate`, {
        expires_in_days: 30,
      });
      const [first] = await list(partner.apiKey, '/v1/keys');
      const rotated = await send(temporary, 'POST', `/v1/keys/${String(first?.['key_id'])}/rotate`, {});
      for (const made of [forever, renewed, rotated]) {
        expect(made.status).toBe(201);
        expect(new Date(made.expires_at ?? '') <= new Date(String(creator?.['expires_at']))).toBe(true);
      }
      const session = await signInWithKey(api.url, temporary);
      const bySession = await read(
        await session.request('/v1/keys', { method: 'POST', body: JSON.stringify({ scopes: ['keys:read'] }) }),
      );
      expect(bySession.status).toBe(201);
      expect(new Date(bySession.expires_at ?? '') <= new Date(String(creator?.['expires_at']))).toBe(true);
    });

    it("a session that signs out while it creates keys creates no key that outlives the session's own key", async () => {
      await freshPartner();
      const temporary = await keyWith(scopes, 3_600);
      const create = { method: 'POST', body: JSON.stringify({ name: 'raced', scopes: ['keys:write'] }) };
      for (let round = 0; round < 5; round += 1) {
        const session = await signInWithKey(api.url, temporary);
        const attempts = Array.from({ length: 6 }, () => session.request('/v1/keys', create));
        await session.request('/console/auth/sign-out', { method: 'POST' });
        for (const attempt of attempts) {
          const { status } = await read(await attempt);
          expect([201, 401]).toContain(status);
        }
      }
      const raced = (await list(partner.apiKey, '/v1/keys')).filter(({ name }) => name === 'raced');
      expect(raced.filter(({ expires_at }) => expires_at === null)).toEqual([]);
    });

    it('a rotated key works until the overlap ends, and an overlap of 0 disables it immediately in every process', async () => {
      await freshPartner();
      const old = await send(partner.apiKey, 'POST', '/v1/keys', { scopes: ['marketplace:read'] });
      const next = await send(partner.apiKey, 'POST', `/v1/keys/${old.key_id}/rotate`, { overlap_hours: 168 });
      expect(await statusOf(old.api_key ?? '')).toBe(200);
      expect(await statusOf(next.api_key ?? '')).toBe(200);
      const last = await send(partner.apiKey, 'POST', `/v1/keys/${next.key_id}/rotate`, { overlap_hours: 0 });
      for (const url of [api.url, other.url]) {
        expect(await statusOf(next.api_key ?? '', url)).toBe(401);
        expect(await statusOf(last.api_key ?? '', url)).toBe(200);
      }
      const tooLong = await send(partner.apiKey, 'POST', `/v1/keys/${last.key_id}/rotate`, { overlap_hours: 169 });
      expect([tooLong.status, tooLong.code]).toEqual([400, 'invalid_request']);
      const ended = await send(partner.apiKey, 'POST', `/v1/keys/${next.key_id}/rotate`, {});
      expect([ended.status, ended.code]).toEqual([404, 'not_found']);
    });

    it('a revoked key stops working immediately in every process, and its sessions end', async () => {
      await freshPartner();
      const made = await send(partner.apiKey, 'POST', '/v1/keys', { scopes: [...scopes] });
      const session = await signInWithKey(other.url, made.api_key ?? '');
      expect(await statusOf(made.api_key ?? '', other.url)).toBe(200);
      expect((await send(partner.apiKey, 'DELETE', `/v1/keys/${made.key_id}`)).status).toBe(204);
      for (const url of [api.url, other.url]) expect(await statusOf(made.api_key ?? '', url)).toBe(401);
      expect((await session.request('/v1/keys')).status).toBe(401);
      // Revoking again changes nothing.
      expect((await send(partner.apiKey, 'DELETE', `/v1/keys/${made.key_id}`)).status).toBe(204);
    });

    it('a revoked key creates nothing after its revocation is confirmed', async () => {
      await freshPartner();
      for (let round = 0; round < 5; round += 1) {
        const thief = await keyWith(scopes);
        const [stolen] = (await list(partner.apiKey, '/v1/keys')).slice(-1);
        const attempts = Promise.all(
          Array.from({ length: 8 }, () => send(thief, 'POST', '/v1/keys', { name: 'thief', scopes: ['keys:write'] })),
        );
        const revoked = send(partner.apiKey, 'DELETE', `/v1/keys/${String(stolen?.['key_id'])}`);
        expect((await revoked).status).toBe(204);
        const countNow = (await list(partner.apiKey, '/v1/keys')).length;
        for (const { status } of await attempts) expect([201, 401]).toContain(status);
        expect((await list(partner.apiKey, '/v1/keys')).length).toBe(countNow);
      }
    });

    it('the last key that can manage keys can be revoked only with force', async () => {
      await freshPartner();
      const [first] = await list(partner.apiKey, '/v1/keys');
      const path = `/v1/keys/${String(first?.['key_id'])}`;
      const refused = await send(partner.apiKey, 'DELETE', path);
      expect([refused.status, refused.code]).toEqual([422, 'last_managing_key']);
      expect((await send(partner.apiKey, 'DELETE', `${path}?force=true`)).status).toBe(204);
      expect(await statusOf(partner.apiKey)).toBe(401);
    });

    it('a repeated request creates only one key, and neither its response nor the stored request contains the key', async () => {
      await freshPartner();
      const once = { 'idempotency-key': 'create-1' };
      const first = await send(partner.apiKey, 'POST', '/v1/keys', { scopes: ['keys:read'] }, once);
      const again = await send(partner.apiKey, 'POST', '/v1/keys', { scopes: ['keys:read'] }, once);
      expect([first.status, again.status, again.key_id]).toEqual([201, 201, first.key_id]);
      expect(again.api_key).toBeNull();
      expect(again.headers.get('idempotent-replayed')).toBe('true');
      expect(await list(partner.apiKey, '/v1/keys')).toHaveLength(2);
      const stored = await withDatabase(stores, async (client) =>
        JSON.stringify((await client.query('SELECT result FROM accepted_request')).rows),
      );
      expect(stored).toContain(String(first.key_id));
      expect(stored).not.toContain(first.api_key);
      const changed = await send(partner.apiKey, 'POST', '/v1/keys', { scopes: ['keys:write'] }, once);
      expect([changed.status, changed.code]).toEqual([422, 'idempotency_key_reused']);
    });

    it('a partner can have only a limited number of keys', async () => {
      await freshPartner();
      await withDatabase(stores, (client) =>
        client.query(
          `INSERT INTO api_key (partner_id, key_hash, revoked_at) SELECT $1::bigint, sha256(format('%s-%s', $1::bigint, n)::bytea), now() FROM generate_series(1, 998) n`,
          [partner.id],
        ),
      );
      const results = await Promise.all(
        Array.from({ length: 4 }, () => send(partner.apiKey, 'POST', '/v1/keys', { scopes: ['keys:read'] })),
      );
      expect(results.map(({ status }) => String(status)).toSorted()).toEqual(['201', '422', '422', '422']);
      const [first] = await list(partner.apiKey, '/v1/keys?limit=1');
      const rotated = await send(partner.apiKey, 'POST', `/v1/keys/${String(first?.['key_id'])}/rotate`, {});
      expect([rotated.status, rotated.code]).toEqual([422, 'quota_exceeded']);
    });
  });

  describe('customers and user tokens', () => {
    it('a customer can be created, renamed, and removed, and its token works until the removal', async () => {
      await freshPartner();
      const made = await send(partner.apiKey, 'POST', '/v1/customers', { name: '  Globex ' });
      expect(made).toMatchObject({ status: 201, name: 'Globex' });
      const path = `/v1/customers/${String(made['customer_id'])}`;
      const token = await send(partner.apiKey, 'POST', `${path}/tokens`, {});
      expect(token.status).toBe(201);
      const audiences = (userToken: string): Promise<Answer> =>
        send(partner.apiKey, 'GET', '/v1/limits', undefined, { 'x-user-token': userToken });
      expect((await audiences(token.user_token ?? '')).status).toBe(200);
      expect(await send(partner.apiKey, 'PATCH', path, { name: 'Globex Europe' })).toMatchObject({
        status: 200,
        name: 'Globex Europe',
      });
      const taken = await send(partner.apiKey, 'POST', '/v1/customers', { name: 'Globex Europe' });
      expect([taken.status, taken.code]).toEqual([400, 'invalid_request']);
      const session = await signInWithKey(other.url, partner.apiKey, token.user_token ?? '');
      expect((await session.request('/v1/limits')).status).toBe(200);
      expect((await send(partner.apiKey, 'DELETE', path)).status).toBe(204);
      expect((await audiences(token.user_token ?? '')).status).toBe(401);
      expect((await session.request('/v1/limits')).status).toBe(401);
      expect((await send(partner.apiKey, 'DELETE', path)).status).toBe(404);
      expect((await send(partner.apiKey, 'POST', '/v1/customers', { name: 'Globex Europe' })).status).toBe(201);
    });

    it('a customer cannot be removed and keeps its tokens until its audiences are deleted', async () => {
      await freshPartner();
      const made = await send(partner.apiKey, 'POST', '/v1/customers', { name: 'Globex' });
      const path = `/v1/customers/${String(made['customer_id'])}`;
      const token = (await send(partner.apiKey, 'POST', `${path}/tokens`, {})).user_token ?? '';
      const asCustomer = { 'x-user-token': token };
      const body = { name: 'Summer', file_path: 'summer/' };
      const audience = await send(partner.apiKey, 'POST', '/v2/firstparty/audience', body, asCustomer);
      expect(audience.status).toBe(201);
      const refused = await send(partner.apiKey, 'DELETE', path);
      expect([refused.status, refused.code]).toEqual([422, 'customer_in_use']);
      expect((await send(partner.apiKey, 'GET', '/v1/limits', undefined, asCustomer)).status).toBe(200);
      const audiencePath = `/v2/firstparty/audience/${String(audience['audience_id'])}`;
      expect((await send(partner.apiKey, 'DELETE', audiencePath, undefined, asCustomer)).status).toBe(204);
      expect((await send(partner.apiKey, 'DELETE', path)).status).toBe(204);
    });

    it('a revoked token stops working immediately in every process, and a repeated request issues only one token', async () => {
      await freshPartner();
      const made = await send(partner.apiKey, 'POST', '/v1/customers', { name: 'Globex' });
      const path = `/v1/customers/${String(made['customer_id'])}/tokens`;
      const once = { 'idempotency-key': 'token-1' };
      const token = await send(partner.apiKey, 'POST', path, {}, once);
      expect(await send(partner.apiKey, 'POST', path, {}, once)).toMatchObject({
        status: 201,
        token_id: token['token_id'],
        user_token: null,
      });
      expect(await list(partner.apiKey, path)).toHaveLength(1);
      expect((await send(partner.apiKey, 'DELETE', `${path}/${String(token['token_id'])}`)).status).toBe(204);
      for (const url of [api.url, other.url]) {
        const response = await fetch(`${url}/v1/limits`, {
          headers: { authorization: `Bearer ${partner.apiKey}`, 'x-user-token': token.user_token ?? '' },
        });
        expect(response.status).toBe(401);
      }
    });
  });

  describe('attributes', () => {
    it('an attribute can be created, renamed, and retired, and its foreign keys can be moved', async () => {
      await freshPartner();
      const attributes = '/v1/marketplace/attributes';
      const sports = await send(partner.apiKey, 'POST', attributes, {
        name: 'sports',
        foreign_keys: ['s', 's', 'ball'],
      });
      expect(sports).toMatchObject({ status: 201, foreign_keys: ['s', 'ball'], retired: false });
      const travel = await send(partner.apiKey, 'POST', attributes, { name: 'travel' });
      const [one, two] = [sports, travel].map((made) => `${attributes}/${String(made['attribute_id'])}`);
      expect(
        await send(partner.apiKey, 'PUT', `${two}/foreign-keys`, { foreign_keys: ['ball', 'trip'] }),
      ).toMatchObject({
        status: 200,
        foreign_keys: ['ball', 'trip'],
      });
      expect(
        await send(partner.apiKey, 'DELETE', `${two}/foreign-keys`, { foreign_keys: ['trip', 's'] }),
      ).toMatchObject({
        status: 200,
        foreign_keys: ['ball'],
      });
      expect(await send(partner.apiKey, 'PATCH', one ?? '', { name: 'outdoor' })).toMatchObject({ name: 'outdoor' });
      const taken = await send(partner.apiKey, 'PATCH', one ?? '', { name: 'travel' });
      expect([taken.status, taken.code]).toEqual([400, 'invalid_request']);
      expect(await send(partner.apiKey, 'POST', `${one}/retire`, {})).toMatchObject({ status: 200, retired: true });
      expect(await send(partner.apiKey, 'POST', `${one}/retire`, {})).toMatchObject({ status: 200, retired: true });
      expect(
        (await list(partner.apiKey, attributes)).map(({ name, foreign_keys, retired }) => [
          name,
          foreign_keys,
          retired,
        ]),
      ).toEqual([
        ['outdoor', ['s'], true],
        ['travel', ['ball'], false],
      ]);
    });

    it('a repeated request creates only one attribute, even if the attribute was renamed in between', async () => {
      await freshPartner();
      const once = { 'idempotency-key': 'attribute-1' };
      const path = '/v1/marketplace/attributes';
      const made = await send(partner.apiKey, 'POST', path, { name: 'sports' }, once);
      await send(partner.apiKey, 'PATCH', `${path}/${String(made['attribute_id'])}`, { name: 'travel' });
      const again = await send(partner.apiKey, 'POST', path, { name: 'sports' }, once);
      expect([again.status, again['attribute_id'], again['name']]).toEqual([201, made['attribute_id'], 'sports']);
      expect(await list(partner.apiKey, path)).toHaveLength(1);
    });
  });

  describe('the audit log', () => {
    it('names the key or the session that made each change, and contains no secret', async () => {
      await freshPartner();
      const [first] = await list(partner.apiKey, '/v1/keys');
      const byKey = `key ${String(first?.['key_id'])}`;
      const attribute = await send(partner.apiKey, 'POST', '/v1/marketplace/attributes', {
        name: 'a',
        foreign_keys: ['k'],
      });
      const untie = `/v1/marketplace/attributes/${String(attribute['attribute_id'])}/foreign-keys`;
      await send(partner.apiKey, 'DELETE', untie, { foreign_keys: ['k'] });
      const customer = await send(partner.apiKey, 'POST', '/v1/customers', { name: 'Globex' });
      const token = await send(partner.apiKey, 'POST', `/v1/customers/${String(customer['customer_id'])}/tokens`, {});
      const session: Browser = await signInWithKey(api.url, partner.apiKey);
      const made = await read(
        await session.request('/v1/keys', { method: 'POST', body: JSON.stringify({ scopes: ['keys:read'] }) }),
      );
      expect(made.created_by).toMatch(/^session \d+$/);
      await session.request(`/v1/keys/${made.key_id}`, { method: 'DELETE' });
      await send(partner.apiKey, 'DELETE', `/v1/customers/${String(customer['customer_id'])}`);
      await send(partner.apiKey, 'POST', '/v1/webhooks', { url: 'https://example.com/hooks' });
      await session.request('/v1/marketplace/subscriptions', {
        method: 'POST',
        body: JSON.stringify({ prefix: 'daily/', key_type: 1, compressed: true, trigger: { quiet_seconds: 60 } }),
      });
      const entries = await auditOf();
      expect(entries.map(({ event, actor }) => `${event} ${actor}`)).toEqual([
        `subscription.insert ${made.created_by}`,
        `webhook_secret.insert ${byKey}`,
        `webhook.insert ${byKey}`,
        `customer.delete ${byKey}`,
        `user_token.delete ${byKey}`,
        `api_key.update ${made.created_by}`,
        `api_key.insert ${made.created_by}`,
        expect.stringMatching(/^console_session.insert/),
        `user_token.insert ${byKey}`,
        `customer.insert ${byKey}`,
        `attribute_foreign_key.delete ${byKey}`,
        `attribute_foreign_key.insert ${byKey}`,
        `attribute.insert ${byKey}`,
        expect.stringMatching(/^api_key.insert/),
        expect.stringMatching(/^partner.insert/),
      ]);
      const text = JSON.stringify(entries);
      for (const secret of [made.api_key, token.user_token, 'hash']) expect(text).not.toContain(secret);
    });
  });

  describe('console sessions', () => {
    it("a customer's session manages nothing, and a partner's session has no scope that its key lacks", async () => {
      await freshPartner();
      const customer = await send(partner.apiKey, 'POST', '/v1/customers', { name: 'Globex' });
      const tokens = `/v1/customers/${String(customer['customer_id'])}/tokens`;
      const { user_token: userToken } = await send(partner.apiKey, 'POST', tokens, {});
      const ofCustomer = await signInWithKey(api.url, partner.apiKey, userToken ?? '');
      const ofFewer = await signInWithKey(api.url, await keyWith(['marketplace:read', 'keys:write']));
      const calls = [
        ['GET', '/v1/keys'],
        ['GET', '/v1/customers'],
        ['POST', tokens],
        ['POST', '/v1/marketplace/attributes'],
      ] as const;
      for (const browser of [ofCustomer, ofFewer]) {
        for (const [method, path] of calls) {
          const answer = await read(await browser.request(path, { method, ...(method === 'POST' && { body: '{}' }) }));
          expect([answer.status, answer.code], path).toEqual([403, 'scope_missing']);
        }
      }
      const create = { method: 'POST', body: JSON.stringify({ scopes: ['audience:read'] }) };
      expect(await read(await ofCustomer.request('/v1/keys', create))).toMatchObject({
        status: 403,
        code: 'scope_missing',
      });
      expect(await read(await ofFewer.request('/v1/keys', create))).toMatchObject({ code: 'scope_not_grantable' });
      const forged = await ofFewer.request('/v1/keys', { ...create, headers: { 'x-csrf-token': 'wrong' } });
      expect(await read(forged)).toMatchObject({ status: 403, code: 'csrf_token_invalid' });
    });
  });
});
