import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { IdentityError, transientErrorKind } from '../transient-errors.ts';
import { connectS3 } from './connect.ts';

describe('the identity of the process', () => {
  const folder = mkdtempSync(join(tmpdir(), 'inlet-identity-'));
  let [status, code] = [403, 'AccessDenied'];
  // Responds as STS does if it rejects a web identity.
  const sts = createServer((_request, response) => {
    response.writeHead(status, { 'content-type': 'text/xml' });
    response.end(
      `<ErrorResponse><Error><Type>Sender</Type><Code>${code}</Code><Message>no</Message></Error></ErrorResponse>`,
    );
  });

  beforeAll(async () => {
    writeFileSync(join(folder, 'token'), 'token');
    await once(sts.listen(0, '127.0.0.1'), 'listening');
  });
  afterAll(() => {
    sts.close();
    rmSync(folder, { recursive: true });
  });
  beforeEach(() => {
    const address = sts.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    for (const name of ['AWS_PROFILE', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']) vi.stubEnv(name, undefined);
    vi.stubEnv('AWS_CONFIG_FILE', '/dev/null');
    vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', '/dev/null');
    vi.stubEnv('AWS_WEB_IDENTITY_TOKEN_FILE', join(folder, 'token'));
    vi.stubEnv('AWS_ROLE_ARN', 'arn:aws:iam::123456789012:role/inlet');
    vi.stubEnv('AWS_REGION', 'us-east-1');
    vi.stubEnv('AWS_ENDPOINT_URL_STS', `http://127.0.0.1:${port}`);
  });
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  it.each([
    [403, 'AccessDenied'],
    [400, 'InvalidIdentityToken'],
    [400, 'IDPCommunicationError'],
  ])(
    'counts as unavailable, not as denied by the storage, if STS responds with %i %s',
    async (withStatus, withCode) => {
      [status, code] = [withStatus, withCode];
      const client = connectS3({ endpoint: null, region: 'us-east-1', identity: 'of the process' });
      const error: unknown = await client
        .send(new ListObjectsV2Command({ Bucket: 'inlet' }))
        .catch((reason: unknown) => reason);
      if (!(error instanceof IdentityError)) throw new Error('another error', { cause: error });
      expect(error.message).toContain(withCode);
      expect(error.cause).toBeInstanceOf(Error);
      expect(transientErrorKind(error)).toBe('away');
      client.destroy();
    },
  );
});
