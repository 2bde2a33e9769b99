import { type Server, createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AwsIdentity, type RoleSettings, assumeRole } from '../../src/adapters/s3/assume-role.ts';
import { connectS3 } from '../../src/adapters/s3/connect.ts';
import { partnerObjectStore } from '../../src/adapters/s3/partner-object-store.ts';
import { quickGet } from '../../src/adapters/s3/quick-get.ts';
import { Failure } from '../../src/domain/failure.ts';
import { loopback } from '../hostile/fake-storage.ts';
import { type OwnBucket, createOwnBucket } from '../support/own-bucket.ts';
import { type ExternalIdCheck, createOwnRole, startExternalIdCheck } from '../support/own-role.ts';

const region = 'us-east-1';

describe("assuming a partner's role", () => {
  let check: ExternalIdCheck;
  let own: OwnBucket;
  let inlet: OwnBucket;
  let roleArn: string;

  beforeAll(async () => {
    check = await startExternalIdCheck();
    [own, inlet] = await Promise.all([createOwnBucket(), createOwnBucket()]);
    roleArn = await createOwnRole(own, inlet);
    await own.upload('in/a.csv', 'some bytes');
    check.conditions.set(roleArn, 'of-partner-1');
  });
  afterAll(() => check.close());

  const settings = (by = inlet): RoleSettings => ({
    identity: () => Promise.resolve(by.credentials),
    endpoint: check.endpoint,
    networks: loopback,
  });
  const role = (changes: object = {}) => ({ roleArn, region, partnerId: 1, externalId: 'of-partner-1', ...changes });

  it('returns credentials that are valid for an hour and can read only one bucket', async () => {
    const keys = await assumeRole(settings(), role());
    const hour = keys.expiresAt.getTime() - Date.now();
    expect(hour).toBeGreaterThan(3_500_000);
    expect(hour).toBeLessThan(3_700_000);
    const store = (bucket: string) =>
      partnerObjectStore({ bucket, credentials: keys, endpoint: check.endpoint, networks: loopback });
    const { signal } = new AbortController();
    const readable = store(own.bucket);
    const [object] = await readable.list('in/', 10);
    if (!object) throw new Error('nothing was listed');
    // A HEAD response has the time in whole seconds.
    const { lastModified: _lastModified, ...version } = object;
    expect(await readable.find('in/a.csv')).toMatchObject(version);
    const read = await readable.read(object, 100, signal);
    expect(Buffer.from(read?.content ?? []).toString()).toBe('some bytes');
    // Sends a signed request without the SDK, which would retry a rejected request.
    const client = connectS3({ endpoint: check.endpoint, ...keys });
    expect((await quickGet(client, own.bucket, object, signal))?.toString()).toBe('some bytes');
    client.destroy();
    const { body, head } = await readable.open(object, signal);
    expect(Buffer.from(head).toString()).toBe('some bytes');
    body.destroy();
    readable.close();
    const other = store(inlet.bucket);
    await expect(other.list('in/', 10)).rejects.toMatchObject({ code: 'storage_access_denied' });
    other.close();
  });

  it("fails with another partner's ExternalId, for an unknown role, and for a role that trusts another user", async () => {
    const stranger = await createOwnBucket();
    for (const ask of [
      () => assumeRole(settings(), role({ externalId: 'of-partner-2' })),
      () => assumeRole(settings(), role({ roleArn: 'arn:aws:iam:::role/none' })),
      () => assumeRole(settings(stranger), role()),
    ]) {
      await expect(ask()).rejects.toMatchObject({ code: 'role_refused' });
    }
  });

  it('fails when the role requires no ExternalId, because any partner could then use that role', async () => {
    const open = await createOwnBucket();
    const openRole = await createOwnRole(open, inlet);
    await expect(assumeRole(settings(), role({ roleArn: openRole }))).rejects.toMatchObject({
      code: 'role_unprotected',
    });
  });
});

describe('the STS client', () => {
  let server: Server;
  let endpoint: string;
  let answer = { status: 0, code: '' };
  let partnerSucceeds = false;
  const tokens: unknown[] = [];

  const keys = `<Credentials><AccessKeyId>KEY</AccessKeyId><SecretAccessKey>not-a-secret</SecretAccessKey>
    <SessionToken>token</SessionToken><Expiration>2100-01-01T00:00:00Z</Expiration></Credentials>`;

  beforeAll(async () => {
    server = createServer((request, response) => {
      void (async () => {
        tokens.push(request.headers['x-amz-security-token']);
        const isOfThePartner = new URLSearchParams(await text(request)).get('ExternalId') === 'x';
        if (isOfThePartner && partnerSucceeds) {
          response.end(`<AssumeRoleResponse><AssumeRoleResult>${keys}</AssumeRoleResult></AssumeRoleResponse>`);
          return;
        }
        const error = `<Error><Type>Sender</Type><Code>${answer.code}</Code><Message>no</Message></Error>`;
        response.writeHead(answer.status, { 'content-type': 'text/xml', location: 'http://127.0.0.1:9/' });
        response.end(`<ErrorResponse>${error}</ErrorResponse>`);
      })();
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('the server has no port');
    endpoint = `http://127.0.0.1:${address.port}`;
  });
  afterAll(() => {
    server.close();
  });

  const staticKeys: AwsIdentity = async () => ({ accessKeyId: 'KEY', secretAccessKey: 'secret' });
  const assume = (identity = staticKeys) =>
    assumeRole(
      { identity, endpoint, networks: loopback },
      { roleArn: 'arn:aws:iam::123456789012:role/a', region, partnerId: 1, externalId: 'x' },
    );

  it.each([
    { status: 403, code: 'AccessDenied', isFinal: true },
    { status: 400, code: 'ValidationError', isFinal: true },
    { status: 404, code: 'NoSuchEntity', isFinal: true },
    { status: 403, code: 'InvalidClientTokenId', isFinal: false },
    { status: 403, code: 'SignatureDoesNotMatch', isFinal: false },
    { status: 403, code: 'RegionDisabledException', isFinal: false },
    { status: 400, code: 'Throttling', isFinal: false },
    { status: 500, code: 'InternalFailure', isFinal: false },
    { status: 307, code: 'Elsewhere', isFinal: false },
  ])('treats $status $code as a permanent failure: $isFinal', async ({ status, code, isFinal }) => {
    [partnerSucceeds, answer] = [false, { status, code }];
    const error: unknown = await assume().catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Error);
    expect(error instanceof Failure && error.code === 'role_refused').toBe(isFinal);
  });

  it.each(['AccessDenied', 'AccessDeniedException'])(
    'returns credentials when STS rejects a wrong ExternalId with 403 %s',
    async (code) => {
      [partnerSucceeds, answer] = [true, { status: 403, code }];
      expect(await assume()).toMatchObject({ accessKeyId: 'KEY' });
    },
  );

  it("sends the session token of Inlet's temporary credentials", async () => {
    [partnerSucceeds, answer] = [true, { status: 403, code: 'AccessDenied' }];
    tokens.length = 0;
    const identity = async () => ({ accessKeyId: 'KEY', secretAccessKey: 'secret', sessionToken: 'session' });
    await assume(identity);
    expect(tokens).toEqual(['session', 'session']);
  });

  it("never reports a failure of Inlet's identity as a failure of the role", async () => {
    const error = Object.assign(new Error('no credentials'), { name: 'CredentialsProviderError' });
    await expect(assume(() => Promise.reject(error))).rejects.toBe(error);
  });

  it.each([
    { status: 400, code: 'RequestThrottled' },
    { status: 403, code: 'AnUnknownCode' },
    { status: 403, code: '' },
    { status: 400, code: 'ValidationError' },
    { status: 404, code: 'NoSuchEntity' },
    { status: 500, code: 'AccessDenied' },
  ])(
    'returns no credentials and retries when STS responds to a wrong ExternalId with $status "$code"',
    async (given) => {
      [partnerSucceeds, answer] = [true, given];
      const error: unknown = await assume().catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(Error);
      expect(error).not.toBeInstanceOf(Failure);
    },
  );
});
