import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { audienceSchema } from '../../src/adapters/http/records/audience.ts';
import { problemSchema } from '../../src/adapters/http/records/problem.ts';
import { scopes } from '../../src/domain/caller.ts';
import { createCustomer, createUserToken, revokeUserToken } from '../../src/usecases/admin/manage-keys.ts';
import { addApiKey } from '../support/add-api-key.ts';
import { openBrowser, signInWithKey } from '../support/console-sign-in.ts';
import { rememberSecrets } from '../support/known-secrets.ts';
import { type ServiceProcess, startApi, stopProcess } from '../support/running-service.ts';
import { type TestStores, createStores, withDatabase } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type BarePartner, type Wired, newBarePartner, wireUp } from '../support/wired.ts';
import { audienceClient, audiencePath } from './audience-client.ts';

// Uses API keys to sign in. console-sign-in.test.ts tests the sign-in with OpenID Connect.

describe('a console session', () => {
  let stores: TestStores;
  let deps: Wired;
  let api: ServiceProcess & { readonly url: string };
  let partner: BarePartner;
  let userToken: string;

  beforeAll(async () => {
    stores = await createStores('one');
    deps = await wireUp(stores);
    api = await startApi(stores.environment, 'console-session');
    partner = await newBarePartner(deps);
    await createCustomer(deps, partner.name, 'Retail Co');
    userToken = (await createUserToken(deps, partner.name, 'Retail Co')).token.reveal();
    rememberSecrets(userToken);
  });
  afterAll(async () => {
    await stopProcess(api.child);
    await deps.close();
    await stores.drop();
  });

  const signIn = (token?: string) => signInWithKey(api.url, partner.apiKey, token);
  const codeOf = async (response: Response): Promise<unknown> => {
    const { code } = problemSchema.parse(await response.json());
    return [response.status, code];
  };

  it('without a cookie, the session endpoint reports how to sign in', async () => {
    expect(await openBrowser(api.url).session()).toEqual({
      signed_in: false,
      sign_in: { oidc: false, api_key: true },
    });
  });

  it('a partner has all scopes, and a customer has only the scopes for audiences', async () => {
    expect((await signIn()).signedIn).toMatchObject({
      role: 'partner',
      name: partner.name,
      partner: partner.name,
      customer: null,
      upload_folder: null,
      scopes,
      segment_id: null,
    });
    expect((await signIn(userToken)).signedIn).toMatchObject({
      role: 'customer',
      name: 'Retail Co',
      partner: partner.name,
      customer: 'Retail Co',
      upload_folder: expect.stringMatching(/^customers\/\d+\/$/) as unknown,
      scopes: ['audience:read', 'audience:write'],
    });
  });

  it('a session has no scope that its API key lacks', async () => {
    const { apiKey } = await addApiKey(deps, partner, { scopes: ['audience:read'] });
    const browser = await signInWithKey(api.url, apiKey);
    expect(browser.signedIn.scopes).toEqual(['audience:read']);
    expect((await browser.request(audiencePath)).status).toBe(200);
    expect(await codeOf(await browser.request('/v1/marketplace/import'))).toEqual([403, 'scope_missing']);
  });

  it('the cookie is inaccessible to scripts and to requests from other sites', async () => {
    const response = await fetch(`${api.url}/console/auth/api-key`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ api_key: partner.apiKey }),
    });
    const [cookie = ''] = response.headers.getSetCookie();
    rememberSecrets(/=([^;]+)/.exec(cookie)?.[1] ?? '');
    expect(cookie).toMatch(/^inlet_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax$/);
    expect(response.headers.get('cache-control')).toBe('no-store');
  });

  it('a customer sees only its own audiences, and a partner only its own', async () => {
    const ofPartner = await audienceClient(api.url, partner.apiKey).create('Of partner', 'a.csv');
    const ofCustomer = await audienceClient(api.url, partner.apiKey, userToken).create('Of customer', 'a.csv');
    for (const [token, own, other] of [
      [undefined, ofPartner, ofCustomer],
      [userToken, ofCustomer, ofPartner],
    ] as const) {
      const browser = await signIn(token);
      const list = z.array(audienceSchema).parse(await (await browser.request(audiencePath)).json());
      expect(list.map(({ audience_id }) => audience_id)).toEqual([own.audienceId]);
      expect((await browser.request(`${audiencePath}/${own.audienceId}`)).status).toBe(200);
      expect((await browser.request(`${audiencePath}/${other.audienceId}`)).status).toBe(404);
    }
  });

  it('an API key takes precedence over the cookie', async () => {
    const browser = await signIn();
    const other = await newBarePartner(deps);
    const created = await audienceClient(api.url, other.apiKey).create('Of other', 'a.csv');
    const path = `${audiencePath}/${created.audienceId}`;
    expect((await browser.request(path)).status).toBe(404);
    const headers = { authorization: `Bearer ${other.apiKey}` };
    expect((await browser.request(path, { headers })).status).toBe(200);
    const wrong = { authorization: `Bearer ${other.apiKey}x` };
    expect(await codeOf(await browser.request(path, { headers: wrong }))).toEqual([401, 'unauthenticated']);
  });

  it('a user token cannot be combined with a cookie', async () => {
    const browser = await signIn();
    const response = await browser.request(audiencePath, { headers: { 'x-user-token': userToken } });
    expect(await codeOf(response)).toEqual([400, 'invalid_request']);
  });

  it('sign-out ends the session and its event streams', async () => {
    const { audienceId } = await audienceClient(api.url, partner.apiKey).create('Followed', 'a.csv');
    const browser = await signIn();
    const cookie = browser.cookies();
    const stream = await browser.request(`${audiencePath}/${audienceId}/events`);
    expect(stream.status).toBe(200);
    const ended = stream.text();
    const out = await browser.request('/console/auth/sign-out', { method: 'POST' });
    expect([out.status, await out.json()]).toEqual([200, { redirect_to: '/console/sign-in' }]);
    expect(browser.cookies()).toBe('');
    const replayed = await fetch(api.url + audiencePath, { headers: { cookie } });
    expect(await codeOf(replayed)).toEqual([401, 'unauthenticated']);
    // Without a worker, nothing but the sign-out ends the stream.
    expect(await ended).not.toContain('event: done');
  });

  it('a revoked API key ends its sessions', async () => {
    const { apiKey, id } = await addApiKey(deps, partner);
    const browser = await signInWithKey(api.url, apiKey);
    expect((await browser.request(audiencePath)).status).toBe(200);
    await deps.keys.revoke(partner.id, id);
    expect(await codeOf(await browser.request(audiencePath))).toEqual([401, 'unauthenticated']);
    expect((await browser.session()).signed_in).toBe(false);
  });

  it('a revoked user token ends the sessions that were created with it, and no others', async () => {
    const [revoked, kept] = [
      await createUserToken(deps, partner.name, 'Retail Co'),
      await createUserToken(deps, partner.name, 'Retail Co'),
    ];
    rememberSecrets(revoked.token.reveal(), kept.token.reveal());
    const [ended, open] = [await signIn(revoked.token.reveal()), await signIn(kept.token.reveal())];
    await revokeUserToken(deps, partner.name, revoked.id);
    expect(await codeOf(await ended.request(audiencePath))).toEqual([401, 'unauthenticated']);
    expect((await ended.session()).signed_in).toBe(false);
    expect((await open.request(audiencePath)).status).toBe(200);
  });

  it('a page opened by an earlier user cannot act as the user who signed in later', async () => {
    const browser = await signIn();
    const before = browser.csrfToken();
    await browser.exchange('api-key', { api_key: partner.apiKey, user_token: userToken });
    const headers = { 'x-csrf-token': before };
    for (const path of [audiencePath, '/v1/marketplace/import', '/v1/limits'])
      expect(await codeOf(await browser.request(path, { headers }))).toEqual([403, 'csrf_token_invalid']);
    const created = await browser.request(audiencePath, { method: 'POST', headers, body: '{}' });
    expect(await codeOf(created)).toEqual([403, 'csrf_token_invalid']);
    expect((await browser.request(audiencePath, { headers: { 'x-csrf-token': browser.csrfToken() } })).status).toBe(
      200,
    );
  });

  it('a removed customer loses access at once', async () => {
    await createCustomer(deps, partner.name, 'Removed');
    const { token } = await createUserToken(deps, partner.name, 'Removed');
    rememberSecrets(token.reveal());
    const browser = await signIn(token.reveal());
    expect((await browser.request(audiencePath)).status).toBe(200);
    await withDatabase(stores, async (client) => {
      await client.query(`DELETE FROM user_token WHERE customer_id = (SELECT id FROM customer WHERE name = 'Removed')`);
      await client.query(`DELETE FROM customer WHERE name = 'Removed'`);
    });
    expect(await codeOf(await browser.request(audiencePath))).toEqual([401, 'unauthenticated']);
  });

  it('a sign-in replaces a session cookie that was planted in the browser', async () => {
    const attacker = await signIn();
    const victim = openBrowser(api.url);
    const [, planted = ''] = attacker.cookies().split('=');
    victim.setCookie('inlet_session', planted);
    await victim.exchange('api-key', { api_key: partner.apiKey, user_token: userToken });
    expect(victim.cookies()).not.toContain(planted);
    expect((await victim.session()).signed_in).toBe(true);
    expect((await attacker.session()).signed_in).toBe(false);
  });

  it('an API key keeps only its 20 latest sessions', async () => {
    const { apiKey } = await addApiKey(deps, partner);
    const browsers = [];
    for (let n = 0; n < 21; n += 1) browsers.push(await signInWithKey(api.url, apiKey));
    const states = await Promise.all(browsers.map((browser) => browser.session()));
    expect(states.map((state) => state.signed_in)).toEqual([false, ...Array.from({ length: 20 }, () => true)]);
  });

  it('the database contains only a hash of the cookie', async () => {
    const browser = await signIn();
    const [, token = ''] = browser.cookies().split('=');
    await withDatabase(stores, async (client) => {
      const { rows } = await client.query<{ text: string }>(
        `SELECT s::text || (SELECT string_agg(a::text, '') FROM audit_log a) AS text FROM console_session s`,
      );
      const text = rows.map((row) => row.text).join('\n');
      expect(text).not.toContain(token);
      expect(text).not.toContain(Buffer.from(token).toString('hex'));
    });
  });

  it('the audit log names the session of a denied call', async () => {
    const browser = await signIn(userToken);
    expect(await codeOf(await browser.request('/v1/marketplace/import'))).toEqual([403, 'scope_missing']);
    await waitUntil('the call is recorded', async () => {
      const entries = await deps.audit.list({ partnerId: partner.id, beforeId: Number.MAX_SAFE_INTEGER, limit: 20 });
      return entries.some(
        ({ event, actor, operation }) =>
          event === 'call.denied' && /^session \d+$/.test(actor) && operation === 'listImportLogs',
      );
    });
  });

  it('an unknown cookie is rejected and removed', async () => {
    const browser = openBrowser(api.url);
    for (const value of ['A'.repeat(43), 'short', '']) {
      browser.setCookie('inlet_session', value);
      expect(await codeOf(await browser.request(audiencePath)), value).toEqual([401, 'unauthenticated']);
      expect((await browser.session()).signed_in).toBe(false);
      expect(browser.cookies()).toBe('');
    }
  });
});
