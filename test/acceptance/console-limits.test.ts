import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { problemSchema } from '../../src/adapters/http/records/problem.ts';
import { limitsSchema } from '../../src/adapters/http/routes/get-limits.ts';
import { createCustomer, createUserToken } from '../../src/usecases/admin/manage-keys.ts';
import { type Browser, signInWithKey, signInWithLink } from '../support/console-sign-in.ts';
import { rememberSecrets } from '../support/known-secrets.ts';
import { readRateLimit } from '../support/rate-limit.ts';
import { type ServiceProcess, startApi, stopProcess } from '../support/running-service.ts';
import { type TestStores, createStores } from '../support/stores.ts';
import { type BarePartner, type Wired, newBarePartner, wireUp } from '../support/wired.ts';
import { audienceClient } from './audience-client.ts';

describe('the limits of console sessions', () => {
  const perKey = 30;
  const perPartner = 40;
  let stores: TestStores;
  let deps: Wired;
  let api: ServiceProcess & { readonly url: string };

  beforeAll(async () => {
    stores = await createStores('one');
    deps = await wireUp(stores);
    const settings = { INLET_REQUESTS_PER_KEY: String(perKey), INLET_REQUESTS_PER_PARTNER: String(perPartner) };
    api = await startApi({ ...stores.environment, ...settings }, 'console-limits');
  });
  afterAll(async () => {
    await stopProcess(api.child);
    await deps.close();
    await stores.drop();
  });

  const withKey = ({ apiKey }: BarePartner): Promise<Response> =>
    fetch(`${api.url}/v1/limits`, { headers: { authorization: `Bearer ${apiKey}` } });
  async function newCustomer({ name }: BarePartner): Promise<string> {
    await createCustomer(deps, name, 'Retail Co');
    const token = (await createUserToken(deps, name, 'Retail Co')).token.reveal();
    rememberSecrets(token);
    return token;
  }
  async function openLink(partner: BarePartner, userToken: string): Promise<Browser> {
    const client = audienceClient(api.url, partner.apiKey, userToken);
    const { segmentId } = await client.create('Summer', 'a.csv');
    const created = await client.request(`/v2/firstparty/segments/${segmentId}/console-links`, { method: 'POST' });
    const { url } = z.object({ url: z.string() }).parse(await created.json());
    rememberSecrets(new URL(url).hash.slice(1));
    return signInWithLink(api.url, url);
  }
  /** Sends requests until one is rejected, and returns that response. A window may end in the meantime. */
  async function exhaust(browser: Browser): Promise<Response> {
    for (let n = 0; n < 3 * perPartner; n += 1) {
      const response = await browser.request('/v1/limits');
      if (response.status !== 200) return response;
    }
    throw new Error('no request was rejected');
  }

  it("console limits are separate from the limits of API keys, so that a browser cannot use up a program's requests", async () => {
    const partner = await newBarePartner(deps);
    const link = await openLink(partner, await newCustomer(partner));
    const rejected = await exhaust(link);
    expect(rejected.status).toBe(429);
    expect(problemSchema.parse(await rejected.json())).toMatchObject({
      code: 'too_many_requests',
      detail: `Your sessions in the console have made ${perKey} requests in this minute, which is the limit.`,
    });
    expect(rejected.headers.get('ratelimit-policy')).toBe(
      `"session";q=${perKey};w=60, "audience";q=${perKey};w=60, "sessions";q=${perPartner};w=60`,
    );
    const left = readRateLimit(rejected.headers.get('ratelimit'));
    expect([left['session']?.['r'], left['sessions']?.['r']]).toEqual([0, perPartner - perKey]);
    const answers = await Promise.all(Array.from({ length: 10 }, () => withKey(partner)));
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200));
  });

  it('console limits apply to all sessions of a user together, and to all sessions of a partner together', async () => {
    const partner = await newBarePartner(deps);
    const [one, another] = [await signInWithKey(api.url, partner.apiKey), await signInWithKey(api.url, partner.apiKey)];
    const others = [];
    const userToken = await newCustomer(partner);
    for (let n = 0; n < 2; n += 1) others.push(await openLink(partner, userToken));
    await exhaust(one);
    expect((await another.request('/v1/limits')).status).toBe(429);
    const details = [];
    for (const browser of others) details.push(problemSchema.parse(await (await exhaust(browser)).json()).detail);
    expect(details.join()).toContain(`All of this partner's sessions in the console have made ${perPartner} requests`);
    expect((await withKey(partner)).status).toBe(200);
  });

  it("a partner's usage is shown only to the partner", async () => {
    const partner = await newBarePartner(deps);
    const userToken = await newCustomer(partner);
    const read = async (browser: Browser) =>
      limitsSchema.strict().parse(await (await browser.request('/v1/limits')).json());
    const ofPartner = await read(await signInWithKey(api.url, partner.apiKey));
    expect(ofPartner.quotas?.audiences).toEqual({ limit: 10_000, used: 0 });
    for (const browser of [
      await signInWithKey(api.url, partner.apiKey, userToken),
      await openLink(partner, userToken),
    ]) {
      const limits = await read(browser);
      expect(limits).not.toHaveProperty('quotas');
      expect(limits.reports.composition).toEqual({ limit: 100, used: 0, renews_at: null });
      expect(limits.gzip_file_bytes).toBe(ofPartner.gzip_file_bytes);
    }
  });
});
