import { ListObjectsV2Command, S3ServiceException } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { rotatedStorageKeySchema, storageKeySchema } from '../../src/adapters/http/records/storage-key.ts';
import { connectS3 } from '../../src/adapters/s3/connect.ts';
import { Secret } from '../../src/domain/secret.ts';
import { readAddresses } from '../../stack/addresses.ts';
import { signInWithKey } from '../support/console-sign-in.ts';
import { rememberSecrets } from '../support/known-secrets.ts';
import { startFaultyProxy } from '../support/faulty-proxy.ts';
import { type TestPartner, createPartner } from '../support/partners.ts';
import { type ServiceProcess, startApi, stopProcess } from '../support/running-service.ts';
import { type Marketplace, startMarketplace } from '../support/start-marketplace.ts';
import { withDatabase } from '../support/stores.ts';
import { waitUntil } from '../support/wait-until.ts';

type Rotated = z.infer<typeof rotatedStorageKeySchema>;
const listSchema = z.array(storageKeySchema);

describe('storage keys', () => {
  let market: Marketplace;
  let withoutAdmin: ServiceProcess & { readonly url: string };
  let partner: TestPartner;

  beforeAll(async () => {
    market = await startMarketplace('storage-keys');
    const {
      INLET_STORAGE_ADMIN_ACCESS_KEY_ID: _id,
      INLET_STORAGE_ADMIN_SECRET_ACCESS_KEY: _secret,
      ...settings
    } = market.stores.environment;
    withoutAdmin = await startApi(settings, 'storage-keys-none');
    partner = await createPartner(market.stores.environment);
  });
  afterAll(async () => {
    await stopProcess(withoutAdmin.child);
    await market.stop();
  });

  const send = (
    method: string,
    path: string,
    { apiKey = partner.apiKey, url = market.service.url, body, ...headers }: Record<string, string> = {},
  ): Promise<Response> =>
    fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${apiKey}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
    });
  async function rotate(overlapHours: number, headers: Record<string, string> = {}): Promise<Rotated> {
    const body = JSON.stringify({ overlap_hours: overlapHours });
    const response = await send('POST', '/v1/storage-keys/rotate', { body, ...headers });
    expect(response.status).toBe(201);
    const rotated = rotatedStorageKeySchema.parse(await response.json());
    if (rotated.secret_access_key !== null) rememberSecrets(rotated.secret_access_key);
    return rotated;
  }
  const revoke = (accessKeyId: string, headers: Record<string, string> = {}): Promise<Response> =>
    send('DELETE', `/v1/storage-keys/${accessKeyId}`, headers);
  const list = async (apiKey = partner.apiKey) =>
    listSchema.parse(await (await send('GET', '/v1/storage-keys', { apiKey })).json());
  async function works(accessKeyId: string, secret: string | null, of = partner): Promise<boolean> {
    const { endpoint, region } = readAddresses().s3;
    const s3 = connectS3({ endpoint, region, accessKeyId, secretAccessKey: new Secret(secret ?? '') });
    try {
      await s3.send(new ListObjectsV2Command({ Bucket: of.bucket, Prefix: of.prefix }));
      return true;
    } catch (error) {
      if (error instanceof S3ServiceException && error.$metadata.httpStatusCode === 403) return false;
      throw error;
    } finally {
      s3.destroy();
    }
  }
  /** Returns the actors that changed the key, as the audit log names them. */
  const changesOf = async (accessKeyId: string): Promise<string[]> =>
    withDatabase(market.stores, async (client) => {
      const { rows } = await client.query<{ actor: string }>(
        `SELECT actor FROM audit_log WHERE event = 'storage_key.update' AND subject_id = (
           SELECT subject_id FROM audit_log WHERE event = 'storage_key.insert' AND detail->>'access_key_id' = $1)
         ORDER BY id`,
        [accessKeyId],
      );
      return rows.map(({ actor }) => actor);
    });
  const codeOf = async (response: Response): Promise<string> =>
    z.looseObject({ code: z.string() }).parse(await response.json()).code;

  it('a rotation adds a key for the same prefix, and the old key works during the overlap', async () => {
    const { accessKeyId, secretAccessKey } = partner.storageKeys;
    expect(await list()).toEqual([
      { access_key_id: accessKeyId, created_at: null, created_by: null, expires_at: null },
    ]);
    const made = await rotate(72);
    expect(made.replaces.map(({ access_key_id }) => access_key_id)).toEqual([accessKeyId]);
    expect(await works(made.access_key_id, made.secret_access_key)).toBe(true);
    expect(await works(accessKeyId, secretAccessKey)).toBe(true);
    expect(JSON.stringify(await list())).not.toContain(made.secret_access_key);
  });

  it('a rotation with an overlap of 0 makes all other keys stop working within seconds', async () => {
    const { accessKeyId, secretAccessKey } = partner.storageKeys;
    const made = await rotate(0);
    await waitUntil('the old key has ended', async () => !(await works(accessKeyId, secretAccessKey)), 40);
    await waitUntil('only the new key is left', async () => (await list()).length === 1, 40);
    expect((await list())[0]).toMatchObject({ access_key_id: made.access_key_id, expires_at: null });
    expect(await works(made.access_key_id, made.secret_access_key)).toBe(true);
  });

  it('a repeated request creates no second key, and the secret is stored nowhere in PostgreSQL', async () => {
    const made = await rotate(72, { 'idempotency-key': 'rotate-1' });
    const again = await rotate(72, { 'idempotency-key': 'rotate-1' });
    expect(again).toMatchObject({ access_key_id: made.access_key_id, secret_access_key: null });
    expect(await list()).toHaveLength(2);
    const stored = await withDatabase(market.stores, async (client) =>
      JSON.stringify(
        (
          await client.query(
            `SELECT to_jsonb(a)::text FROM accepted_request a UNION ALL SELECT to_jsonb(l)::text FROM audit_log l
             UNION ALL SELECT to_jsonb(k)::text FROM storage_key k`,
          )
        ).rows,
      ),
    );
    expect(stored).toContain(made.access_key_id);
    expect(stored).not.toContain(made.secret_access_key);
    expect(stored).toMatch(/storage_key\.insert.*key \d+|key \d+.*storage_key\.insert/);
  });

  it('a storage user has a limited number of keys, even if several rotations run concurrently', async () => {
    const responses = await Promise.all(
      Array.from({ length: 5 }, () => send('POST', '/v1/storage-keys/rotate', { body: '{}' })),
    );
    const codes: string[] = [];
    for (const response of responses) {
      if (response.status === 201) {
        const { secret_access_key: secret } = rotatedStorageKeySchema.parse(await response.json());
        rememberSecrets(secret ?? '');
      } else codes.push(await codeOf(response));
    }
    expect(codes).toEqual(['quota_exceeded', 'quota_exceeded']);
    expect(await list()).toHaveLength(5);
  });

  it('a rotation that exceeds the maximum number of keys is rejected but lets all other keys expire', async () => {
    const response = await send('POST', '/v1/storage-keys/rotate', { body: JSON.stringify({ overlap_hours: 1 }) });
    expect([response.status, await codeOf(response)]).toEqual([422, 'quota_exceeded']);
    const end = Date.now() + 3_600_000;
    for (const { expires_at } of await list()) expect(Date.parse(expires_at ?? '')).toBeLessThanOrEqual(end);
  });

  it('a rotation without an overlap works at the maximum number of keys, and ends all other keys before it returns', async () => {
    expect(await list()).toHaveLength(5);
    const made = await rotate(0);
    expect((await list()).map(({ access_key_id }) => access_key_id)).toEqual([made.access_key_id]);
    expect(made.replaces).toHaveLength(5);
    expect(await works(made.access_key_id, made.secret_access_key)).toBe(true);
  });

  it('a rotation that exceeds the quota for idempotency keys changes nothing', async () => {
    const { id, apiKey } = await createPartner(market.stores.environment);
    const before = await list(apiKey);
    await withDatabase(market.stores, (client) =>
      client.query('INSERT INTO partner_usage (partner_id, idempotency_keys) VALUES ($1, 1000000)', [id]),
    );
    const headers = { apiKey, 'idempotency-key': 'too-many' };
    const response = await send('POST', '/v1/storage-keys/rotate', { body: '{}', ...headers });
    expect([response.status, await codeOf(response)]).toEqual([422, 'quota_exceeded']);
    expect(await list(apiKey)).toEqual(before);
  });

  it('after a rotation is killed, its new key is removed and the partner has access again', async () => {
    const interrupted = await createPartner(market.stores.environment);
    const { apiKey, storageKeys } = interrupted;
    const hasAccess = () => works(storageKeys.accessKeyId, storageKeys.secretAccessKey, interrupted);
    let kill = (): unknown => null;
    const gateway = await startFaultyProxy(readAddresses().s3.endpoint, ({ url }) => {
      if (!url?.includes('Action=PutUserPolicy')) return 'pass';
      kill();
      return 'unavailable';
    });
    const settings = { ...market.stores.environment, INLET_S3_ENDPOINT: gateway.url };
    const victim = await startApi(settings, 'storage-keys-killed');
    kill = () => victim.child.kill('SIGKILL');
    const request = { url: victim.url, apiKey, body: '{}' };
    await expect(send('POST', '/v1/storage-keys/rotate', request)).rejects.toThrow('fetch failed');
    await gateway.close();
    expect(await list(apiKey)).toHaveLength(2);
    expect(await hasAccess()).toBe(false);

    await waitUntil('the partner has access again', hasAccess, 90);
    const left = await list(apiKey);
    expect(left.map(({ access_key_id }) => access_key_id)).toEqual([storageKeys.accessKeyId]);
    expect(left[0]?.expires_at).not.toBeNull();
  });

  it('a revocation ends one key before it returns, keeps the other keys, and is recorded', async () => {
    const revoker = await createPartner(market.stores.environment);
    const { apiKey, storageKeys } = revoker;
    const made = await rotate(72, { apiKey });
    const other = await rotate(72, { apiKey });
    const before = await changesOf(made.access_key_id);
    const response = await revoke(made.access_key_id, { apiKey });
    expect([response.status, await response.text()]).toEqual([204, '']);
    expect((await list(apiKey)).map(({ access_key_id }) => access_key_id)).toEqual(
      expect.arrayContaining([storageKeys.accessKeyId, other.access_key_id]),
    );
    expect(await list(apiKey)).toHaveLength(2);
    expect(await works(made.access_key_id, made.secret_access_key, revoker)).toBe(false);
    expect(await works(storageKeys.accessKeyId, storageKeys.secretAccessKey, revoker)).toBe(true);
    expect(await works(other.access_key_id, other.secret_access_key, revoker)).toBe(true);
    expect(await changesOf(made.access_key_id)).toEqual([...before, expect.stringMatching(/^key \d+$/)]);
    const again = await revoke(made.access_key_id, { apiKey });
    expect([again.status, await codeOf(again)]).toEqual([404, 'not_found']);
  });

  it('a repeated revocation with the same Idempotency-Key gets the same response', async () => {
    const { apiKey } = await createPartner(market.stores.environment);
    const made = await rotate(72, { apiKey });
    const headers = { apiKey, 'idempotency-key': 'revoke-1' };
    expect((await revoke(made.access_key_id, headers)).status).toBe(204);
    const again = await revoke(made.access_key_id, headers);
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([204, 'true']);
  });

  it('the last key can be revoked, and a rotation creates another one', async () => {
    const revoker = await createPartner(market.stores.environment);
    const { apiKey, storageKeys } = revoker;
    expect((await revoke(storageKeys.accessKeyId, { apiKey })).status).toBe(204);
    expect(await list(apiKey)).toEqual([]);
    expect(await works(storageKeys.accessKeyId, storageKeys.secretAccessKey, revoker)).toBe(false);
    const made = await rotate(24, { apiKey });
    expect(made.replaces).toEqual([]);
    expect(await works(made.access_key_id, made.secret_access_key, revoker)).toBe(true);
  });

  it("another partner's key cannot be found or revoked", async () => {
    const { apiKey, storageKeys, ...other } = await createPartner(market.stores.environment);
    const response = await revoke(storageKeys.accessKeyId);
    expect([response.status, await codeOf(response)]).toEqual([404, 'not_found']);
    expect(await list(apiKey)).toHaveLength(1);
    const owner = { ...other, apiKey, storageKeys };
    expect(await works(storageKeys.accessKeyId, storageKeys.secretAccessKey, owner)).toBe(true);
  });

  it.each(['before', 'after'])(
    'a revocation that is killed %s the storage removes the key still takes effect',
    async (moment) => {
      const interrupted = await createPartner(market.stores.environment);
      const { apiKey, storageKeys } = interrupted;
      const made = await rotate(72, { apiKey });
      let kill = (): unknown => null;
      const gateway = await startFaultyProxy(readAddresses().s3.endpoint, ({ url, method }) => {
        const isLast = moment === 'before' ? method === 'DELETE' : url?.includes('Action=PutUserPolicy');
        if (!isLast) return 'pass';
        kill();
        return 'unavailable';
      });
      const settings = { ...market.stores.environment, INLET_S3_ENDPOINT: gateway.url };
      const victim = await startApi(settings, `storage-keys-revoked-${moment}`);
      kill = () => victim.child.kill('SIGKILL');
      await expect(revoke(made.access_key_id, { url: victim.url, apiKey })).rejects.toThrow('fetch failed');
      await gateway.close();

      const left = async (): Promise<string[]> => (await list(apiKey)).map(({ access_key_id }) => access_key_id);
      await waitUntil('the key is removed', async () => (await left()).length === 1, 90);
      expect(await left()).toEqual([storageKeys.accessKeyId]);
      const { accessKeyId, secretAccessKey } = storageKeys;
      await waitUntil('the other key works', () => works(accessKeyId, secretAccessKey, interrupted), 90);
      expect(await works(made.access_key_id, made.secret_access_key, interrupted)).toBe(false);
    },
  );

  it('managing storage keys requires the scope storage:write, and no customer session can do it', async () => {
    const made = await send('POST', '/v1/keys', {
      body: JSON.stringify({ scopes: ['marketplace:write', 'audience:write', 'keys:write'] }),
    });
    const { api_key: apiKey } = z.looseObject({ api_key: z.string() }).parse(await made.json());
    rememberSecrets(apiKey);
    const { userToken } = await partner.createCustomer('Globex');
    const session = await signInWithKey(market.service.url, partner.apiKey, userToken);
    for (const [method, path] of [
      ['GET', '/v1/storage-keys'],
      ['POST', '/v1/storage-keys/rotate'],
      ['DELETE', `/v1/storage-keys/${partner.storageKeys.accessKeyId}`],
    ] as const) {
      const withKey = await send(method, path, { apiKey, ...(method === 'POST' ? { body: '{}' } : {}) });
      expect([withKey.status, await codeOf(withKey)]).toEqual([403, 'scope_missing']);
      const bySession = await session.request(path, { method, ...(method === 'POST' ? { body: '{}' } : {}) });
      expect([bySession.status, await codeOf(bySession)]).toEqual([403, 'scope_missing']);
    }
  });

  it('without storage administrator credentials, the API reports that it cannot manage storage keys', async () => {
    const response = await send('GET', '/v1/storage-keys', { url: withoutAdmin.url });
    expect([response.status, await codeOf(response)]).toEqual([400, 'storage_keys_not_available']);
  });
});
