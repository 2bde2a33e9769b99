import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { scopes } from '../../src/domain/caller.ts';
import type { DemoProvider } from '../../dev/demo-provider.ts';
import { aesGcmSealer } from '../../src/adapters/vault/aes-gcm-sealer.ts';
import { createCustomer } from '../../src/usecases/admin/manage-keys.ts';
import { beginSignIn, openBrowser, signInAtProvider, startConsoleProvider } from '../support/console-sign-in.ts';
import { type ServiceProcess, startApi, stopProcess } from '../support/running-service.ts';
import { type TestStores, createStores } from '../support/stores.ts';
import { type BarePartner, type Wired, newBarePartner, wireUp } from '../support/wired.ts';
import { audienceClient, audiencePath } from './audience-client.ts';

// Uses a real OpenID provider and a real API process.

describe('sign-in to the console through an OpenID Connect issuer', () => {
  let stores: TestStores;
  let deps: Wired;
  let provider: DemoProvider;
  let api: ServiceProcess & { readonly url: string };
  let partner: BarePartner;

  beforeAll(async () => {
    stores = await createStores('one');
    deps = await wireUp(stores);
    provider = await startConsoleProvider();
    api = await startApi({ ...stores.environment, ...provider.settings }, 'console-sign-in');
    partner = await newBarePartner(deps);
    await createCustomer(deps, partner.name, 'Retail Co');
    const ofPartner = { inlet_role: 'partner', inlet_partner: partner.name };
    const ofCustomer = { inlet_role: 'customer', inlet_partner: partner.name };
    provider.setAccounts([
      { id: 'olga', name: 'Olga', claims: { inlet_role: 'operator' } },
      { id: 'dana', name: 'Dana Fox', claims: ofPartner },
      { id: 'carl', name: 'Carl', claims: { ...ofCustomer, inlet_customer: 'Retail Co' } },
      { id: 'no-role', name: 'x', claims: { inlet_partner: partner.name } },
      { id: 'two-roles', name: 'x', claims: { ...ofPartner, inlet_role: ['partner', 'operator'] } },
      { id: 'one-of-many-roles', name: 'x', claims: { ...ofPartner, inlet_role: ['other-app', 'partner'] } },
      { id: 'no-partner', name: 'x', claims: { inlet_role: 'partner' } },
      { id: 'other-partner', name: 'x', claims: { inlet_role: 'partner', inlet_partner: 'nobody' } },
      { id: 'no-customer', name: 'x', claims: ofCustomer },
      { id: 'other-customer', name: 'x', claims: { ...ofCustomer, inlet_customer: 'Nobody Inc' } },
    ]);
  });
  afterAll(async () => {
    await stopProcess(api.child);
    await provider.close();
    await deps.close();
    await stores.drop();
  });

  const codeOf = async (response: Response): Promise<unknown> => [
    response.status,
    /"code":"(\w+)"/.exec(await response.text())?.[1],
  ];

  it('a user of a partner, a customer, and an operator sign in with their roles', async () => {
    for (const [account, session] of [
      ['dana', { role: 'partner', name: 'Dana Fox', partner: partner.name, customer: null, scopes }],
      ['carl', { role: 'customer', name: 'Carl', partner: partner.name, customer: 'Retail Co' }],
      ['olga', { role: 'operator', name: 'Olga', partner: null, customer: null, scopes: ['operator'] }],
      ['one-of-many-roles', { role: 'partner', partner: partner.name }],
    ] as const) {
      const browser = openBrowser(api.url);
      expect(await signInAtProvider(browser, { account, returnTo: '/console/imports?status=3' })).toBe(
        '/console/imports?status=3',
      );
      expect(await browser.session(), account).toMatchObject({ signed_in: true, ...session });
      expect(browser.cookies()).toMatch(/^inlet_session=[\w-]{43}$/);
    }
  });

  it('an operator has no access to partner operations', async () => {
    const browser = openBrowser(api.url);
    await signInAtProvider(browser, { account: 'olga' });
    for (const path of [audiencePath, '/v1/marketplace/import', '/v1/limits', '/v1/marketplace/attributes'])
      expect(await codeOf(await browser.request(path)), path).toEqual([403, 'scope_missing']);
  });

  it('a customer sees only its own audiences', async () => {
    await audienceClient(api.url, partner.apiKey).create('Of partner', 'a.csv');
    const browser = openBrowser(api.url);
    await signInAtProvider(browser, { account: 'carl' });
    const list = await browser.request(audiencePath);
    expect([list.status, await list.json()]).toEqual([200, []]);
  });

  it.each([
    ['no-role', 'role_missing'],
    ['two-roles', 'role_missing'],
    ['no-partner', 'partner_unknown'],
    ['other-partner', 'partner_unknown'],
    ['no-customer', 'customer_unknown'],
    ['other-customer', 'customer_unknown'],
    [null, 'sign_in_denied'],
  ])('the account %s gets no session, and the page names the reason %s', async (account, error) => {
    const browser = openBrowser(api.url);
    expect(await signInAtProvider(browser, { account })).toBe(`/console/sign-in?error=${error}`);
    expect(browser.cookies()).toBe('');
  });

  it.each<[string, Parameters<typeof signInAtProvider>[1]]>([
    ['another state', { account: 'dana', changeResponse: (url) => url.searchParams.set('state', 'other') }],
    ['no state', { account: 'dana', changeResponse: (url) => url.searchParams.delete('state') }],
    ['another nonce', { account: 'dana', changeRequest: (url) => url.searchParams.set('nonce', 'other') }],
    ['another issuer', { account: 'dana', changeResponse: (url) => url.searchParams.set('iss', 'https://x.example') }],
    ['another code', { account: 'dana', changeResponse: (url) => url.searchParams.set('code', 'other') }],
    [
      'another PKCE challenge',
      { account: 'dana', changeRequest: (url) => url.searchParams.set('code_challenge', 'x'.repeat(43)) },
    ],
  ])('a response with %s is rejected', async (_what, flow) => {
    const browser = openBrowser(api.url);
    expect(await signInAtProvider(browser, flow)).toBe('/console/sign-in?error=sign_in_failed');
    expect((await browser.session()).signed_in).toBe(false);
  });

  it('a response without the cookie from the browser that started the sign-in is rejected', async () => {
    const callback = await beginSignIn(openBrowser(api.url), { account: 'dana' });
    const victim = openBrowser(api.url);
    const done = await victim.request(callback.pathname + callback.search);
    expect(done.headers.get('location')).toBe('/console/sign-in?error=sign_in_expired');
    expect(victim.cookies()).toBe('');
  });

  it('a response with the cookie from another sign-in is rejected', async () => {
    const callback = await beginSignIn(openBrowser(api.url), { account: 'dana' });
    const victim = openBrowser(api.url);
    await beginSignIn(victim, { account: 'carl' });
    const done = await victim.request(callback.pathname + callback.search);
    expect(done.headers.get('location')).toBe('/console/sign-in?error=sign_in_failed');
  });

  it('a response cannot be replayed', async () => {
    const browser = openBrowser(api.url);
    const callback = await beginSignIn(browser, { account: 'dana' });
    const state = /inlet_sign_in=([^;]+)/.exec(browser.cookies())?.[1] ?? '';
    const first = await browser.request(callback.pathname + callback.search);
    expect(first.headers.get('location')).toBe('/console/');
    const other = openBrowser(api.url);
    other.setCookie('inlet_sign_in', state);
    const second = await other.request(callback.pathname + callback.search);
    expect(second.headers.get('location')).toBe('/console/sign-in?error=sign_in_failed');
  });

  it('a tampered or foreign sign-in cookie is rejected', async () => {
    const browser = openBrowser(api.url);
    const callback = await beginSignIn(browser, { account: 'dana' });
    const value = /inlet_sign_in=([^;]+)/.exec(browser.cookies())?.[1] ?? '';
    const [keyId = '', sealed = ''] = value.split('.');
    const flipped = sealed.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'));
    for (const changed of [`${keyId}.${flipped}`, `other.${sealed}`, keyId, '', `${keyId}.`, 'x.y.z']) {
      browser.setCookie('inlet_sign_in', changed);
      const done = await browser.request(callback.pathname + callback.search);
      expect(done.headers.get('location'), changed).toBe('/console/sign-in?error=sign_in_expired');
    }
  });

  it('an expired sign-in cookie is rejected', async () => {
    const browser = openBrowser(api.url);
    const callback = await beginSignIn(browser, { account: 'dana' });
    const [keyId = '', text = ''] = (/inlet_sign_in=([^;]+)/.exec(browser.cookies())?.[1] ?? '').split('.');
    const sealer = aesGcmSealer(stores.config.INLET_SEALING_KEYS);
    const context = 'console sign-in';
    const opened = sealer.open({ keyId, bytes: Buffer.from(text, 'base64url') }, context);
    const state = z.looseObject({ expiresAt: z.number() }).parse(JSON.parse(opened));
    const locationWith = async (expiresAt: number): Promise<string | null> => {
      const { bytes } = sealer.seal(JSON.stringify({ ...state, expiresAt }), context);
      browser.setCookie('inlet_sign_in', `${keyId}.${Buffer.from(bytes).toString('base64url')}`);
      return (await browser.request(callback.pathname + callback.search)).headers.get('location');
    };
    expect(state.expiresAt - Date.now()).toBeLessThanOrEqual(600_000);
    expect(await locationWith(Date.now() - 1)).toBe('/console/sign-in?error=sign_in_expired');
    expect(await locationWith(state.expiresAt)).toBe('/console/');
  });

  it('a HEAD request, such as one from a link preview, does not complete a sign-in', async () => {
    const browser = openBrowser(api.url);
    const callback = await beginSignIn(browser, { account: 'dana' });
    const head = await browser.request(callback.pathname + callback.search, { method: 'HEAD' });
    expect([head.status, head.headers.get('set-cookie')]).toEqual([404, null]);
    const done = await browser.request(callback.pathname + callback.search);
    expect(done.headers.get('location')).toBe('/console/');
  });

  it('the sign-in cookie is inaccessible to scripts, expires, and reveals nothing', async () => {
    const response = await fetch(`${api.url}/console/auth/sign-in`, { redirect: 'manual' });
    const [cookie = ''] = response.headers.getSetCookie();
    expect(cookie).toMatch(/^inlet_sign_in=stack\.[\w-]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/);
    const { searchParams } = new URL(response.headers.get('location') ?? '');
    expect(Object.fromEntries(searchParams)).toMatchObject({
      response_type: 'code',
      code_challenge_method: 'S256',
      redirect_uri: 'http://127.0.0.1/console/auth/callback',
    });
    const sealed = Buffer.from(cookie.split(/[.;]/)[1] ?? '', 'base64url').toString('latin1');
    expect(sealed).not.toContain(searchParams.get('state'));
  });

  it.each(['//evil.example', '/\\evil.example', 'https://evil.example/console/', '/console/../../evil', '/v1/limits'])(
    'a sign-in does not redirect to %s',
    async (returnTo) => {
      expect(await signInAtProvider(openBrowser(api.url), { account: 'dana', returnTo })).toBe('/console/');
    },
  );

  it("a sign-in ends the browser's previous session", async () => {
    const browser = openBrowser(api.url);
    await signInAtProvider(browser, { account: 'dana' });
    const before = browser.cookies();
    await signInAtProvider(browser, { account: 'carl' });
    expect(browser.cookies()).not.toBe(before);
    expect((await fetch(api.url + audiencePath, { headers: { cookie: before } })).status).toBe(401);
  });

  it('a sign-in reports that the issuer is down', async () => {
    const other = await startConsoleProvider();
    const own = await startApi({ ...stores.environment, ...other.settings }, 'console-issuer-down');
    await other.close();
    try {
      const begun = await fetch(`${own.url}/console/auth/sign-in`, { redirect: 'manual' });
      expect(begun.headers.get('location')).toBe('/console/sign-in?error=issuer_unavailable');
      expect((await openBrowser(own.url).session()).signed_in).toBe(false);
    } finally {
      await stopProcess(own.child);
    }
  });
});
