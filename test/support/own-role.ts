import { createServer, request as send, type IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { sendSigned, type CephAdmin } from '../../src/adapters/ceph/signed-request.ts';
import { Secret } from '../../src/domain/secret.ts';
import { readAddresses } from '../../stack/addresses.ts';
import { rememberSecrets } from './known-secrets.ts';
import type { OwnBucket } from './own-bucket.ts';

/**
 * Creates a role, as a partner does in its own account, and lets one user assume it. By default, the role can only read
 * the bucket.
 */
export async function createOwnRole(
  own: OwnBucket,
  trusted: OwnBucket,
  { actions, bucket } = { actions: ['s3:ListBucket', 's3:GetObject'], bucket: own.bucket },
): Promise<string> {
  const { s3 } = readAddresses();
  const { endpoint, region } = s3;
  const admin = {
    endpoint,
    region,
    accessKeyId: s3.adminAccessKeyId,
    secretAccessKey: new Secret(s3.adminSecretAccessKey),
  };
  const owner: CephAdmin = {
    endpoint,
    region,
    accessKeyId: own.credentials.accessKeyId,
    secretAccessKey: new Secret(own.credentials.secretAccessKey),
  };
  const name = `reader-of-${own.bucket}`;
  const ask = async (by: CephAdmin, method: 'PUT' | 'POST', path: string, query: Record<string, string>) => {
    const { status } = await sendSigned(by, { method, path, query });
    if (status !== 200) throw new Error(`the storage rejected ${query['Action'] ?? path}: HTTP ${status}`);
  };
  await ask(admin, 'PUT', '/admin/user', { uid: own.bucket, caps: '', 'user-caps': 'roles=*', format: 'json' });
  await ask(owner, 'POST', '/', {
    Action: 'CreateRole',
    RoleName: name,
    Path: '/',
    AssumeRolePolicyDocument: policy({
      Principal: { AWS: [`arn:aws:iam:::user/${trusted.bucket}`] },
      Action: ['sts:AssumeRole'],
    }),
  });
  await ask(owner, 'POST', '/', {
    Action: 'PutRolePolicy',
    RoleName: name,
    PolicyName: 'read',
    PolicyDocument: policy({
      Action: actions,
      Resource: [`arn:aws:s3:::${bucket}`, `arn:aws:s3:::${bucket}/*`],
    }),
  });
  return `arn:aws:iam:::role/${name}`;
}

function policy(statement: object): string {
  return JSON.stringify({ Version: '2012-10-17', Statement: [{ Effect: 'Allow', ...statement }] });
}

export type ExternalIdCheck = {
  readonly endpoint: string;
  /** The ExternalId that each role's trust policy requires. A role that is not listed requires none. */
  readonly conditions: Map<string, string>;
  /** The number of AssumeRole requests per role. */
  readonly roleRequests: () => number;
  /** Every issued key, secret, and token. */
  readonly given: string[];
  readonly close: () => void;
};

const denied = `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type>
<Code>AccessDenied</Code><Message>not authorized to perform: sts:AssumeRole</Message></Error></ErrorResponse>`;

/**
 * Ceph does not support conditions on sts:ExternalId. This proxy enforces them and forwards all other requests
 * unchanged.
 */
export async function startExternalIdCheck(): Promise<ExternalIdCheck> {
  const target = new URL(readAddresses().s3.endpoint);
  const conditions = new Map<string, string>();
  const given: string[] = [];
  let roleRequests = 0;
  const server = createServer((request, response) => {
    void (async () => {
      const body = await buffer(request);
      const form = new URLSearchParams(request.method === 'POST' ? body.toString() : '');
      const isRole = form.get('Action') === 'AssumeRole';
      const condition = conditions.get(form.get('RoleArn') ?? '');
      if (isRole) roleRequests += 1;
      if (isRole && condition !== undefined && form.get('ExternalId') !== condition) {
        response.writeHead(403, { 'content-type': 'text/xml' }).end(denied);
        return;
      }
      const { method, url: path, headers } = request;
      const answer = await new Promise<IncomingMessage>((resolve, reject) => {
        const passed = send({ hostname: target.hostname, port: target.port, method, path, headers }, resolve);
        passed.once('error', reject).end(body);
      });
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      if (!isRole) {
        answer.pipe(response);
        return;
      }
      const text = (await buffer(answer)).toString();
      const secrets = ['AccessKeyId', 'SecretAccessKey', 'SessionToken'].flatMap(
        (name) => new RegExp(`<${name}>([^<]+)</${name}>`).exec(text)?.[1] ?? [],
      );
      given.push(...secrets);
      rememberSecrets(...secrets);
      response.end(text);
    })();
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return {
    endpoint: `http://127.0.0.1:${address.port}`,
    conditions,
    roleRequests: () => roleRequests,
    given,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
