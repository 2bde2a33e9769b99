import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { device } from '../support/device-id.ts';
import { testBucket } from '../support/environment.ts';
import { createOwnBucket } from '../support/own-bucket.ts';
import { createOwnRole } from '../support/own-role.ts';
import { runOperator } from '../support/run-operator.ts';
import { type Marketplace, startMarketplace } from '../support/start-marketplace.ts';
import {
  type IdentityService,
  type TemporaryKeys,
  startIdentityService,
  temporaryKeysOf,
  webIdentityToken,
} from '../support/temporary-keys.ts';

describe('a service without static keys', () => {
  const folder = mkdtempSync(join(tmpdir(), 'inlet-identity-'));
  const tokenFile = join(folder, 'token');
  let keys: TemporaryKeys;
  let identities: IdentityService;
  let market: Marketplace;
  let settings: Record<string, string>;

  beforeAll(async () => {
    const [account, user] = await Promise.all([createOwnBucket(), createOwnBucket()]);
    keys = await temporaryKeysOf(user, await createOwnRole(account, user, { actions: ['s3:*'], bucket: testBucket }));
    identities = await startIdentityService(() => Promise.resolve(keys));
    writeFileSync(tokenFile, webIdentityToken);
    settings = {
      INLET_S3_ACCESS_KEY_ID: '',
      INLET_S3_SECRET_ACCESS_KEY: '',
      AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile,
      AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/inlet',
      AWS_REGION: 'us-east-1',
      AWS_ENDPOINT_URL_STS: identities.url,
      AWS_EC2_METADATA_DISABLED: 'true',
    };
    market = await startMarketplace('process-identity', settings);
    await market.partner.createAttribute('sport', 'sport');
  });
  afterAll(async () => {
    await market.stop();
    identities.close();
    rmSync(folder, { recursive: true });
  });

  it('imports a file from the shared bucket with its web identity', async () => {
    await market.partner.upload('a.csv', `${device(1)},sport\n`);
    const job = await market.api.queue({ file_path: 'a.csv', key_type: 1 });
    expect(await market.api.waitForEnd(job)).toMatchObject({ status: 2, total_rows: '1' });
    // The API and the worker reuse their credentials until they need to renew them, instead of requesting them for
    // every call.
    expect(identities.issued()).toBeGreaterThan(0);
    expect(identities.issued()).toBeLessThan(10);
  });

  it('inlet doctor shows the identity but never its secrets', async () => {
    const { out, err } = await runOperator({ ...market.stores.environment, ...settings }, ['doctor']);
    expect(out).toContain(
      `ok     Storage identity: access key ${keys.accessKeyId} from a web identity token (IRSA), valid until 20`,
    );
    expect(out).toContain('; roles of partners are assumed with the same identity');
    expect(out).toContain('ok     Shared bucket: ');
    for (const secret of [keys.secretAccessKey, keys.sessionToken]) expect(out + err).not.toContain(secret);
  });

  it('inlet doctor reports static keys, and a process without any identity', async () => {
    const withKeys = await runOperator(market.stores.environment, ['doctor']);
    const id = market.stores.environment['INLET_S3_ACCESS_KEY_ID'];
    expect(withKeys.out).toContain(
      `ok     Storage identity: access key ${id} from the settings; roles of partners cannot be assumed`,
    );
    const none = { ...settings, AWS_WEB_IDENTITY_TOKEN_FILE: '', AWS_ROLE_ARN: '' };
    const { out, code } = await runOperator({ ...market.stores.environment, ...none }, ['doctor']);
    expect(code).toBe(1);
    expect(out).toContain('FAIL   Storage identity: ');
    expect(out).toContain('Give the process an identity (IRSA, ');
  });
});
