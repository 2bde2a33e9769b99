import { ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { connectS3 } from '../../src/adapters/s3/connect.ts';
import { connectSharedStorage } from '../../src/entry/shared-bucket.ts';
import { storageProvisioner } from '../../src/entry/storage-provisioner.ts';
import { provisionPartner } from '../../src/usecases/admin/manage-partners.ts';
import { apiClient } from '../acceptance/api-client.ts';
import { device } from '../support/device-id.ts';
import { rememberSecrets } from '../support/known-secrets.ts';
import { type Ran, runInlet } from '../support/run-inlet.ts';
import { startService } from '../support/running-service.ts';
import { type TestStores, createStores } from '../support/stores.ts';
import { type Wired, wireUp } from '../support/wired.ts';

const issuedSchema = z.object({
  api_key: z.string(),
  storage: z.object({ prefix: z.string(), access_key_id: z.null(), secret_access_key: z.null() }),
});

describe('concurrent provisioning', () => {
  let stores: TestStores;
  let deps: Wired;

  beforeAll(async () => {
    stores = await createStores('one');
    deps = await wireUp(stores);
  });
  afterAll(async () => {
    await deps.close();
    await stores.drop();
  });

  it('concurrent operators create one partner with working credentials, and all but one operator get an error', async () => {
    const name = `twice-${process.pid}-${Date.now().toString(36)}`;
    const storage = storageProvisioner(stores.config, deps.s3);
    const results = await Promise.allSettled(
      Array.from({ length: 4 }, () => provisionPartner({ ...deps, storage }, name)),
    );
    const made = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    const refused = results.flatMap((result) => (result.status === 'rejected' ? [String(result.reason)] : []));
    expect(made).toHaveLength(1);
    expect(refused.every((reason) => reason.includes('already'))).toBe(true);
    const [partner] = made;
    if (!partner) throw new Error('no operator created the partner');
    const s3 = connectS3({
      endpoint: stores.config.INLET_S3_ENDPOINT ?? null,
      region: stores.config.INLET_S3_REGION,
      accessKeyId: partner.storage.accessKeyId,
      secretAccessKey: partner.storage.secretAccessKey,
    });
    const listed = await s3.send(
      new ListObjectsV2Command({ Bucket: partner.storage.bucket, Prefix: partner.storage.prefix }),
    );
    expect(listed.KeyCount).toBe(0);
    s3.destroy();
  });
});

describe("storage without Ceph's admin API", () => {
  let stores: TestStores;

  beforeAll(async () => {
    stores = await createStores('one');
  });
  afterAll(() => stores.drop());

  const name = `bare-${process.pid}-${Date.now().toString(36)}`;
  const create = (...options: string[]): Promise<Ran> => {
    const {
      INLET_STORAGE_ADMIN_ACCESS_KEY_ID: _user,
      INLET_STORAGE_ADMIN_SECRET_ACCESS_KEY: _secret,
      ...environment
    } = stores.environment;
    return runInlet(environment, ['partner', 'create', name, '--json', ...options]);
  };

  it('a partner is not created until a setting specifies who issues the credentials', async () => {
    const { code, err } = await create();
    expect([code, err]).toEqual([1, expect.stringContaining('--without-storage')]);
  });

  it('a partner is created with a prefix but without credentials, and can import files that others upload', async () => {
    const { code, out, err } = await create('--without-storage');
    const made = issuedSchema.parse(JSON.parse(out));
    rememberSecrets(made.api_key);
    expect([code, err]).toEqual([0, expect.stringContaining('storage credentials that are restricted to this prefix')]);
    expect(made.storage).toEqual({ prefix: `${name}/`, access_key_id: null, secret_access_key: null });
    await runInlet(stores.environment, ['attribute', 'create', '--partner', name, '--name', 'a', '--foreign-key', 'a']);
    const owner = connectSharedStorage(stores.config);
    const Key = `${made.storage.prefix}file.csv`;
    await owner.send(
      new PutObjectCommand({ Bucket: stores.config.INLET_S3_BUCKET, Key, Body: `${device(1)},a\n${device(2)},a\n` }),
    );
    owner.destroy();
    const service = await startService(stores.environment, 'without-storage');
    const client = apiClient(service.url, made.api_key);
    const record = await client.waitForEnd(await client.queue({ file_path: 'file.csv', key_type: 1 }));
    expect([record.status, record.unique_devices]).toEqual([2, '2']);
    await service.stop();
  });
});
