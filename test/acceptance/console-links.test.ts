import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createCustomer, createUserToken, revokeUserToken } from '../../src/usecases/admin/manage-keys.ts';
import { addApiKey } from '../support/add-api-key.ts';
import { openBrowser, signInWithKey, signInWithLink } from '../support/console-sign-in.ts';
import { rememberSecrets } from '../support/known-secrets.ts';
import { type ServiceProcess, startApi, stopProcess } from '../support/running-service.ts';
import { type TestStores, createStores, withDatabase } from '../support/stores.ts';
import { type BarePartner, type Wired, newBarePartner, wireUp } from '../support/wired.ts';
import { type AudienceClient, audienceClient, audiencePath } from './audience-client.ts';

const linkSchema = z.strictObject({ url: z.string(), expires_at: z.iso.datetime() });

describe("one-time links to an audience's report", () => {
  let stores: TestStores;
  let deps: Wired;
  let api: ServiceProcess & { readonly url: string };
  let partner: BarePartner;
  let client: AudienceClient;
  let segmentId: number;
  let audienceId: number;
  let otherId: number;

  beforeAll(async () => {
    stores = await createStores('one');
    deps = await wireUp(stores);
    api = await startApi(stores.environment, 'console-links');
    partner = await newBarePartner(deps);
    await createCustomer(deps, partner.name, 'Retail Co');
    const { token } = await createUserToken(deps, partner.name, 'Retail Co');
    rememberSecrets(token.reveal());
    client = audienceClient(api.url, partner.apiKey, token.reveal());
    ({ segmentId, audienceId } = await client.create('Summer', 'a.csv'));
    ({ audienceId: otherId } = await client.create('Winter', 'a.csv'));
  });
  afterAll(async () => {
    await stopProcess(api.child);
    await deps.close();
    await stores.drop();
  });

  const pathOf = (segment: number): string => `/v2/firstparty/segments/${segment}/console-links`;
  async function createLink(segment = segmentId): Promise<z.infer<typeof linkSchema>> {
    const response = await client.request(pathOf(segment), { method: 'POST' });
    expect(response.status).toBe(201);
    const link = linkSchema.parse(await response.json());
    rememberSecrets(new URL(link.url).hash.slice(1));
    return link;
  }
  const open = (url: string): Promise<Response> =>
    openBrowser(api.url).exchange('link', { token: new URL(url).hash.slice(1) });
  const codeOf = async (response: Response): Promise<unknown> => [
    response.status,
    /"code":"(\w+)"/.exec(await response.text())?.[1],
  ];

  it('a link opens a session that can read one audience of the customer', async () => {
    const link = await createLink();
    expect(link.url).toMatch(/^http:\/\/127\.0\.0\.1\/console\/open#[\w-]{43}$/);
    const seconds = (Date.parse(link.expires_at) - Date.now()) / 1000;
    expect(seconds).toBeGreaterThan(50);
    expect(seconds).toBeLessThanOrEqual(61);
    const browser = await signInWithLink(api.url, link.url);
    expect(browser.signedIn).toMatchObject({
      role: 'link',
      name: 'Retail Co',
      partner: partner.name,
      customer: 'Retail Co',
      scopes: ['audience:read'],
      segment_id: segmentId,
      audience_id: audienceId,
    });
    expect((await browser.request(`${audiencePath}/${audienceId}`)).status).toBe(200);
    expect((await browser.request(`${audiencePath}/${audienceId}/files`)).status).toBe(200);
    expect(await codeOf(await browser.request(`${audiencePath}/${otherId}`))).toEqual([403, 'scope_missing']);
    expect(await codeOf(await browser.request(audiencePath))).toEqual([403, 'scope_missing']);
  });

  it('a link works once, even if many browsers open it at the same time', async () => {
    const { url } = await createLink();
    const statuses = await Promise.all(Array.from({ length: 10 }, async () => (await open(url)).status));
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 401)).toHaveLength(9);
    expect(await codeOf(await open(url))).toEqual([401, 'console_link_invalid']);
  });

  it('an expired link does not work', async () => {
    const { url } = await createLink();
    await withDatabase(stores, (db) => db.query('UPDATE console_link SET expires_at = now()'));
    expect(await codeOf(await open(url))).toEqual([401, 'console_link_invalid']);
  });

  it('a changed link does not work', async () => {
    const { url } = await createLink();
    const token = new URL(url).hash.slice(1);
    const first = token.startsWith('A') ? 'B' : 'A';
    for (const changed of [first + token.slice(1), token.slice(1), `${token}A`, ''])
      expect(await codeOf(await open(`${url.split('#')[0]}#${changed}`)), changed).toEqual([
        401,
        'console_link_invalid',
      ]);
    expect((await open(url)).status).toBe(200);
  });

  it("a link to another tenant's segment cannot be created", async () => {
    const stranger = await newBarePartner(deps);
    const ofPartner = await audienceClient(api.url, partner.apiKey).create('Of partner', 'a.csv');
    const ofStranger = await audienceClient(api.url, stranger.apiKey).create('Of stranger', 'a.csv');
    for (const segment of [ofPartner.segmentId, ofStranger.segmentId, 999_999]) {
      const response = await client.request(pathOf(segment), { method: 'POST' });
      expect(await codeOf(response), String(segment)).toEqual([404, 'not_found']);
    }
  });

  it('a console session cannot create links', async () => {
    const browser = await signInWithKey(api.url, partner.apiKey);
    const { segmentId: own } = await audienceClient(api.url, partner.apiKey).create('Own', 'a.csv');
    expect(await codeOf(await browser.request(pathOf(own), { method: 'POST' }))).toEqual([403, 'scope_missing']);
  });

  it('revoking an API key ends its links and the sessions that they opened', async () => {
    const { apiKey, id } = await addApiKey(deps, partner);
    const own = audienceClient(api.url, apiKey);
    const made = await audienceClient(api.url, partner.apiKey).create('Of a key', 'a.csv');
    const links = [];
    for (let n = 0; n < 2; n += 1) {
      const { url } = linkSchema.parse(await (await own.request(pathOf(made.segmentId), { method: 'POST' })).json());
      rememberSecrets(new URL(url).hash.slice(1));
      links.push(url);
    }
    const [used = '', unused = ''] = links;
    const browser = await signInWithLink(api.url, used);
    const path = `${audiencePath}/${made.audienceId}`;
    expect((await browser.request(path)).status).toBe(200);
    await deps.keys.revoke(partner.id, id);
    expect((await browser.request(path)).status).toBe(401);
    expect(await codeOf(await open(unused))).toEqual([401, 'console_link_invalid']);
  });

  it('revoking a user token ends its links and the sessions that they opened', async () => {
    const { token, id } = await createUserToken(deps, partner.name, 'Retail Co');
    rememberSecrets(token.reveal());
    const own = audienceClient(api.url, partner.apiKey, token.reveal());
    const links = [];
    for (let n = 0; n < 2; n += 1) {
      const { url } = linkSchema.parse(await (await own.request(pathOf(segmentId), { method: 'POST' })).json());
      rememberSecrets(new URL(url).hash.slice(1));
      links.push(url);
    }
    const [used = '', unused = ''] = links;
    const browser = await signInWithLink(api.url, used);
    const other = await signInWithLink(api.url, (await createLink()).url);
    const path = `${audiencePath}/${audienceId}`;
    expect((await browser.request(path)).status).toBe(200);
    await revokeUserToken(deps, partner.name, id);
    expect((await browser.request(path)).status).toBe(401);
    expect(await codeOf(await open(unused))).toEqual([401, 'console_link_invalid']);
    expect((await other.request(path)).status).toBe(200);
  });

  it('a partner can have 1,000 unused links', async () => {
    await withDatabase(stores, (db) =>
      db.query(
        `INSERT INTO console_link (token_hash, partner_id, api_key_id, segment_id, audience_id, expires_at)
         SELECT sha256(n::text::bytea), $1, (SELECT min(id) FROM api_key WHERE partner_id = $1), 1, 1, now() + interval '1 minute'
         FROM generate_series(1, 1000) n`,
        [partner.id],
      ),
    );
    const response = await client.request(pathOf(segmentId), { method: 'POST' });
    expect(response.headers.get('retry-after')).toBe('60');
    expect(await codeOf(response)).toEqual([429, 'too_many_requests']);
    await withDatabase(stores, (db) => db.query(`UPDATE console_link SET expires_at = now() - interval '1 second'`));
    await createLink();
    expect(await deps.retentionStore.removeExpiredSessions(10_000)).toBeGreaterThanOrEqual(1_000);
    expect(await deps.retentionStore.removeExpiredSessions(10_000)).toBe(0);
  });

  it('an address that tries many tokens is throttled', async () => {
    const limited = await startApi({ ...stores.environment, INLET_WRONG_KEYS_PER_ADDRESS: '3' }, 'console-tokens');
    try {
      const statuses = [];
      for (let n = 0; n < 5; n += 1) {
        const body = { token: String(n).padStart(43, '0') };
        statuses.push((await openBrowser(limited.url).exchange('link', body)).status);
      }
      expect(statuses.slice(0, 3)).toEqual([401, 401, 401]);
      expect(statuses).toContain(429);
      // Cookies count too.
      const sessions = [];
      for (let n = 0; n < 5; n += 1) {
        const browser = openBrowser(limited.url);
        browser.setCookie('inlet_session', String(n).padStart(43, '1'));
        sessions.push((await browser.request('/console/auth/session')).status);
      }
      expect(sessions).toContain(429);
    } finally {
      await stopProcess(limited.child);
    }
  });
});
