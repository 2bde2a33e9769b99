import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connectS3 } from '../../src/adapters/s3/connect.ts';
import { storageProvisioner } from '../../src/entry/storage.ts';
import { provisionPartner } from '../../src/usecases/provision-partner.ts';
import { createStores, type TestStores } from '../support/stores.ts';
import { wireUp, type Wired } from '../support/wired.ts';

describe('two operators who provision the same partner at once', () => {
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

  it('make one partner, whose credentials work; the others are told that it is there', async () => {
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
    if (!partner) throw new Error('nobody made the partner');
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
