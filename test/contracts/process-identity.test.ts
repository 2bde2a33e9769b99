import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { describeIdentity } from '../../src/adapters/s3/describe-identity.ts';
import { s3ObjectStore } from '../../src/adapters/s3/object-store.ts';
import { s3RejectStorage } from '../../src/adapters/s3/reject-storage.ts';
import { s3UploadStorage } from '../../src/adapters/s3/upload-storage.ts';
import { connectSharedStorage, publicBucketOf } from '../../src/entry/shared-bucket.ts';
import { transientErrorKind } from '../../src/adapters/transient-errors.ts';
import { configFor, environmentFor, testBucket } from '../support/environment.ts';
import { createOwnBucket } from '../support/own-bucket.ts';
import { createOwnRole } from '../support/own-role.ts';
import {
  type IdentityService,
  type TemporaryKeys,
  containerToken,
  startIdentityService,
  temporaryKeysOf,
  webIdentityToken,
} from '../support/temporary-keys.ts';

const awsVariables = [
  'AWS_PROFILE',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  'AWS_SESSION_TOKEN',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'AWS_ROLE_ARN',
  'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
  'AWS_CONTAINER_CREDENTIALS_FULL_URI',
  'AWS_ENDPOINT_URL_STS',
];

describe('the process identity', () => {
  const {
    INLET_S3_ACCESS_KEY_ID: _id,
    INLET_S3_SECRET_ACCESS_KEY: _secret,
    ...environment
  } = environmentFor({
    database: 'unused',
    topology: 'one',
  });
  const config = configFor(environment);
  const folder = mkdtempSync(join(tmpdir(), 'inlet-identity-'));
  let keys: TemporaryKeys;
  let service: IdentityService;

  beforeAll(async () => {
    const [account, user] = await Promise.all([createOwnBucket(), createOwnBucket()]);
    const actions = ['s3:ListBucket', 's3:GetObject', 's3:PutObject', 's3:DeleteObject', 's3:AbortMultipartUpload'];
    const parts = ['s3:ListMultipartUploadParts'];
    const roleArn = await createOwnRole(account, user, { actions: [...actions, ...parts], bucket: testBucket });
    keys = await temporaryKeysOf(user, roleArn);
    service = await startIdentityService(() => Promise.resolve(keys));
    writeFileSync(join(folder, 'token'), webIdentityToken);
  });
  afterAll(() => {
    service.close();
    rmSync(folder, { recursive: true });
  });
  beforeEach(() => {
    Object.assign(service, { isUp: true, lifetimeMs: 900_000 });
    // The developer's own identity must not affect the tests.
    for (const name of awsVariables) vi.stubEnv(name, undefined);
    vi.stubEnv('AWS_CONFIG_FILE', '/dev/null');
    vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', '/dev/null');
    vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
  });
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  const sources: Readonly<Record<string, () => Record<string, string>>> = {
    'environment variables AWS_*': () => ({
      AWS_ACCESS_KEY_ID: keys.accessKeyId,
      AWS_SECRET_ACCESS_KEY: keys.secretAccessKey,
      AWS_SESSION_TOKEN: keys.sessionToken,
    }),
    'a web identity token (IRSA)': () => ({
      AWS_WEB_IDENTITY_TOKEN_FILE: join(folder, 'token'),
      AWS_ROLE_ARN: 'arn:aws:iam::123456789012:role/inlet',
      AWS_REGION: 'us-east-1',
      AWS_ENDPOINT_URL_STS: service.url,
    }),
    'the container (EKS Pod Identity or ECS)': () => ({
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${service.url}/container`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN: containerToken,
    }),
    'an AWS profile': () => {
      const text = `[inlet]\naws_access_key_id=${keys.accessKeyId}\naws_secret_access_key=${keys.secretAccessKey}\naws_session_token=${keys.sessionToken}\n`;
      writeFileSync(join(folder, 'credentials'), text, { mode: 0o600 });
      return { AWS_PROFILE: 'inlet', AWS_SHARED_CREDENTIALS_FILE: join(folder, 'credentials') };
    },
    'the instance or another source': () => ({
      AWS_EC2_METADATA_DISABLED: 'false',
      AWS_EC2_METADATA_SERVICE_ENDPOINT: service.url,
    }),
  };
  const use = (source: string): void => {
    for (const [name, value] of Object.entries(sources[source]?.() ?? {})) vi.stubEnv(name, value);
  };

  it.each(Object.keys(sources))('reads, writes, and signs URLs with credentials from %s', async (source) => {
    use(source);
    const s3 = connectSharedStorage(config);
    const described = await describeIdentity(s3);
    expect(described).toContain(`access key ${keys.accessKeyId} from ${source}`);
    expect(described).not.toContain(keys.secretAccessKey);
    expect(described).not.toContain(keys.sessionToken);
    const prefix = `identity-${randomUUID()}/`;
    const { signal } = new AbortController();
    const rejects = s3RejectStorage(s3, publicBucketOf(config));
    await rejects.write(`${prefix}a.csv`, Readable.from([Buffer.from('some bytes')]), signal);
    const [object] = await s3ObjectStore(s3, testBucket).list(prefix, 10);
    if (!object) throw new Error('nothing was listed');
    const read = await s3ObjectStore(s3, testBucket).read(object, 100, signal);
    expect(Buffer.from(read?.content ?? []).toString()).toBe('some bytes');
    expect(await (await fetch(await rejects.urlOf(object.key, 60))).text()).toBe('some bytes');
    const uploads = s3UploadStorage(s3, publicBucketOf(config));
    const upload = { key: `${prefix}b.csv`, ...(await uploads.start(`${prefix}b.csv`)) };
    const [url = ''] = await uploads.urlsOf(upload, [{ partNumber: 1, bytes: 4 }], 60);
    expect((await fetch(url, { method: 'PUT', body: 'four' })).status).toBe(200);
    expect(await uploads.complete(upload, (await uploads.listParts(upload)) ?? [])).toBe(true);
    await rejects.remove(prefix, () => true, signal);
    s3.destroy();
  });

  it('never signs a URL for longer than its credentials are valid', async () => {
    service.lifetimeMs = 600_000;
    use('the container (EKS Pod Identity or ECS)');
    const s3 = connectSharedStorage(config);
    const url = new URL(await s3RejectStorage(s3, publicBucketOf(config)).urlOf('a.csv', 3_600));
    const seconds = Number(url.searchParams.get('X-Amz-Expires'));
    expect(seconds).toBeLessThanOrEqual(600);
    expect(seconds).toBeGreaterThan(500);
    expect(url.searchParams.get('X-Amz-Security-Token')).toBe(keys.sessionToken);
    s3.destroy();
  });

  it('requests new credentials only shortly before the old ones expire', async () => {
    use('the container (EKS Pod Identity or ECS)');
    const s3 = connectSharedStorage(config);
    const before = service.issued();
    for (let call = 0; call < 3; call++) await s3ObjectStore(s3, testBucket).list('none/', 1);
    expect(service.issued()).toBe(before + 1);
    s3.destroy();
    // The SDK renews credentials that expire within five minutes.
    service.lifetimeMs = 60_000;
    const short = connectSharedStorage(config);
    await s3ObjectStore(short, testBucket).list('none/', 1);
    service.lifetimeMs = 900_000;
    await s3ObjectStore(short, testBucket).list('none/', 1);
    // It renews them in the background, and uses the old ones until it has new ones.
    await vi.waitFor(async () => {
      const url = new URL(await s3RejectStorage(short, publicBucketOf(config)).urlOf('a.csv', 3_600));
      expect(Number(url.searchParams.get('X-Amz-Expires'))).toBeGreaterThan(600);
    }, 20_000);
    short.destroy();
  });

  it('fails without credentials, and works as soon as they are available', async () => {
    use('the container (EKS Pod Identity or ECS)');
    service.isUp = false;
    const s3 = connectSharedStorage(config);
    const error: unknown = await s3ObjectStore(s3, testBucket)
      .list('none/', 1)
      .catch((reason: unknown) => reason);
    expect(transientErrorKind(error)).not.toBeNull();
    service.isUp = true;
    expect(await s3ObjectStore(s3, testBucket).list('none/', 1)).toEqual([]);
    s3.destroy();
    vi.unstubAllEnvs();
    vi.stubEnv('AWS_CONFIG_FILE', '/dev/null');
    vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', '/dev/null');
    vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
    const none = connectSharedStorage(config);
    const nothing: unknown = await describeIdentity(none).catch((reason: unknown) => reason);
    expect(transientErrorKind(nothing)).toBe('away');
    none.destroy();
  });
});
