import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { randomKeys } from '../../src/adapters/vault/keys.ts';
import type { NewApiKey } from '../../src/domain/api-key.ts';
import { type Scope, scopes } from '../../src/domain/caller.ts';
import { storageKeysOf, storageProvisioner } from '../../src/entry/storage-provisioner.ts';
import { createCustomer, createUserToken, revokeApiKey } from '../../src/usecases/admin/manage-keys.ts';
import { createAttribute } from '../../src/usecases/admin/manage-partners.ts';
import { insertDeletion } from '../support/insert-deletion.ts';
import { type AccessRow, type ForeignAccess, expectedAccess } from '../support/expected-access.ts';
import { addApiKey } from '../support/add-api-key.ts';
import { rememberSecrets } from '../support/known-secrets.ts';
import { operatorHeaders } from '../support/operator-session.ts';
import { type Answer, answerChecker, readAnswer } from '../support/openapi/check-answer.ts';
import { type DescribedOperation, operationsOf, parseOpenApi, readOpenApiText } from '../support/openapi/document.ts';
import { type ServiceProcess, startApi, stopProcess } from '../support/running-service.ts';
import { type TestStores, createStores, withDatabase } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';
import { type BarePartner, type Wired, newBarePartner, wireUp } from '../support/wired.ts';
import { apiClient } from './api-client.ts';
import { audienceClient } from './audience-client.ts';

// Calls every operation with every kind of insufficient credentials. The expected responses are in
// test/support/expected-access.ts.

const document = parseOpenApi(readOpenApiText());
const check = answerChecker(document);
const operations = operationsOf(document);
const rowOf = ({ operationId, deprecated }: DescribedOperation): AccessRow => {
  const found = expectedAccess[deprecated ? operationId.replace(/V1$/, '') : operationId];
  if (!found) throw new Error(`${operationId} needs a row in test/support/expected-access.ts`);
  return found;
};
const ofOperators = operations.filter((operation) => rowOf(operation).scope === 'operator');
const withKey = operations.filter((operation) => {
  const { scope } = rowOf(operation);
  return scope !== 'none' && scope !== 'operator';
});
const statusOfCode: Readonly<Record<string, number>> = { not_found: 404, unknown_keys: 422 };
const problemSchema = z.looseObject({ code: z.string(), detail: z.string() });

/** The IDs that an operation can have as parameters, by parameter name. */
type Ids = Readonly<
  Record<
    | 'import_log_id'
    | 'job_id'
    | 'failed_import_log_id'
    | 'audience_id'
    | 'other_audience_id'
    | 'file_id'
    | 'append_id'
    | 'doomed_audience_id'
    | 'default_warehouse_segment_id'
    | 'attribute_id'
    | 'key_id'
    | 'revoked_key_id'
    | 'customer_id'
    | 'token_id'
    | 'webhook_id'
    | 'subscription_id'
    | 'deletion_id',
    number
  >
>;
const unknownIds: Ids = {
  import_log_id: 999_999,
  job_id: 999_999,
  failed_import_log_id: 999_999,
  audience_id: 999_999,
  other_audience_id: 999_998,
  file_id: 999_999,
  append_id: 999_999,
  doomed_audience_id: 999_997,
  default_warehouse_segment_id: 999_999,
  attribute_id: 999_999,
  key_id: 999_999,
  revoked_key_id: 999_999,
  customer_id: 999_999,
  token_id: 999_999,
  webhook_id: 999_999,
  subscription_id: 999_999,
  deletion_id: 999_999,
};

async function firstChunkOf({ body }: Response): Promise<string> {
  for await (const bytes of body ?? []) return Buffer.from(bytes).toString();
  return '';
}

type AudienceClient = ReturnType<typeof audienceClient>;

async function createThree(client: AudienceClient) {
  const create = (name: string) => client.create(name, 'hidden/');
  return [await create('Secret'), await create('Other'), await create('Doomed')] as const;
}

type Credentials = { readonly apiKey?: string; readonly userToken?: string; readonly cookie?: string };

describe('insufficient credentials', () => {
  let serial = 0;
  let stores: TestStores;
  let deps: Wired;
  let api: ServiceProcess & { readonly url: string };
  let owner: BarePartner;
  /** Two other partners. One has no data. The other creates the resources that the table calls `own`. */
  let stranger: BarePartner;
  let maker: BarePartner;
  /** The IDs of the owner's resources and of its customer's resources. */
  let owners: Ids;
  let customers: Ids;
  const key = { unknown: '', broken: '', expired: '', revoked: '' };
  /** Tokens of two other customers of the owner. One has no data, and the other creates resources. */
  const token = { empty: '', maker: '' };
  const without = new Map<Scope, string>();
  let customerToken: string;
  const uploadIds = new Map<Ids, string>();
  const only = new Map<Scope, string>();
  const webhook: { id: number | null } = { id: null };
  const subscription: { id: number | null } = { id: null };
  const storageKey: { id: string | null } = { id: null };

  const newKey = (options: Partial<NewApiKey>): ReturnType<typeof addApiKey> => addApiKey(deps, owner, options);
  const newToken = async (name: string): Promise<string> => {
    await createCustomer(deps, owner.name, name);
    const { token: made } = await createUserToken(deps, owner.name, name);
    rememberSecrets(made.reveal());
    return made.reveal();
  };

  beforeAll(async () => {
    stores = await createStores('one');
    deps = await wireUp(stores);
    api = await startApi(stores.environment, 'credentials');
    [owner, stranger, maker] = [await newBarePartner(deps), await newBarePartner(deps), await newBarePartner(deps)];
    const storage = storageProvisioner(stores.config, deps.s3);
    for (const { name } of [owner, stranger, maker]) {
      const { secretAccessKey } = await storage.provision({ name, prefix: `${name}/` });
      rememberSecrets(secretAccessKey.reveal());
    }
    const { id: attribute } = await createAttribute(deps, owner.name, { name: 'sport', foreignKeys: ['sport'] });
    const { queue } = apiClient(api.url, owner.apiKey);
    const importLogId = await queue({ file_path: 'secret.csv', key_type: 1 });
    const failedImportLogId = await queue({ file_path: 'secret.csv', key_type: 1 });
    await withDatabase(stores, (client) =>
      client.query('UPDATE job SET status = 3 WHERE id = $1', [failedImportLogId]),
    );
    const deletionId = await withDatabase(stores, (client) => insertDeletion(client, owner.id));
    const first = await createCustomer(deps, owner.name, 'First');
    const [used, issued] = [
      await createUserToken(deps, owner.name, 'First'),
      await createUserToken(deps, owner.name, 'First'),
    ];
    customerToken = used.token.reveal();
    rememberSecrets(customerToken, issued.token.reveal());
    // A key with only this scope can rotate it.
    const [managed, ended] = [await newKey({ scopes: ['keys:write'] }), await newKey({})];
    const made = await Promise.all(
      [undefined, customerToken].map((userToken) => createThree(audienceClient(api.url, owner.apiKey, userToken))),
    );
    const ids = made.map(([{ audienceId, segmentId }, other, doomed]) => ({
      import_log_id: importLogId,
      job_id: importLogId,
      failed_import_log_id: failedImportLogId,
      attribute_id: attribute,
      key_id: managed.id,
      revoked_key_id: ended.id,
      customer_id: first.id,
      token_id: issued.id,
      audience_id: audienceId,
      other_audience_id: other.audienceId,
      file_id: 999_999,
      append_id: 999_999,
      doomed_audience_id: doomed.audienceId,
      default_warehouse_segment_id: segmentId,
      webhook_id: 0,
      subscription_id: 0,
      deletion_id: deletionId,
    }));
    [owners = unknownIds, customers = unknownIds] = ids;
    Object.assign(token, { empty: await newToken('Empty'), maker: await newToken('Maker') });
    const unknown = randomKeys('apiKey', 'test').issue().key.reveal();
    rememberSecrets(unknown);
    const broken = owner.apiKey.slice(0, -1) + (owner.apiKey.endsWith('0') ? '1' : '0');
    const [revoked, expired] = [await newKey({}), await newKey({ livesSeconds: 1 })];
    await revokeApiKey(deps, owner.name, revoked.id);
    Object.assign(key, { unknown, broken, expired: expired.apiKey, revoked: revoked.apiKey });
    for (const scope of scopes) {
      without.set(scope, (await newKey({ scopes: scopes.filter((one) => one !== scope) })).apiKey);
      only.set(scope, (await newKey({ scopes: [scope] })).apiKey);
    }
    const hash = deps.apiKeys.hash(key.expired);
    await waitUntil('the key has expired', async () => (await deps.partners.findByKeyHash(hash))?.isValid === false);
  });
  afterAll(async () => {
    await stopProcess(api.child);
    await deps.close();
    await stores.drop();
  });

  /** Returns a webhook of the owner. Creates it again if it was deleted. */
  async function webhookIdOf(ids: Ids): Promise<number> {
    if (ids === unknownIds) return unknownIds.webhook_id;
    webhook.id ??= await createWebhook();
    return webhook.id;
  }

  async function createWebhook(): Promise<number> {
    const answer = await fetch(`${api.url}/v1/webhooks`, {
      method: 'POST',
      headers: { authorization: `Bearer ${owner.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ url: 'https://example.com/secret' }),
    });
    const created = z.object({ webhook_id: z.int(), secret: z.string() }).parse(await answer.json());
    rememberSecrets(created.secret);
    return created.webhook_id;
  }

  /** Returns a subscription of the owner. Creates it again if it was deleted. */
  async function subscriptionIdOf(ids: Ids): Promise<number> {
    if (ids === unknownIds) return unknownIds.subscription_id;
    subscription.id ??= await createSubscription();
    return subscription.id;
  }

  async function createSubscription(): Promise<number> {
    const answer = await fetch(`${api.url}/v1/marketplace/subscriptions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${owner.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ prefix: 'secret/', key_type: 1, compressed: false }),
    });
    return z.object({ subscription_id: z.int() }).parse(await answer.json()).subscription_id;
  }

  /** Returns a storage key of the owner. Creates it again if it was revoked. */
  async function storageKeyIdOf(ids: Ids): Promise<string> {
    if (ids === unknownIds) return 'UNKNOWN';
    storageKey.id ??= await createStorageKey();
    return storageKey.id;
  }

  async function createStorageKey(): Promise<string> {
    const storageKeys = storageKeysOf(stores.config);
    if (!storageKeys) throw new Error('the test needs storage administrator credentials');
    const id = storageKeys.newId();
    rememberSecrets((await storageKeys.create(owner.name, id)).reveal());
    return id;
  }

  /** Returns the cookie of a partner's or a customer's session. */
  async function signIn(body: object): Promise<string> {
    const response = await fetch(`${api.url}/console/auth/api-key`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(200);
    const cookie = response.headers.get('set-cookie')?.split(';')[0] ?? '';
    rememberSecrets(cookie.split('=')[1] ?? '');
    return cookie;
  }

  /** Returns an open upload of the partner or customer that the IDs belong to. */
  async function uploadIdOf(ids: Ids): Promise<string> {
    if (ids === unknownIds) return 'unknown';
    const known = uploadIds.get(ids);
    if (known !== undefined) return known;
    const answer = await fetch(`${api.url}/v1/uploads`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${owner.apiKey}`,
        'content-type': 'application/json',
        ...(ids === customers ? { 'x-user-token': customerToken } : {}),
      },
      body: JSON.stringify({ file_path: 'hidden.csv', bytes: 5 }),
    });
    const { upload_id: uploadId } = z.object({ upload_id: z.string() }).parse(await answer.json());
    uploadIds.set(ids, uploadId);
    return uploadId;
  }

  /** Returns the IDs in the path. Some operations need a resource in another state. */
  async function targetOf({ operationId }: DescribedOperation, ids: Ids): Promise<Ids> {
    if (/^retryImport$|Rejects$/.test(operationId)) return { ...ids, import_log_id: ids.failed_import_log_id };
    if (operationId.startsWith('deleteAudience')) return { ...ids, audience_id: ids.doomed_audience_id };
    if (operationId === 'revokeKey') return { ...ids, key_id: ids.revoked_key_id };
    if (operationId === 'removeCustomer' && ids !== unknownIds)
      return { ...ids, customer_id: (await createCustomer(deps, owner.name, `removed ${(serial += 1)}`)).id };
    return ids;
  }

  async function ask(
    operation: DescribedOperation,
    ids: Ids,
    { apiKey, userToken, cookie }: Credentials,
  ): Promise<Answer> {
    const isOfUpload = operation.path.includes('{upload_id}');
    const upload = isOfUpload ? await uploadIdOf(ids) : '';
    if (operation.operationId === 'abortUpload') uploadIds.delete(ids);
    const isOfStorageKey = operation.path.includes('{access_key_id}');
    const accessKeyId = isOfStorageKey ? await storageKeyIdOf(ids) : '';
    const isOfSubscription = operation.path.includes('{subscription_id}');
    const isOfWebhook = operation.path.includes('{webhook_id}');
    const target = {
      ...(await targetOf(operation, ids)),
      ...(isOfWebhook && { webhook_id: await webhookIdOf(ids) }),
      ...(isOfSubscription && { subscription_id: await subscriptionIdOf(ids) }),
    };
    const path = Object.entries(target).reduce(
      (text, [name, id]) => text.replace(`{${name}}`, String(id)),
      operation.path.replace('{upload_id}', upload).replace('{access_key_id}', accessKeyId),
    );
    const [example] = Object.values(operation.requestBody?.content['application/json']?.examples ?? {});
    const bodies: Readonly<Record<string, unknown>> = {
      deleteAttributeData: { key_type: 0, keys: [String(ids.attribute_id)] },
      getOverlap: { audience_ids: [ids.audience_id, ids.other_audience_id] },
      createAttribute: { name: `own ${(serial += 1)}` },
      createCustomer: { name: `own ${(serial += 1)}` },
      createKey: { scopes: ['keys:write'] },
      replayEvents: { after: 0 },
    };
    const body = bodies[operation.operationId] ?? example?.value;
    const response = await fetch(api.url + path, {
      method: operation.method,
      headers: {
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
        ...(userToken === undefined ? {} : { 'x-user-token': userToken }),
        ...(cookie === undefined ? {} : { cookie }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (operation.operationId === 'deleteWebhook' && response.status === 204) webhook.id = null;
    if (operation.operationId === 'revokeStorageKey' && response.status === 204) storageKey.id = null;
    if (operation.operationId === 'deleteSubscription' && response.status === 204) subscription.id = null;
    // A stream might never end, so only its first bytes are compared.
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
    if (isStream) return { status: response.status, headers: response.headers, text: await firstChunkOf(response) };
    const answer = await readAnswer(response);
    expect(check(operation, answer), `${operation.operationId}: ${answer.text}`).toEqual([]);
    return answer;
  }

  /** Returns the response without IDs. Headers are included, because they can reveal as much as a body. */
  function comparable({ status, headers, text }: Answer): object {
    const bare = text
      .replaceAll(/"request_id":"[^"]*"/g, '')
      .replaceAll(/\/uploads\/[\w.-]+/g, '/uploads/ID')
      .replaceAll(/(storage-keys\/|Storage key )\w+/g, '$1ID')
      .replaceAll(/\d+/g, 'N');
    return { status, text: bare, type: headers.get('content-type'), names: [...headers.keys()].toSorted() };
  }

  function summaryOf({ status, text }: Answer): { status: number; code: string | null; detail: string | null } {
    const { code, detail } = status < 300 ? { code: null, detail: null } : problemSchema.parse(JSON.parse(text));
    return { status, code, detail };
  }

  /** Requests an existing and an unknown ID and expects indistinguishable responses. */
  async function askBoth(operation: DescribedOperation, ids: Ids, credentials: Credentials): Promise<Answer> {
    const [real, missing] = [await ask(operation, ids, credentials), await ask(operation, unknownIds, credentials)];
    expect(comparable(real)).toEqual(comparable(missing));
    return real;
  }

  it('the table contains exactly the operations in the OpenAPI document', () => {
    const known = operations.filter(({ deprecated }) => !deprecated).map(({ operationId }) => operationId);
    expect(Object.keys(expectedAccess).toSorted()).toEqual(known.toSorted());
    expect(withKey.length).toBeGreaterThan(15);
  });

  it.each([...withKey, ...ofOperators])(
    '$operationId: returns the same 401 for a missing, wrong, expired, or revoked key',
    async (operation) => {
      const first = await askBoth(operation, owners, {});
      expect(summaryOf(first)).toMatchObject({ status: 401, code: 'unauthenticated' });
      expect(first.headers.get('www-authenticate')).toBe('Bearer');
      for (const apiKey of Object.values(key)) {
        expect(comparable(await askBoth(operation, owners, { apiKey }))).toEqual(comparable(first));
      }
    },
  );

  it.each(withKey)(
    '$operationId: returns 403 with the missing scope and accepts a key with only that scope',
    async (operation) => {
      const { scope } = rowOf(operation);
      const sufficient = scopes.filter((one) => [scope].flat().includes(one));
      const documented = scope === 'any' ? [[]] : sufficient.map((one) => [one]);
      expect(operation.security.map(({ apiKey }) => apiKey)).toEqual(
        operation.security.map((_, n) => documented[n % documented.length]),
      );
      const isOneOfSeveral = sufficient.length > 1;
      const others = await newKey({ scopes: scopes.filter((one) => !sufficient.includes(one)) });
      for (const one of scope === 'any' ? scopes : sufficient) {
        const apiKey = isOneOfSeveral ? others.apiKey : (without.get(one) ?? '');
        const lacking = summaryOf(await askBoth(operation, owners, { apiKey }));
        const detail = `The API key lacks the scope ${sufficient.map((name) => `"${name}"`).join(' or ')}.`;
        expect(lacking).toEqual(
          scope === 'any' ? { ...lacking, code: null } : { status: 403, code: 'scope_missing', detail },
        );
        const enough = summaryOf(await ask(operation, owners, { apiKey: only.get(one) ?? '' }));
        // The audience has no failed file to dismiss and does not contain the append. No part is stored, and an
        // audience can be deleted only once. Operations detect this only after the scope check.
        const isIncomplete =
          /^(?:dismissFile|requestAudienceRejects|getAudienceRejects|cancelAppend|retryAppend|deleteAudience|completeUpload)/.test(
            operation.operationId,
          );
        const refusals = isIncomplete ? [401, 403] : [401, 403, 404, 422];
        expect(refusals).not.toContain(enough.status);
      }
    },
  );

  it.each(ofOperators)('$operationId: returns 403 to every key and every partner session', async (operation) => {
    const detail = 'Only an operator who is signed in to the console has the scope "operator".';
    const refusal = { status: 403, code: 'scope_missing', detail };
    const { cookie } = await operatorHeaders(stores);
    for (const apiKey of [owner.apiKey, stranger.apiKey, ...only.values()]) {
      expect(summaryOf(await askBoth(operation, owners, { apiKey }))).toEqual(refusal);
      // The key takes precedence over the cookie.
      expect(summaryOf(await askBoth(operation, owners, { apiKey, cookie }))).toEqual(refusal);
      expect(summaryOf(await askBoth(operation, owners, { apiKey, userToken: token.maker }))).toEqual(refusal);
    }
    const sessions = await Promise.all(
      [{}, { user_token: token.maker }].map((more) => signIn({ api_key: owner.apiKey, ...more })),
    );
    for (const session of sessions) {
      expect(summaryOf(await askBoth(operation, owners, { cookie: session }))).toEqual(refusal);
    }
    expect((await ask(operation, owners, { cookie })).status).toBe(200);
    expect(operation.security).toEqual([{ session: ['operator'] }]);
  });

  it.each(withKey)("$operationId: treats another partner's ID as unknown", async (operation) => {
    const { ofOtherPartner } = rowOf(operation);
    const { apiKey } = ofOtherPartner === 'own' ? maker : stranger;
    expect(await seenBy({ apiKey }, operation, ofOtherPartner, owners)).toBe(ofOtherPartner);
  });

  it.each(withKey)(
    "$operationId: returns no data of the customer or its partner to another customer's token",
    async (operation) => {
      const { ofOtherCustomer } = rowOf(operation);
      const userToken = ofOtherCustomer === 'own' ? token.maker : token.empty;
      for (const ids of [owners, customers]) {
        const credentials = { apiKey: owner.apiKey, userToken };
        expect(await seenBy(credentials, operation, ofOtherCustomer, ids)).toBe(ofOtherCustomer);
      }
    },
  );

  it.each(withKey.filter(({ security }) => security.some(({ userToken }) => userToken)))(
    "$operationId: returns 401 for any ID if the token belongs to another partner's customer",
    async (operation) => {
      const credentials = { apiKey: stranger.apiKey, userToken: token.maker };
      expect(summaryOf(await askBoth(operation, owners, credentials))).toMatchObject({
        status: 401,
        code: 'invalid_user_token',
      });
    },
  );

  /** A new webhook has its own secret. */
  const withoutSecret = (text: string): string =>
    text.replace(/"secret":"(whsec_[^"]*)"/, (_field, secret: string) => {
      rememberSecrets(secret);
      return '';
    });

  /** Returns the outcome as named in the table, or a description of an unexpected outcome. */
  async function seenBy(
    credentials: Credentials,
    operation: DescribedOperation,
    expected: ForeignAccess,
    ids: Ids,
  ): Promise<string> {
    // An operation that creates a resource is called once, because two calls would create two resources.
    const answer = await (expected === 'own' ? ask : askBoth)(operation, ids, credentials);
    const { status, code } = summaryOf(answer);
    if (status >= 300) return code !== null && status === statusOfCode[code] ? code : `${status} ${code}`;
    if (answer.text === '[]' && expected !== 'own') return 'empty';
    const isLeaked =
      credentials.apiKey !== owner.apiKey && /secret(?!_access_key)|hidden|sport/i.test(withoutSecret(answer.text));
    return isLeaked ? answer.text : 'own';
  }

  it.each(operations.filter((operation) => rowOf(operation).scope === 'none'))(
    '$operationId: requires no key and ignores any key',
    async (operation) => {
      expect(operation.security).toEqual([]);
      const first = await ask(operation, owners, {});
      expect(first.status).toBe(200);
      for (const apiKey of Object.values(key))
        expect(comparable(await ask(operation, owners, { apiKey }))).toEqual(comparable(first));
    },
  );
});
