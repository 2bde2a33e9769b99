import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { DemoProvider } from '../../dev/demo-provider.ts';
import { limitsSchema } from '../../src/adapters/http/routes/get-limits.ts';
import { createCustomer, createUserToken } from '../../src/usecases/admin/manage-keys.ts';
import { createAttribute } from '../../src/usecases/admin/manage-partners.ts';
import { addApiKey } from '../support/add-api-key.ts';
import {
  type Browser,
  openBrowser,
  signInAtProvider,
  signInWithKey,
  signInWithLink,
  startConsoleProvider,
} from '../support/console-sign-in.ts';
import { rememberSecrets } from '../support/known-secrets.ts';
import { operationsOf, parseOpenApi, readOpenApiText } from '../support/openapi/document.ts';
import { type Call, type Target, callsAt } from '../support/operation-calls.ts';
import { type Service, startService } from '../support/running-service.ts';
import { type TestStores, createStores, withDatabase } from '../support/stores.ts';
import { type BarePartner, type Wired, newBarePartner, wireUp } from '../support/wired.ts';
import { apiClient } from './api-client.ts';
import { audienceClient } from './audience-client.ts';

// Calls every operation with a session of every role, on data of every tenant. Add a row here for each new operation.

type Role = 'partner' | 'customer' | 'link' | 'operator';

/** What a role may do: nothing, use its own data, or read only the audience that a link opens. */
type Access = 'denied' | 'own' | 'linked';

const access = (partner: Access, customer: Access, link: Access): Readonly<Record<Role, Access>> => ({
  partner,
  customer,
  link,
  operator: 'denied',
});
const ofPartner = access('own', 'denied', 'denied');
const ofAudiences = access('own', 'own', 'denied');
const ofLink = access('own', 'own', 'linked');
const ofOperator = { ...access('denied', 'denied', 'denied'), operator: 'own' } as const;
const rows: Readonly<Record<string, Readonly<Record<Role, Access>>>> = {
  listImportLogs: ofPartner,
  getImportLog: ofPartner,
  followImportLog: ofPartner,
  queueImport: ofPartner,
  dryRunImport: ofPartner,
  deleteAttributeData: ofPartner,
  cancelImport: ofPartner,
  retryImport: ofPartner,
  listSubscriptions: ofPartner,
  getSubscription: ofPartner,
  createSubscription: ofPartner,
  updateSubscription: ofPartner,
  deleteSubscription: ofPartner,
  listSubscriptionObjects: ofPartner,
  requestDeletion: ofPartner,
  listDeletions: ofPartner,
  getDeletion: ofPartner,
  getDeletionProof: ofPartner,
  listImportErrors: ofPartner,
  listImportFiles: ofPartner,
  requestImportRejects: ofPartner,
  getImportRejects: ofPartner,
  listImportRejects: ofPartner,
  listAttributes: ofPartner,
  createAttribute: ofPartner,
  renameAttribute: ofPartner,
  retireAttribute: ofPartner,
  tieForeignKeys: ofPartner,
  untieForeignKeys: ofPartner,
  listKeys: ofPartner,
  createKey: ofPartner,
  rotateKey: ofPartner,
  revokeKey: ofPartner,
  listCustomers: ofPartner,
  createCustomer: ofPartner,
  renameCustomer: ofPartner,
  listUserTokens: ofPartner,
  createUserToken: ofPartner,
  revokeUserToken: ofPartner,
  removeCustomer: ofPartner,
  listWebhooks: ofPartner,
  getWebhook: ofPartner,
  createWebhook: ofPartner,
  updateWebhook: ofPartner,
  deleteWebhook: ofPartner,
  rotateWebhookSecret: ofPartner,
  testWebhook: ofPartner,
  listWebhookDeliveries: ofPartner,
  replayEvents: ofPartner,
  listAudiences: ofAudiences,
  getAudience: ofLink,
  listAudienceFiles: ofLink,
  followAudience: ofLink,
  createAudience: ofAudiences,
  appendFiles: ofAudiences,
  dismissFile: ofAudiences,
  cancelAppend: ofAudiences,
  retryAppend: ofAudiences,
  listAudienceHistory: ofAudiences,
  deleteAudience: ofAudiences,
  clearAudience: ofAudiences,
  listAudienceErrors: ofAudiences,
  requestAudienceRejects: ofAudiences,
  getAudienceRejects: ofAudiences,
  getComposition: ofLink,
  // Only an API key can create links.
  createConsoleLink: access('denied', 'denied', 'denied'),
  getOverlap: ofAudiences,
  listEvents: ofAudiences,
  getLimits: access('own', 'own', 'own'),
  startUpload: ofAudiences,
  getUpload: ofAudiences,
  completeUpload: ofAudiences,
  abortUpload: ofAudiences,
  listStorageKeys: ofPartner,
  rotateStorageKeys: ofPartner,
  revokeStorageKey: ofPartner,
  listOperatorLanes: ofOperator,
  listOperatorJobs: ofOperator,
  getOperatorJob: ofOperator,
  listOperatorPartners: ofOperator,
  getOperatorEngine: ofOperator,
  listOperatorBackups: ofOperator,
  listOperatorAlerts: ofOperator,
};

const documented = operationsOf(parseOpenApi(readOpenApiText()));
const statusSchema = z.looseObject({ code: z.string() });

type Tenant = { readonly target: Target & { readonly uploadId: string }; readonly marker: string };

describe('session access', () => {
  let stores: TestStores;
  let deps: Wired;
  let provider: DemoProvider;
  let api: Service;
  let partner: BarePartner;
  let userToken: string;
  const browsers = new Map<Role, Browser>();
  const tenants = new Map<string, Tenant>();

  const newTenant = async (marker: string, owner: BarePartner, customerName?: string): Promise<Tenant> => {
    const token = customerName === undefined ? undefined : await tokenOf(owner, customerName);
    const client = audienceClient(api.url, owner.apiKey, token);
    const importLogId = await apiClient(api.url, owner.apiKey).queue({ file_path: `${marker}.csv`, key_type: 1 });
    const attribute = await createAttribute(deps, owner.name, { name: marker, foreignKeys: [marker] });
    const first = await client.create(marker, `${marker}/`);
    const other = await client.create(`${marker} other`, `${marker}/`);
    const doomed = await client.create(`${marker} doomed`, `${marker}/`);
    const appendId = (await client.get(first.audienceId)).file[0]?.append_id ?? 0;
    const make = (path: string, body: unknown): Promise<string> => createAt(client.request, path, body);
    const makeOwn = (path: string, body: unknown): Promise<string> =>
      createAt(apiClient(api.url, owner.apiKey).request, path, body);
    const target = {
      importLogId,
      failedImportLogId: importLogId,
      attributeId: attribute.id,
      audienceId: first.audienceId,
      otherAudienceId: other.audienceId,
      segmentId: first.segmentId,
      fileId: await addFailedFile({ marker, owner, audienceId: first.audienceId, appendId }),
      ...(await newSpare(marker, owner)),
      openAppendId: appendId,
      failedAppendId: appendId,
      doomedAudienceId: doomed.audienceId,
      webhookId: Number(await makeOwn('/v1/webhooks', { url: `https://example.com/${marker}` })),
      subscriptionId: Number(
        await makeOwn('/v1/marketplace/subscriptions', { prefix: `${marker}/`, key_type: 1, compressed: false }),
      ),
      deletionId: Number(await makeOwn('/v1/privacy/deletions', { ids: ['a3f1c2d4-5678-90ab-cdef-1234567890ab'] })),
      uploadId: await make('/v1/uploads', { file_path: `${marker}.csv`, bytes: 5 }),
    };
    return { target, marker };
  };
  /** Returns the ID in the `Location` header. */
  const createAt = async (
    request: (path: string, init: RequestInit) => Promise<Response>,
    path: string,
    body: unknown,
  ): Promise<string> => {
    const headers = { 'content-type': 'application/json' };
    const response = await request(path, { method: 'POST', headers, body: JSON.stringify(body) });
    const id = response.headers.get('location')?.split('/').at(-1);
    const text = await response.text();
    if (id === undefined) throw new Error(`${path}: HTTP ${response.status}: ${text}`);
    const made: unknown = JSON.parse(text);
    if (typeof made === 'object' && made !== null && 'secret' in made) rememberSecrets(String(made.secret));
    return id;
  };
  /** No file is uploaded, so the entry is written to the table. */
  const addFailedFile = (of: { marker: string; owner: BarePartner; audienceId: number; appendId: number }) =>
    withDatabase(stores, async (client) => {
      const { rows: made } = await client.query<{ id: string }>(
        `INSERT INTO job_file (job_id, partner_id, key, path, etag, size, status, batch_id, audience_id, generation,
           failure_code, failure_detail)
         VALUES ($1, $2, $3, $3, 'e', 1, 3, 1, $4, 0, 'empty_file', $3) RETURNING id`,
        [of.appendId, of.owner.id, `${of.marker}.csv`, of.audienceId],
      );
      return Number(made[0]?.id);
    });
  /** A key and a customer that nothing else uses. */
  const newSpare = async (marker: string, owner: BarePartner) => {
    const key = await addApiKey(deps, owner, { name: marker, scopes: ['audience:read'] });
    const customer = await createCustomer(deps, owner.name, `${marker} spare`);
    const token = await createUserToken(deps, owner.name, customer.name);
    rememberSecrets(token.token.reveal());
    return { keyId: key.id, customerId: customer.id, tokenId: token.id };
  };
  const tokens = new Map<string, string>();
  const tokenOf = async (owner: BarePartner, name: string): Promise<string> => {
    const known = tokens.get(`${owner.name} ${name}`);
    if (known !== undefined) return known;
    await createCustomer(deps, owner.name, name);
    const token = (await createUserToken(deps, owner.name, name)).token.reveal();
    rememberSecrets(token);
    tokens.set(`${owner.name} ${name}`, token);
    return token;
  };
  const linkTo = async ({ target }: Tenant): Promise<string> => {
    const client = audienceClient(api.url, partner.apiKey, userToken);
    const path = `/v2/firstparty/segments/${target.segmentId}/console-links`;
    const link = z.object({ url: z.string() }).parse(await (await client.request(path, { method: 'POST' })).json());
    rememberSecrets(new URL(link.url).hash.slice(1));
    return link.url;
  };

  beforeAll(async () => {
    stores = await createStores('one');
    deps = await wireUp(stores);
    provider = await startConsoleProvider();
    provider.setAccounts([{ id: 'olga', name: 'Olga', claims: { inlet_role: 'operator' } }]);
    api = await startService({ ...stores.environment, ...provider.settings }, 'console-access');
    partner = await newBarePartner(deps);
    userToken = await tokenOf(partner, 'Retail Co');
    tenants.set('partner', await newTenant('marker-partner', partner));
    tenants.set('customer', await newTenant('marker-customer', partner, 'Retail Co'));
    tenants.set('link', await newTenant('marker-link', partner, 'Retail Co'));
    tenants.set('otherCustomer', await newTenant('marker-other-customer', partner, 'Other Co'));
    tenants.set('otherPartner', await newTenant('marker-other-partner', await newBarePartner(deps)));
    browsers.set('partner', await signInWithKey(api.url, partner.apiKey));
    browsers.set('customer', await signInWithKey(api.url, partner.apiKey, userToken));
    browsers.set('link', await signInWithLink(api.url, await linkTo(tenantOf('link'))));
    const operator = openBrowser(api.url);
    await signInAtProvider(operator, { account: 'olga' });
    browsers.set('operator', operator);
  });
  afterAll(async () => {
    await api.stop();
    await provider.close();
    await deps.close();
    await stores.drop();
  });

  function tenantOf(name: string): Tenant {
    const tenant = tenants.get(name);
    if (!tenant) throw new Error(`no tenant ${name}`);
    return tenant;
  }
  function browserOf(role: Role): Browser {
    const browser = browsers.get(role);
    if (!browser) throw new Error(`no browser for ${role}`);
    return browser;
  }
  /** One call to each operation, including the event streams. */
  function callsOf({ target }: Tenant): Call[] {
    const streams = [
      { operation: 'followImportLog', method: 'GET', path: `/v1/marketplace/import/${target.importLogId}/events` },
      { operation: 'followAudience', method: 'GET', path: `/v2/firstparty/audience/${target.audienceId}/events` },
    ];
    const upload = `/v1/uploads/${target.uploadId}`;
    const uploads = [
      { operation: 'getUpload', method: 'GET', path: upload },
      { operation: 'startUpload', method: 'POST', path: '/v1/uploads', body: { file_path: 'any.csv', bytes: 5 } },
      { operation: 'completeUpload', method: 'POST', path: `${upload}/complete`, body: {} },
      { operation: 'abortUpload', method: 'DELETE', path: upload, body: {} },
    ];
    // These changes would need a storage user. The body is invalid and is rejected after the access check.
    const storageKeys = [
      { operation: 'listStorageKeys', method: 'GET', path: '/v1/storage-keys' },
      { operation: 'rotateStorageKeys', method: 'POST', path: '/v1/storage-keys/rotate', body: { overlap_hours: -1 } },
      { operation: 'revokeStorageKey', method: 'DELETE', path: '/v1/storage-keys/ANY', body: { reason: 'any' } },
    ];
    return [...streams, ...uploads, ...storageKeys, ...operatorCalls(target), ...callsAt(target)];
  }
  const operatorCalls = ({ importLogId }: Target): Call[] =>
    documented
      .filter(({ path }) => path.startsWith('/v1/operator/'))
      .map(({ operationId, method, path }) => ({
        operation: operationId,
        method,
        path: path.replaceAll(/\{\w+\}/g, String(importLogId)),
      }));
  async function ask(browser: Browser, { method, path, body }: Call): Promise<{ status: number; text: string }> {
    const abort = new AbortController();
    const response = await browser.request(path, {
      method,
      signal: abort.signal,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const { status } = response;
    if (!response.headers.get('content-type')?.startsWith('text/event-stream'))
      return { status, text: await response.text() };
    // A stream might not end.
    abort.abort();
    return { status, text: '' };
  }
  const codeOf = (text: string): string => statusSchema.parse(JSON.parse(text)).code;

  it('session access is specified for every documented operation', () => {
    const operations = documented.filter(({ deprecated, path }) => !deprecated && !path.startsWith('/health'));
    expect(Object.keys(rows).toSorted()).toEqual(operations.map(({ operationId }) => operationId).toSorted());
    const called = new Set(callsOf(tenantOf('partner')).map(({ operation }) => operation));
    expect([...called].toSorted()).toEqual(Object.keys(rows).toSorted());
  });

  const cases = (['operator', 'link', 'customer', 'partner'] as const).flatMap((role) =>
    ['otherPartner', 'otherCustomer', 'partner', 'customer', 'link'].map((tenant) => ({ role, tenant })),
  );

  it.each(cases)(
    'session access is as specified for the role $role and data of the tenant $tenant',
    async ({ role, tenant }) => {
      const browser = browserOf(role);
      const { marker, target } = tenantOf(tenant);
      const isOwn = role === tenant || (role === 'customer' && tenant === 'link');
      const wrong: string[] = [];
      for (const call of callsOf({ marker, target })) {
        const { status, text } = await ask(browser, call);
        const allowed = rows[call.operation]?.[role];
        const isDenied = status === 403 && codeOf(text) === 'scope_missing';
        const expectsDenial = allowed === 'denied' || (allowed === 'linked' && !isOwn);
        const problem = `${call.operation}: HTTP ${status} ${text.slice(0, 200)}`;
        if (isDenied !== expectsDenial || (status === 403 && !isDenied) || status === 401 || status >= 500)
          wrong.push(problem);
        // Imports belong to the partner, so a partner reads those that this test created for its customers.
        const isOfPartner = rows[call.operation] === ofPartner && role === 'partner' && tenant !== 'otherPartner';
        // A partner may list the audiences of its customers.
        const isListed = call.path.endsWith('customer=*') && role === 'partner' && tenant !== 'otherPartner';
        // An operator sees the paths of all jobs.
        const isOfOperator = allowed === 'own' && role === 'operator';
        const mayKnow =
          isListed ||
          isOwn ||
          isOfPartner ||
          isOfOperator ||
          call.operation === 'listEvents' ||
          call.operation === 'listImportLogs';
        if (!mayKnow && text.includes(marker)) wrong.push(`reveals ${problem}`);
        if (expectsDenial || isOfOperator || !/\/\d+|\/uploads\/./.test(call.path)) continue;
        // Another tenant's data is reported as missing, whatever the call would do with it.
        const isForeign = !isOwn && !isOfPartner;
        // A customer's path outside its folder is rejected before anything is looked up. The other call is a rename.
        const isPathRejected = status === 400 && codeOf(text) === 'invalid_file_path';
        if (isForeign && status !== 404 && !isPathRejected) wrong.push(`finds ${problem}`);
        // The same operation on the role's own data shows that the call itself is valid. Nothing was exported.
        const readsOwn = !isForeign && call.method === 'GET' && !/(?:Rejects|Proof)$/.test(call.operation);
        if (readsOwn && status === 404) wrong.push(problem);
      }
      expect(wrong).toEqual([]);
    },
  );

  it.each(['cross-site', 'same-site'])(
    'session access is denied for every request that a %s page starts',
    async (site) => {
      const headers = { 'sec-fetch-site': site };
      for (const role of ['partner', 'customer', 'link'] as const) {
        const browser = browserOf(role);
        const before = await (await browser.request('/v1/limits')).text();
        const calls = callsOf(tenantOf(role)).filter(({ operation }) => rows[operation]?.[role] !== 'denied');
        expect(calls.map(({ operation }) => operation)).toContain('getComposition');
        for (const { operation, method, path, body } of calls) {
          const response = await browser.request(path, {
            method,
            headers,
            ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          });
          const text = await response.text();
          expect([response.status, codeOf(text)], `${operation} ${role}`).toEqual([403, 'csrf_token_invalid']);
        }
        // No report was computed, so the privacy budget is unchanged.
        const { reports } = limitsSchema.parse(await (await browser.request('/v1/limits')).json());
        expect(reports).toEqual(limitsSchema.parse(JSON.parse(before)).reports);
      }
      for (const { path } of operationsOf(parseOpenApi(readOpenApiText()))) {
        if (!path.startsWith('/v1/operator/')) continue;
        const response = await browserOf('operator').request(path.replaceAll(/\{\w+\}/g, '1'), { headers });
        expect([response.status, codeOf(await response.text())], path).toEqual([403, 'csrf_token_invalid']);
      }
    },
  );

  it('requires a CSRF token for every operation whose method is not GET', async () => {
    const browser = await signInWithKey(api.url, partner.apiKey);
    const stranger = await signInWithKey(api.url, partner.apiKey);
    const unsafe = documented.filter(({ method, path }) => method !== 'GET' && !path.startsWith('/health'));
    expect(unsafe.length).toBeGreaterThan(8);
    for (const { method, path, operationId } of unsafe) {
      const url = path.replaceAll(/\{\w+\}/g, '1');
      for (const given of ['', 'wrong', stranger.csrfToken()]) {
        const response = await browser.request(url, { method, headers: { 'x-csrf-token': given } });
        const text = await response.text();
        expect([response.status, codeOf(text)], `${operationId} ${given}`).toEqual([403, 'csrf_token_invalid']);
      }
      const right = await browser.request(url, { method });
      expect(await right.text(), operationId).not.toContain('csrf_token_invalid');
    }
    const out = await browser.request('/console/auth/sign-out', { method: 'POST', headers: { 'x-csrf-token': 'x' } });
    expect([out.status, codeOf(await out.text())]).toEqual([403, 'csrf_token_invalid']);
    expect((await browser.session()).signed_in).toBe(true);
  });
});
