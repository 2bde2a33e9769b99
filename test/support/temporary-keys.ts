import { AssumeRoleCommand, STSClient } from '@aws-sdk/client-sts';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { readAddresses } from '../../stack/addresses.ts';
import { rememberSecrets } from './known-secrets.ts';
import type { OwnBucket } from './own-bucket.ts';

export type TemporaryKeys = {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string;
};

/** Obtains temporary credentials from the storage, as a partner does. */
export async function temporaryKeysOf(user: OwnBucket, roleArn: string): Promise<TemporaryKeys> {
  const { endpoint, region } = readAddresses().s3;
  const client = new STSClient({ endpoint, region, credentials: user.credentials });
  const command = new AssumeRoleCommand({ RoleArn: roleArn, RoleSessionName: 'partner', DurationSeconds: 900 });
  const {
    AccessKeyId: id,
    SecretAccessKey: secret,
    SessionToken: token,
  } = (await client.send(command)).Credentials ?? {};
  client.destroy();
  if (id === undefined || secret === undefined || token === undefined) throw new Error('no credentials');
  rememberSecrets(id, secret, token);
  return { accessKeyId: id, secretAccessKey: secret, sessionToken: token };
}

/** The lifetime of an identity. It is longer than the test takes. */
const lifetimeMs = 900_000;
export const containerToken = 'token of the container';
export const webIdentityToken = 'token of the service account';

export type IdentityService = {
  readonly url: string;
  /** The number of times that credentials were issued. */
  readonly issued: () => number;
  /** While false, the service responds with 503. */
  isUp: boolean;
  lifetimeMs: number;
  readonly close: () => void;
};

/**
 * Issues the keys as AWS does: AssumeRoleWithWebIdentity (IRSA), a container (EKS Pod Identity, ECS), and the instance
 * metadata with a session token (IMDSv2). The formats of requests and responses come from the AWS documentation. No AWS
 * account was used.
 */
export async function startIdentityService(keysOf: () => Promise<TemporaryKeys>): Promise<IdentityService> {
  let issued = 0;
  const server = createServer((request, response) => void answer(request, response));
  const state = { isUp: true, lifetimeMs };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { url: path = '', headers, method } = request;
    const form = new URLSearchParams(await text(request));
    if (!state.isUp) return void response.writeHead(503).end();
    const expiration = new Date(Date.now() + state.lifetimeMs).toISOString();
    const json = async (): Promise<string> => {
      const { accessKeyId, secretAccessKey, sessionToken } = await keysOf();
      issued += 1;
      return JSON.stringify({
        Code: 'Success',
        Type: 'AWS-HMAC',
        AccessKeyId: accessKeyId,
        SecretAccessKey: secretAccessKey,
        Token: sessionToken,
        Expiration: expiration,
      });
    };
    const metadata = '/latest/meta-data/iam/security-credentials/';
    if (path === '/container' && headers.authorization === containerToken) response.end(await json());
    else if (method === 'PUT' && path === '/latest/api/token') response.end('session');
    else if (path === metadata && headers['x-aws-ec2-metadata-token'] === 'session') response.end('inlet');
    else if (path === `${metadata}inlet`) response.end(await json());
    else if (
      form.get('Action') === 'AssumeRoleWithWebIdentity' &&
      form.get('WebIdentityToken') === webIdentityToken &&
      form.get('RoleArn')?.startsWith('arn:aws:iam::')
    ) {
      const { accessKeyId, secretAccessKey, sessionToken } = await keysOf();
      issued += 1;
      response.setHeader('content-type', 'text/xml');
      response.end(`<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
        <AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>${accessKeyId}</AccessKeyId>
        <SecretAccessKey>${secretAccessKey}</SecretAccessKey><SessionToken>${sessionToken}</SessionToken>
        <Expiration>${expiration}</Expiration></Credentials></AssumeRoleWithWebIdentityResult>
        </AssumeRoleWithWebIdentityResponse>`);
    } else response.writeHead(403).end();
  };
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return Object.assign(state, {
    url: `http://127.0.0.1:${address.port}`,
    issued: () => issued,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  });
}
